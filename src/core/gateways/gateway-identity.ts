import { StoreError } from "../../base/failures/store-error.ts";

/** Identifies which gateway writes to a shared store, and at which of its starts. */
export interface GatewayIdentity {
  /** Belongs to the data directory, and does not change with a start. */
  readonly id: string;
  /** Increases with each start and each takeover. The store rejects writes under an older epoch. */
  readonly epoch: number;
}

/**
 * The store rejects what a gateway writes, because another process has registered under its id or has taken its journal over. The
 * process must end: it may hold money that is not its own any more. A start after that is a new registration.
 */
export class GatewayReplacedError extends StoreError {
  constructor({ id, epoch }: GatewayIdentity) {
    super(
      new Error(
        `another process has registered as gateway ${id} or has taken over its journal since its start (epoch ${epoch})`,
      ),
    );
    this.name = "GatewayReplacedError";
  }
}
