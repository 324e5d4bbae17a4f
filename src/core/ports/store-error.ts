/** A store that is away or refuses: nobody's fault who asks, and worth asking again. `message` is for the log. */
export class StoreError extends Error {
  constructor(cause: unknown) {
    super(`the store failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "StoreError";
  }
}
