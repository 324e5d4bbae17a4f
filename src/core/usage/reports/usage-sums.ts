import { ERROR_STATUS, type ErrorCode } from "../../../base/failures/errors.ts";
import { DAY_MS, dayOf, HOUR_MS } from "../../../base/time/time.ts";
import { priceCacheSaving } from "../../catalog/prices/price-usage.ts";
import { type AdvisorRecord, OUTCOMES, outcomeOf, type UsageRecord } from "../records/records.ts";
import { SumMap } from "./sum-map.ts";
import type { UsageOutcome, UsageSumKey } from "./usage-sum-key.ts";

/**
 * The maximum difference between the time in a generation's id and the time of its request, which decides the day for which it counts.
 * Milliseconds.
 */
export const ID_MARGIN_MS = HOUR_MS;

/** The usage and cost of generations. Costs are nanodollars. */
export interface UsageCounters {
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
  cost: number;
  /** List prices. */
  upstreamCost: number;
  /** The part of `upstreamCost` that providers bill to the accounts themselves, because BYOK keys were used. */
  byokUpstreamCost: number;
  /** The saving of vendors' prompt caches; negative if writing them cost more. */
  cacheSaved: number;
  /** What the answers had cost that were returned again without asking a provider. */
  answersSaved: number;
}

/** The sum of generations that have the same dimensions. */
export interface HourSum {
  readonly key: UsageSumKey;
  readonly counters: UsageCounters;
}

/**
 * Sums ended generations by the hour in which their requests arrived. The usage of an advisor counts for the advisor's model, and the
 * request for the generation's own model.
 */
export function sumByHour(ended: readonly UsageRecord[]): readonly HourSum[] {
  const sums: HourSum[] = [];
  const known = new SumMap<HourSum>();
  const countersOf = (key: UsageSumKey): UsageCounters => {
    const found = known.get(key);
    if (found !== undefined) return found.counters;
    const sum = { key, counters: createCounters() };
    known.add(sum);
    sums.push(sum);
    return sum.counters;
  };
  for (const record of ended) {
    const key = sumKeyOf(record);
    const own = countersOf(key);
    count(own, record, record);
    for (const advisor of record.advisors ?? []) {
      count(countersOf({ ...key, model: advisor.modelId ?? advisor.model }), advisor, record);
      // The record's cost includes the advisor's.
      own.cost -= advisor.costNanodollars;
      own.upstreamCost -= advisor.upstreamCostNanodollars;
      if (record.isByok) own.byokUpstreamCost -= advisor.upstreamCostNanodollars;
    }
    own.requests += 1;
    own.cacheSaved += priceCacheSaving(record.prices, record);
    own.answersSaved += record.replaySavedNanodollars ?? 0;
    if (record.outcome === "failed" || record.outcome === "interrupted") own.errors += 1;
  }
  return sums;
}

/** Returns counters of 0. */
function createCounters(): UsageCounters {
  return {
    requests: 0,
    errors: 0,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    cost: 0,
    upstreamCost: 0,
    byokUpstreamCost: 0,
    cacheSaved: 0,
    answersSaved: 0,
  };
}

/** Returns the dimensions of a record that has ended. Records of earlier versions may lack fields, which count as none. */
export function sumKeyOf(record: UsageRecord): UsageSumKey {
  return {
    day: dayOf(record.createdAt),
    hour: Math.floor((record.createdAt % DAY_MS) / HOUR_MS),
    accountId: record.accountId ?? "",
    keyId: record.keyId ?? "",
    userId: record.userId ?? "",
    model: record.model ?? record.requestedModel ?? "",
    provider: record.provider ?? "",
    outcome: usageOutcomeOf(record),
  };
}

/** Errors that this version does not know, as in records of another version, count as `internal`. */
function usageOutcomeOf(record: UsageRecord): UsageOutcome {
  const { error } = record;
  const outcome = outcomeOf(record);
  if (outcome !== "open" && outcome !== "failed" && OUTCOMES.includes(outcome)) return outcome;
  return error !== null && Object.hasOwn(ERROR_STATUS, error) ? (error as ErrorCode) : "internal";
}

/**
 * Returns the operator's margin of a sum, as `marginOf` does for a record: what accounts paid, less what the providers are paid.
 * Nanodollars.
 */
export function marginOfSum({ cost, upstreamCost, byokUpstreamCost }: UsageCounters): number {
  return cost - (upstreamCost - byokUpstreamCost);
}

/** Adds usage to counters. `isByok`: of the generation that it belongs to. */
function count(
  counters: UsageCounters,
  record: UsageRecord | AdvisorRecord,
  { isByok }: Pick<UsageRecord, "isByok">,
): void {
  counters.promptTokens += record.promptTokens ?? 0;
  counters.completionTokens += record.completionTokens ?? 0;
  counters.cachedTokens += record.cachedTokens ?? 0;
  counters.cacheWriteTokens += record.cacheWriteTokens ?? 0;
  counters.reasoningTokens += ("reasoningTokens" in record ? record.reasoningTokens : null) ?? 0;
  counters.cost += record.costNanodollars ?? 0;
  counters.upstreamCost += record.upstreamCostNanodollars ?? 0;
  if (isByok) counters.byokUpstreamCost += record.upstreamCostNanodollars ?? 0;
}
