/** The part of a request's `provider` that decides who may answer. */
export interface ProviderPreferences {
  /** Slugs to try first. */
  readonly order: readonly string[];
  /** Null: any. */
  readonly only: readonly string[] | null;
  readonly ignore: readonly string[];
  /** Whether providers beyond `order` may answer. */
  readonly allowFallbacks: boolean;
}
