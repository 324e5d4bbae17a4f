/** A store that is away or refuses: nobody's fault who asks, and worth asking again. `message` is for the log. */
export class StoreError extends Error {
  constructor(cause: unknown) {
    super(`the store failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "StoreError";
  }
}

/** A record whose content the store rejects, however often it is given: at least one of those that it was given together. */
export class RejectedRecordError extends StoreError {
  constructor(cause: unknown) {
    super(cause);
    this.name = "RejectedRecordError";
  }
}
