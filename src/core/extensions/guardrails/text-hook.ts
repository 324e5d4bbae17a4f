/** A service of the operator that checks texts. */
export interface TextHook {
  /** Sends texts to the service. Never rejects, and takes no longer than its configured time. */
  check(question: HookQuestion): Promise<HookVerdict>;
}

/** The texts that a service checks. */
export interface HookQuestion {
  readonly on: "request" | "answer";
  readonly texts: readonly string[];
  readonly about: HookSubject;
}

/** The request that texts belong to. */
export interface HookSubject {
  readonly generationId: string;
  readonly api: string;
  /** The requested model or tier. */
  readonly model: string;
  /** Null for requests without a key. */
  readonly accountId: string | null;
  readonly keyId: string | null;
}

export type HookVerdict =
  | { readonly kind: "allow" }
  | { readonly kind: "block"; readonly reason: string | null }
  /** The texts to use instead, by index. */
  | { readonly kind: "mask"; readonly texts: ReadonlyMap<number, string> }
  /** The service did not answer, or not as it should. */
  | { readonly kind: "unavailable" };

/** The maximum length of the texts in one call. Characters. */
export const MAX_HOOK_CHARS = 1024 * 1024;
