import type { ProviderSort } from "../../../wire/conversation/preferences.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";

/** Why a candidate has its position in the plan: the first of these that applies. */
export type CandidateReason =
  /** There is no other candidate. */
  | "only"
  /** `provider.order` names it. */
  | "order"
  /** Its circuit is half open, and this request is the probe. */
  | "probe"
  /** Its circuit is open, or it is overloaded, and there are too few other candidates. */
  | "last_resort"
  /** The conversation's prompt is in its prompt cache. */
  | "warm_cache"
  /** A part of the request would be left out or changed for it. Deployments that get the whole request come first. */
  | "lossy"
  /** It fails often, which lowers its rank. */
  | "degraded"
  /** The order of all other candidates. */
  | ProviderSort;

/** Why a deployment or key that may answer is not called for this request. */
export type SkipReason =
  | "circuit_open"
  | "key_refused"
  | "out_of_credit"
  | "rate_limited"
  | "overloaded"
  /** An operator has taken it out of routing. */
  | "drained"
  /** The account has used up its limit on free models. */
  | "free_limit"
  /** Its model's limit (`limits.models`, `limits.per_model`) is used up, and another model may answer. */
  | "model_limit"
  /** `provider.allow_fallbacks` is false. */
  | "no_fallbacks";

/** Why a deployment is filtered out, in the order in which the filters are applied. */
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

/** An entry of a plan in a generation record. Candidates come first, in order; then what was skipped or filtered out. */
export interface PlanEntry {
  /** The provider's slug. */
  readonly provider: string;
  /** The model's catalog id. */
  readonly model: string;
  /**
   * The key of the candidate, or the key that is skipped, as in the records of attempts. Absent for the only platform key of a provider, if all
   * of its keys are skipped, and in records of version 0.2 and earlier.
   */
  readonly key?: string;
  /** Whether it was a candidate. */
  readonly isCandidate: boolean;
  readonly why: CandidateReason | SkipReason | FilterName;
  /** The time at which its drain ends by itself, in milliseconds since the epoch; absent if that is not known, and for other reasons. */
  readonly until?: number;
  /** The format in which it was called; absent if it was not called, or its endpoint has only one format. */
  readonly format?: ProviderFormat;
}
