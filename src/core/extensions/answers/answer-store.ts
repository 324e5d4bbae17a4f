/** A complete answer that can be given again. */
export interface StoredAnswer {
  /** The generation that produced it. */
  readonly generationId: string;
  /** In the format of its client API: JSON, or server-sent events. */
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** What the answer cost, which a repetition of it saves: `costOfAnswer`. Absent in answers that an earlier version has kept. */
  readonly costNanodollars?: number;
}

/**
 * Keeps answers for a time. Losing one costs another call of a provider, never the request: implementations may evict answers, must
 * bound their own waits and memory, and keep answers encrypted.
 */
export interface AnswerStore {
  /** Returns the answer that is stored under a name; null if there is none, or if it has expired. */
  findAnswer(name: string): Promise<StoredAnswer | null>;
  /** Keeps an answer for `ttlMs` milliseconds instead of an earlier one of the same name. */
  keepAnswer(name: string, answer: StoredAnswer, ttlMs: number): Promise<void>;
}
