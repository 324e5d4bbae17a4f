/** Names a request that may be repeated: who sent it, and what they called it. */
export interface IdempotencyName {
  readonly scope: string;
  readonly name: string;
}

/** What a repeatable request was answered with. */
export interface StoredResponse {
  /** HTTP status. */
  readonly status: number;
  /** JSON; null where it may not be kept. */
  readonly body: string | null;
}

/** Whether a request is the first of its name. */
export type IdempotencyClaim =
  | { readonly kind: "first" }
  /** `answer` is null while the first one runs, and where its process died under it. */
  | { readonly kind: "repeated"; readonly fingerprint: string; readonly answer: StoredResponse | null }
  /** The scope has as many names as it may have. */
  | { readonly kind: "full" };

/** Where the answers of repeatable requests are kept for a while. */
export interface StoredResponseStore {
  /** Takes a name unless it is taken; forgets all that were taken before `expiredAt`. */
  claimKey(
    request: IdempotencyName,
    claim: {
      readonly fingerprint: string;
      readonly at: number;
      readonly expiredAt: number;
      readonly maxNames: number;
    },
  ): Promise<IdempotencyClaim>;
  keepAnswer(request: IdempotencyName, answer: StoredResponse): Promise<void>;
  /** Gives a name back: its request has changed nothing. */
  releaseName(request: IdempotencyName): Promise<void>;
}
