import { matchPattern } from "../../base/text/match-pattern.ts";
import { isLimit, type KeyRateLimit, type RateLimit } from "../accounts/fields/rate-limit.ts";
import type { AccountPrincipal, InferencePrincipal } from "../accounts/records/principal.ts";
import { type LimitScope, NO_LIMIT } from "./rate-limiter.ts";

/** The limits of the configuration, which apply to every caller. */
interface ConfiguredLimits {
  readonly key: RateLimit;
  readonly account: RateLimit;
  readonly model: RateLimit;
  /** By pattern of the model's id. The first pattern that matches replaces `model`. */
  readonly models: readonly (readonly [pattern: string, limit: RateLimit])[];
  /** Requests without an API key per hour and client address. */
  readonly anonymousRequestsPerHour: number;
}

/** Lists the scopes with limits for which a caller's request for a model counts. `modelId` is null if it is not known yet. */
export type ListLimits = (principal: InferencePrincipal, modelId: string | null) => readonly LimitScope[];

/**
 * Returns a function that lists the configured limits and the own limits of keys, teams and accounts. A principal's scopes are always the
 * same objects.
 */
export function createLimitList(configured: ConfiguredLimits): ListLimits {
  const { model, models, anonymousRequestsPerHour } = configured;
  const hasModelLimits = models.length > 0 || isLimit(model);
  const known = new WeakMap<AccountPrincipal, readonly LimitScope[]>();
  const scopesOf = (principal: AccountPrincipal): readonly LimitScope[] => {
    let scopes = known.get(principal);
    if (scopes === undefined) {
      scopes = listScopes(configured, principal);
      known.set(principal, scopes);
    }
    return scopes;
  };
  return (principal, modelId) => {
    const own =
      principal.kind === "key"
        ? scopesOf(principal)
        : [anonymousScope(principal.addressHash, anonymousRequestsPerHour)];
    if (modelId === null || !hasModelLimits) return own;
    const limit = modelLimitOf(configured, modelId);
    return isLimit(limit) ? [...own, { source: "gateway", id: modelId, limit }] : own;
  };
}

function listScopes(
  configured: ConfiguredLimits,
  { key, team, account }: AccountPrincipal,
): readonly LimitScope[] {
  const all: readonly LimitScope[] = [
    { source: "key", id: key.id, accountId: account.id, limit: keyLimitOf(configured.key, key.rateLimit) },
    ...(team?.rateLimit == null
      ? []
      : [{ source: "team" as const, id: team.id, accountId: account.id, limit: team.rateLimit }]),
    { source: "account", id: account.id, limit: replaceLimit(configured.account, account.rateLimit) },
  ];
  return all.filter(({ limit }) => isLimit(limit));
}

/** Returns the scope of a client address that sends requests without an API key. */
function anonymousScope(addressHash: string, requestsPerHour: number): LimitScope {
  return { source: "anonymous", id: addressHash, limit: NO_LIMIT, requestsPerHour };
}

/** Returns the limit of a key. A limit that the operator set replaces the configured one; a limit that the account set can only tighten it. */
function keyLimitOf(configured: RateLimit, own: KeyRateLimit | null): RateLimit {
  return own?.setBy === "account" ? tightenLimit(configured, own) : replaceLimit(configured, own);
}

function replaceLimit(configured: RateLimit, own: RateLimit | null): RateLimit {
  if (own === null) return configured;
  return {
    requestsPerMinute: own.requestsPerMinute ?? configured.requestsPerMinute,
    tokensPerMinute: own.tokensPerMinute ?? configured.tokensPerMinute,
    concurrent: own.concurrent ?? configured.concurrent,
  };
}

function tightenLimit(configured: RateLimit, own: RateLimit): RateLimit {
  return {
    requestsPerMinute: lower(configured.requestsPerMinute, own.requestsPerMinute),
    tokensPerMinute: lower(configured.tokensPerMinute, own.tokensPerMinute),
    concurrent: lower(configured.concurrent, own.concurrent),
  };
}

/** Returns the lower limit; null is no limit. */
function lower(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other);
}

function modelLimitOf({ model, models }: ConfiguredLimits, modelId: string): RateLimit {
  for (const [pattern, limit] of models) if (matchPattern(pattern, modelId)) return limit;
  return model;
}
