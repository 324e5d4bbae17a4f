import { dayOf } from "../../base/days.ts";
import type { AdvisorRecord, UsageRecord } from "./records.ts";

/** What generations are counted by. An empty string stands for none. */
export interface DaySumKey {
  readonly day: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly userId: string;
  readonly model: string;
  readonly provider: string;
}

/** What generations used and cost. Costs are nanodollars. */
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

/** The sum of some generations with the same key. */
export interface DaySum {
  readonly key: DaySumKey;
  readonly counters: UsageCounters;
}

/**
 * Sums generations that have ended, by the day on which their requests came. The usage of a consulted model counts for that model,
 * its request for the model that was asked.
 */
export function sumByDay(ended: readonly UsageRecord[]): readonly DaySum[] {
  const sums = new Map<string, DaySum>();
  for (const record of ended) {
    const own = countersOf(sums, keyOf(record));
    count(own, record);
    for (const advisor of record.advisors ?? []) {
      count(countersOf(sums, { ...keyOf(record), model: advisor.modelId ?? advisor.model }), advisor);
      // The record's cost includes it.
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
  };
}

/** Records of earlier versions may lack fields. They are saved nevertheless: what is missing counts as nothing. */
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
