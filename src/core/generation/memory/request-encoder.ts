import type { EncodedJob, EncodeJob } from "../../../wire/client-apis/request/inference-request.ts";

/** Encodes large requests off the event loop. */
export interface RequestEncoder {
  /**
   * Encodes a request when its turn comes; scopes take turns. Rejects with the `GatewayError` of the encoding, or with `unavailable` if too
   * many requests wait, encoding took too long, or the thread has failed.
   */
  encode(request: EncodeOrder): Promise<EncodedJob>;
  close(): void;
}

/** A request that waits to be encoded. */
interface EncodeOrder {
  /** The caller's scope, see `scopeOf`; users are hashed within it. */
  readonly scope: string;
  /** Called when its turn comes; returns false if the result is no longer needed. */
  readonly isWanted: () => boolean;
  /** Called when its turn comes; returns the work to do. */
  readonly describe: () => EncodeJob;
}
