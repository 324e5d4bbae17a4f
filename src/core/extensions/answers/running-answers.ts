import type { StoredAnswer } from "./answer-store.ts";

/** The answers that are being produced in this process, by name, for others who want the same answer. */
export class RunningAnswers {
  private readonly running = new Map<string, PromiseWithResolvers<StoredAnswer | null>>();

  /** Returns the answer that is being produced, null once it turns out that it cannot be given again; null at once if none is. */
  find(name: string): Promise<StoredAnswer | null> | null {
    return this.running.get(name)?.promise ?? null;
  }

  /** Announces an answer. It must be ended, whatever becomes of it. */
  begin(name: string): void {
    this.running.set(name, Promise.withResolvers());
  }

  /** Ends what `begin` announced. */
  end(name: string, answer: StoredAnswer | null): void {
    this.running.get(name)?.resolve(answer);
    this.running.delete(name);
  }
}
