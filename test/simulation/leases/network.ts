import { StoreError } from "../../../src/base/failures/store-error.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import type { Scheduler, SimulatedProcess } from "./scheduler.ts";

/** When a gateway gives up a call. Milliseconds. */
const DEADLINE_MS = 500;

/**
 * The way from gateways to the database: messages take their time, are lost before or after they were carried out, or arrive after
 * the gateway has given them up.
 */
export class SimulatedNetwork {
  /** The database does not answer. */
  isDown = false;
  /** Messages are lost and delayed. */
  isFaulty = true;
  readonly seen: Record<string, number> = {};

  constructor(
    private readonly scheduler: Scheduler,
    private readonly random: SeededRandom,
  ) {}

  /** Calls the database for a process. Rejects with a `StoreError` if there is no answer in time. */
  call<T>(process: SimulatedProcess, work: () => T | Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const giveUp = process.clock.after(DEADLINE_MS, () => reject(new StoreError("no answer in time")));
    const fate = this.chooseFate();
    if (fate !== "request lost")
      this.scheduler.at(this.delay(fate === "late"), () => {
        if (this.isDown) return;
        Promise.resolve()
          .then(work)
          .then(
            (result) => this.reply(process, fate, () => resolve(result)),
            (error) => this.reply(process, fate, () => reject(error)),
          )
          .catch(() => {});
      });
    return promise.finally(() => giveUp.cancel());
  }

  private reply(process: SimulatedProcess, fate: string, answer: () => void): void {
    if (fate === "reply lost") return;
    this.scheduler.at(this.delay(false), () => process.deliver(answer));
  }

  private chooseFate(): string {
    if (!this.isFaulty) return "answered";
    const share = this.random.next();
    const fate =
      share < 0.03 ? "request lost" : share < 0.06 ? "reply lost" : share < 0.1 ? "late" : "answered";
    this.seen[fate] = (this.seen[fate] ?? 0) + 1;
    return fate;
  }

  private delay(isLate: boolean): number {
    return isLate ? DEADLINE_MS + this.random.below(5_000) : this.random.below(this.isFaulty ? 60 : 3);
  }
}
