import type { Percentiles } from "../../../base/numbers/percentiles.ts";
import type { UsageRecord } from "../records/records.ts";
import type { UsageSum } from "./report.ts";
import { addTime, createHistogram, type TimeHistogram } from "./time-histogram.ts";
import type { UsageSumKey } from "./usage-sum-key.ts";

/** How long generations took. */
export interface UsageTimes {
  /** Times to the first token. */
  readonly latency: TimeHistogram;
  /** Times to the end, of generations that had a first token. */
  readonly duration: TimeHistogram;
}

/** The times of generations that have the same dimensions. */
export interface HourTimes {
  readonly key: UsageSumKey;
  readonly times: UsageTimes;
}

/** How long the generations of a line of a report took: percentiles in milliseconds, null without times. */
export interface TimesLine extends Pick<UsageSum, "groups"> {
  readonly latency: Percentiles | null;
  readonly duration: Percentiles | null;
}

/** Returns times of no generation. */
export function createTimes(): UsageTimes {
  return { latency: createHistogram(), duration: createHistogram() };
}

/**
 * Returns whether a record has times. A record without a first token has none: a rejected request ends immediately, and would distort the
 * time of answers.
 */
export function hasTimes({ firstTokenAt }: UsageRecord): boolean {
  return typeof firstTokenAt === "number";
}

/** Adds the times of a record that has them. */
export function addTimes(
  { latency, duration }: UsageTimes,
  { createdAt, firstTokenAt, finishedAt, outcome }: UsageRecord,
): void {
  addTime(latency, (firstTokenAt ?? createdAt) - createdAt);
  // An interrupted generation is ended by the next start of a gateway, at any later time.
  if (outcome !== "interrupted" && typeof finishedAt === "number") addTime(duration, finishedAt - createdAt);
}
