import type { CandidateReason, FilterName, SkipReason } from "./plan-entry.ts";

/** The meaning of each reason for a candidate's position. */
export const POSITIONS: Readonly<Record<CandidateReason, string>> = {
  only: "it is the only candidate",
  order: "listed in `provider.order`",
  probe: "its circuit breaker is half open and this request probes it",
  last_resort: "its circuit breaker is open, but too few other candidates are available",
  warm_cache: "its prompt cache holds the conversation (cache affinity)",
  lossy: "ranked lower because it would not get all of the request as it is",
  degraded: "ranked lower because of recent failures",
  price: "ranked by price",
  latency: "ranked by time to first token, as `provider.sort` asks",
  throughput: "ranked by tokens per second, as `provider.sort` asks",
};

/** The meaning of each reason to leave a deployment out. */
export const EXCLUSIONS: Readonly<Record<SkipReason | FilterName, string>> = {
  policy: "denied by a policy",
  data_collection: "not known to exclude request data from training",
  zero_retention: "not known to have zero data retention",
  provider_rules: "excluded by `provider.only`, `ignore` or `own_keys_only`",
  lacks_feature: "lacks a feature that the request requires",
  lacks_parameter: "not known to support a parameter, and `require_parameters` is set",
  max_price: "costs more than `max_price`",
  window: "the prompt exceeds its context window",
  own_key_unusable: "a BYOK key of the account cannot be used, and platform keys do not replace it",
  circuit_open: "its circuit breaker is open after recent failures",
  key_refused: "the provider rejected the key",
  out_of_credit: "the key has no credit left at the provider",
  rate_limited: "the provider rate limits requests",
  overloaded: "the provider is overloaded",
  drained: "the operator has taken it out of routing",
  free_limit: "the account has used its hourly requests to free models",
  model_limit: "the limit of its model is used up, and another model may answer",
  no_fallbacks: "`provider.allow_fallbacks` is false",
};
