/** The store is unavailable or has failed; the request may be retried. `message` is for the log. */
export class StoreError extends Error {
  constructor(cause: unknown) {
    super(`the store failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "StoreError";
  }
}

/** The store rejects the content of at least one record of a group. A retry is useless. */
export class RejectedRecordError extends StoreError {
  constructor(cause: unknown) {
    super(cause);
    this.name = "RejectedRecordError";
  }
}
