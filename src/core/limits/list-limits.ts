import { matchPattern } from "../../base/match-pattern.ts";
import { isLimit, type RateLimit } from "../accounts/rate-limit.ts";
import type { KeyRateLimit, Principal } from "../accounts/records.ts";
import type { LimitScope } from "./rate-limits.ts";

/** Limits as they are configured, for everybody. */
export interface ConfiguredLimits {
  readonly key: RateLimit;
  readonly account: RateLimit;
  readonly model: RateLimit;
  /** By pattern of the model's id: the first that matches stands in place of `model`. */
  readonly models: readonly (readonly [pattern: string, limit: RateLimit])[];
}

/** Whom a caller's request for a model is counted for: only who is limited. A model that is not known yet is null. */
export type ListLimits = (principal: Principal, modelId: string | null) => readonly LimitScope[];

/** Lists limits as configured, with those that keys and accounts have of their own. */
export function createLimitList(configured: ConfiguredLimits): ListLimits {
  const { key, account, model, models } = configured;
  const limitsNobody = models.length === 0 && ![key, account, model].some(isLimit);
  return (principal, modelId) => {
    // The hot path where nobody is limited.
    if (limitsNobody && !hasOwnLimit(principal)) return NOBODY;
    const scopes: LimitScope[] = [];
    const add = (source: LimitScope["source"], id: string, limit: RateLimit): void => {
      if (isLimit(limit)) scopes.push({ source, id, limit });
    };
    if (principal.kind === "key") {
      add("key", principal.key.id, keyLimitOf(key, principal.key.rateLimit));
      add("account", principal.account.id, replaceLimit(account, principal.account.rateLimit));
    }
    if (modelId !== null) add("gateway", modelId, modelLimitOf(configured, modelId));
    return scopes;
  };
}

const NOBODY: readonly LimitScope[] = [];

function hasOwnLimit(principal: Principal): boolean {
  return (
    principal.kind === "key" && (principal.key.rateLimit !== null || principal.account.rateLimit !== null)
  );
}

/** The operator's word stands in place of what is configured; an account's own can only tighten it. */
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

/** Null is no limit. */
function lower(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other);
}

function modelLimitOf({ model, models }: ConfiguredLimits, modelId: string): RateLimit {
  for (const [pattern, limit] of models) if (matchPattern(pattern, modelId)) return limit;
  return model;
}
