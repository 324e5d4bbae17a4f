import type { Clock } from "../../base/time/clock.ts";

/** How long an answer may take by default. Milliseconds. */
const ANSWER_MS = 2_000;

/** Questions to another process, which are answered by messages with their numbers. */
export class Questions<Answer> {
  private readonly open = new Map<number, (answer: Answer | null) => void>();
  private asked = 0;

  constructor(
    private readonly clock: Pick<Clock, "after">,
    private readonly answerMs = ANSWER_MS,
  ) {}

  /** Asks with a new number. Resolves to the answer, or to null if none arrives in time. */
  async ask(send: (id: number) => void): Promise<Answer | null> {
    const id = ++this.asked;
    const { promise, resolve } = Promise.withResolvers<Answer | null>();
    this.open.set(id, resolve);
    const timer = this.clock.after(this.answerMs, () => resolve(null));
    try {
      send(id);
      return await promise;
    } catch {
      // The other process has ended.
      return null;
    } finally {
      timer.cancel();
      this.open.delete(id);
    }
  }

  /** Passes an answer on. An answer that comes too late is ignored. */
  answer(id: number, answer: Answer): void {
    this.open.get(id)?.(answer);
  }
}
