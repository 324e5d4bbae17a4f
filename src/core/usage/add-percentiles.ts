import type { Percentiles } from "../../base/percentiles.ts";
import { isOfTags, type UsageQuery, type UsageSum } from "./report.ts";
import { percentilesOf } from "./time-histogram.ts";
import type { UsageTimeStore } from "./usage-store.ts";

/** A line of a report with percentiles, in milliseconds; null if none of its generations has times, and in reports about tags. */
export interface TimedUsageSum extends UsageSum {
  readonly latency: Percentiles | null;
  readonly duration: Percentiles | null;
}

/** Reads the times of the lines of a report. Rejects with a `StoreError`. */
export async function addPercentiles(
  store: Pick<UsageTimeStore, "readTimes">,
  query: UsageQuery,
  sums: readonly UsageSum[],
): Promise<readonly TimedUsageSum[]> {
  const lines = isOfTags(query) ? [] : await store.readTimes(query);
  const known = new Map(lines.map(({ groups, times }) => [nameLine(groups), times]));
  return sums.map((sum) => {
    const times = known.get(nameLine(sum.groups));
    if (times === undefined) return { ...sum, latency: null, duration: null };
    return { ...sum, latency: percentilesOf(times.latency), duration: percentilesOf(times.duration) };
  });
}

function nameLine(groups: UsageSum["groups"]): string {
  return JSON.stringify(groups);
}
