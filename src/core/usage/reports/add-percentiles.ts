import type { Percentiles } from "../../../base/numbers/percentiles.ts";
import { hasTimes, type ReportLines, type UsageQuery, type UsageSum } from "./report.ts";
import type { UsageTimeStore } from "./usage-store.ts";

/** A line of a report with percentiles, in milliseconds; null if none of its generations has times, and in reports about tags or clients. */
export interface TimedUsageSum extends UsageSum {
  readonly latency: Percentiles | null;
  readonly duration: Percentiles | null;
}

/** Reads the times of the lines of a report. Rejects with a `StoreError`. */
export async function addPercentiles(
  store: Pick<UsageTimeStore, "readTimes">,
  query: UsageQuery,
  { sums, isComplete }: ReportLines,
): Promise<readonly TimedUsageSum[]> {
  const only = isComplete ? null : sums.map(({ groups }) => groups[0] ?? null);
  const lines = hasTimes(query) ? await store.readTimes(query, only) : [];
  const known = new Map(lines.map((line) => [nameLine(line.groups), line]));
  return sums.map((sum) => {
    const { latency = null, duration = null } = known.get(nameLine(sum.groups)) ?? {};
    return { ...sum, latency, duration };
  });
}

function nameLine(groups: UsageSum["groups"]): string {
  return JSON.stringify(groups);
}
