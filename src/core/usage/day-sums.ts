import { dayOf, HOUR_MS } from "../../base/time.ts";
import type { AdvisorRecord, UsageRecord } from "./records.ts";

/** How far the time in a generation's id may be from that of its request, by which it is counted for a day. Milliseconds. */
export const ID_MARGIN_MS = HOUR_MS;

/** The dimensions by which generations are summed. An empty string means none. */
export interface DaySumKey {
  readonly day: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly userId: string;
  readonly model: string;
  readonly provider: string;
}

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
  upstreamCost: number;
}

/** The sum of generations that have the same dimensions. */
export interface DaySum {
  readonly key: DaySumKey;
  readonly counters: UsageCounters;
}

/**
 * Sums generations that have ended, by the day on which their requests arrived. The usage of an advisor counts for the advisor's
 * model, the request for the generation's own model.
 */
export function sumByDay(ended: readonly UsageRecord[]): readonly DaySum[] {
  const sums = new Map<string, DaySum>();
  for (const record of ended) {
    const own = countersOf(sums, keyOf(record));
    count(own, record);
    for (const advisor of record.advisors ?? []) {
      count(countersOf(sums, { ...keyOf(record), model: advisor.modelId ?? advisor.model }), advisor);
      // The record's cost includes the advisor's.
      own.cost -= advisor.costNanodollars;
      own.upstreamCost -= advisor.upstreamCostNanodollars;
    }
    own.requests += 1;
    if (record.outcome === "failed" || record.outcome === "interrupted") own.errors += 1;
  }
  return [...sums.values()];
}

function countersOf(sums: Map<string, DaySum>, key: DaySumKey): UsageCounters {
  const id = Object.values(key).join("\n");
  const sum = sums.get(id) ?? { key, counters: createCounters() };
  sums.set(id, sum);
  return sum.counters;
}

/** Returns counters of 0. */
export function createCounters(): UsageCounters {
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
  };
}

/** Returns the dimensions of a record. Records of earlier versions may lack fields, which count as none. */
function keyOf(record: UsageRecord): DaySumKey {
  return {
    day: dayOf(record.createdAt),
    accountId: record.accountId ?? "",
    keyId: record.keyId ?? "",
    userId: record.userId ?? "",
    model: record.model ?? record.requestedModel ?? "",
    provider: record.provider ?? "",
  };
}

function count(counters: UsageCounters, record: UsageRecord | AdvisorRecord): void {
  counters.promptTokens += record.promptTokens ?? 0;
  counters.completionTokens += record.completionTokens ?? 0;
  counters.cachedTokens += record.cachedTokens ?? 0;
  counters.cacheWriteTokens += record.cacheWriteTokens ?? 0;
  counters.reasoningTokens += ("reasoningTokens" in record ? record.reasoningTokens : null) ?? 0;
  counters.cost += record.costNanodollars ?? 0;
  counters.upstreamCost += record.upstreamCostNanodollars ?? 0;
}
