import type { StoredAnswer } from "./answer-store.ts";

/** The end of an answer: the answer itself, that it cannot be stored, or that the client that asked for it has left. */
export type EndedAnswer = StoredAnswer | "not kept" | "given up";

/** The answers that are being produced in this process, by name, for other requests that want the same answer. */
export class RunningAnswers {
  private readonly running = new Map<string, PromiseWithResolvers<EndedAnswer>>();

  /** Returns the end of the answer that is being produced; null if there is none. */
  find(name: string): Promise<EndedAnswer> | null {
    return this.running.get(name)?.promise ?? null;
  }

  /** Announces an answer. It must be ended in any case. */
  begin(name: string): void {
    this.running.set(name, Promise.withResolvers());
  }

  /** Ends what `begin` announced. */
  end(name: string, answer: EndedAnswer): void {
    this.running.get(name)?.resolve(answer);
    this.running.delete(name);
  }
}
