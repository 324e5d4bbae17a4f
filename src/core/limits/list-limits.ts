import { matchPattern } from "../../base/match-pattern.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";
import { isLimit, type KeyRateLimit, type RateLimit } from "../accounts/rate-limit.ts";
import { type LimitScope, NO_LIMIT } from "./rate-limiter.ts";

/** The limits of the configuration, which apply to every caller. */
export interface ConfiguredLimits {
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

/** Returns a function that lists the configured limits and the own limits of keys and accounts. */
export function createLimitList(configured: ConfiguredLimits): ListLimits {
  const { key, account, model, models, anonymousRequestsPerHour } = configured;
  const isUnlimited = models.length === 0 && ![key, account, model].some(isLimit);
  return (principal, modelId) => {
    // The fast path of gateways without limits.
    if (isUnlimited && principal.kind === "key" && !hasOwnLimit(principal)) return NO_SCOPES;
    const scopes: LimitScope[] = [];
    const add = (source: LimitScope["source"], id: string, limit: RateLimit): void => {
      if (isLimit(limit)) scopes.push({ source, id, limit });
    };
    if (principal.kind === "key") {
      add("key", principal.key.id, keyLimitOf(key, principal.key.rateLimit));
      add("account", principal.account.id, replaceLimit(account, principal.account.rateLimit));
    } else scopes.push(anonymousScope(principal.addressHash, anonymousRequestsPerHour));
    if (modelId !== null) add("gateway", modelId, modelLimitOf(configured, modelId));
    return scopes;
  };
}

const NO_SCOPES: readonly LimitScope[] = [];

/** Returns the scope of a client address that sends requests without an API key. */
function anonymousScope(addressHash: string, requestsPerHour: number): LimitScope {
  return { source: "anonymous", id: addressHash, limit: NO_LIMIT, requestsPerHour };
}

function hasOwnLimit({ key, account }: Extract<InferencePrincipal, { kind: "key" }>): boolean {
  return key.rateLimit !== null || account.rateLimit !== null;
}

/** Returns the limit of a key. One that the operator set replaces the configured one; one that its account set can only tighten it. */
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
