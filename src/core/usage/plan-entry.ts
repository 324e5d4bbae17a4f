import type { FormatName } from "../../wire/conversation/format-name.ts";
import type { ProviderSort } from "../../wire/conversation/preferences.ts";

/** Why a candidate stands where it does: the first of these that holds. */
export type CandidateReason =
  /** There is nobody else. */
  | "only"
  /** `provider.order` names it. */
  | "order"
  /** Its circuit is half open: this request tries it. */
  | "probe"
  /** Its circuit is open, or it is overloaded, and there are too few others. */
  | "last_resort"
  /** The conversation's prompt is in its cache. */
  | "warm_cache"
  /** It fails often, which counts against it. */
  | "degraded"
  /** What the others are ordered by. */
  | ProviderSort;

/** Why an deployment, or a key, that may answer is not asked this time. */
export type SkipReason =
  | "circuit_open"
  | "key_refused"
  | "out_of_credit"
  | "rate_limited"
  | "overloaded"
  /** The account has used its requests to free models up. */
  | "free_limit"
  /** `provider.allow_fallbacks` is false. */
  | "no_fallbacks";

/** Why an deployment may not answer a request: in the order in which it is looked for. */
export type FilterName =
  | "policy"
  | "data_collection"
  | "zero_retention"
  | "provider_rules"
  | "lacks_feature"
  | "lacks_parameter"
  | "max_price"
  | "window"
  | "own_key_unusable";

/** One line of a plan as records keep it: who was to be asked, in turn, and then who was not, and why. */
export interface PlanEntry {
  /** Slug. */
  readonly provider: string;
  /** The model's catalog id. */
  readonly model: string;
  /** Whether it was a candidate. */
  readonly isCandidate: boolean;
  readonly why: CandidateReason | SkipReason | FilterName;
  /** The format that it was asked in, where its endpoint has several; absent until it was. */
  readonly format?: FormatName;
}
