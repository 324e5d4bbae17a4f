import type { Clock, Timer } from "../../base/time/clock.ts";

/**
 * A call without a result after this time counts as failed. It continues, and its result still counts. Time is measured in periods, because
 * results that arrived while the process was suspended are read only after the timers have run. Milliseconds.
 */
const LATE_MS = 2_000;

/** The calls of a poll. */
interface PollOptions {
  readonly clock: Clock;
  readonly periodMs: number;
  readonly call: () => Promise<void>;
  /** Called after each call, with the time when it began. Milliseconds since the epoch. */
  readonly onSuccess: (beganAt: number) => void;
  /** Called after each failed call, and in each period for a late one. */
  readonly onFailure: (error: unknown) => void;
}

/** Calls something at intervals, and never again before the last call has ended. */
export class Poll implements Timer {
  private readonly timer: Timer;
  /** When the call in progress began; null if there is none. Milliseconds since the epoch. */
  private beganAt: number | null = null;
  /** The periods since then. */
  private periods = 0;
  private isWanted = false;

  constructor(private readonly options: PollOptions) {
    this.timer = options.clock.every(options.periodMs, () => this.tick());
  }

  /** Calls now, or once more after the call in progress. */
  callNow(): void {
    if (this.beganAt === null) this.begin();
    else this.isWanted = true;
  }

  cancel(): void {
    this.timer.cancel();
  }

  private tick(): void {
    if (this.beganAt === null) {
      this.begin();
      return;
    }
    this.periods += 1;
    const lateMs = this.periods * this.options.periodMs;
    if (lateMs >= LATE_MS) this.options.onFailure(new Error(`it has not answered for ${lateMs} ms`));
  }

  private begin(): void {
    const { clock, call, onSuccess, onFailure } = this.options;
    const beganAt = clock.now();
    this.beganAt = beganAt;
    this.periods = 0;
    this.isWanted = false;
    call()
      .then(() => onSuccess(beganAt), onFailure)
      .finally(() => {
        this.beganAt = null;
        if (this.isWanted) this.begin();
      });
  }
}
