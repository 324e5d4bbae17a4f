import type { EncodedApart, EncodeJob } from "../../wire/client-apis/inference-request.ts";

/** Encodes large requests off the event loop. */
export interface RequestEncoder {
  /**
   * Encodes a request once its turn has come; callers of different scopes take turns.
   * Rejects with a `GatewayError`: what encoding fails with, or `unavailable` where too many wait, it took too long, or
   * the encoder is out of order.
   */
  encode(request: EncodeOrder): Promise<EncodedApart>;
  close(): void;
}

/** A request that waits to be encoded. */
export interface EncodeOrder {
  /** Whose it is, see `scopeOf`: its user is hashed for them. */
  readonly scope: string;
  /** Asked when its turn has come; false: nobody waits for it any more. */
  readonly isWanted: () => boolean;
  /** Asked when its turn has come. */
  readonly describe: () => EncodeJob;
}
