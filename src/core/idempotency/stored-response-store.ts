/** Identifies a request that may be repeated. */
export interface IdempotencyKey {
  /** The id of the credentials. Names of different scopes are distinct. */
  readonly scope: string;
  /** The value of the `Idempotency-Key` header. */
  readonly name: string;
}

/** The response to a repeatable request. */
export interface StoredResponse {
  /** HTTP status. */
  readonly status: number;
  /** JSON; null if the body may not be stored. */
  readonly body: string | null;
}

/** The result of claiming an idempotency key. */
export type IdempotencyClaim =
  | { readonly kind: "first" }
  /** The key was claimed before. `answer` is null while the first request runs, and if its process ended during the request. */
  | { readonly kind: "repeated"; readonly fingerprint: string; readonly answer: StoredResponse | null }
  /** The scope has reached its maximum number of keys. */
  | { readonly kind: "full" };

/** Stores the responses to repeatable requests for a limited time. */
export interface StoredResponseStore {
  /** Claims a key unless it is claimed. Deletes all keys that were claimed before `expiredAt`. Times in milliseconds since the epoch. */
  claimKey(
    key: IdempotencyKey,
    claim: {
      readonly fingerprint: string;
      readonly at: number;
      readonly expiredAt: number;
      readonly maxNames: number;
    },
  ): Promise<IdempotencyClaim>;
  /** Returns whether a key is claimed, since `expiredAt` or later. */
  isClaimed(key: IdempotencyKey, expiredAt: number): Promise<boolean>;
  storeResponse(key: IdempotencyKey, response: StoredResponse): Promise<void>;
  /** Releases a key whose request has changed nothing. */
  releaseKey(key: IdempotencyKey): Promise<void>;
}
