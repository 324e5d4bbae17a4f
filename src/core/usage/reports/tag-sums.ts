import type { UsageRecord } from "../records/records.ts";
import type { UsageSumKey } from "./usage-sum-key.ts";
import { type HourSum, sumByHour, type UsageCounters } from "./usage-sums.ts";

/** The tag under which reports count the tags of an account and hour beyond those that are counted individually. No request can have it. */
export const OTHER_TAGS = "(other)";

/** The tag of the sums in which each request with tags is counted once. No request can have it. */
export const ANY_TAG = "";

/** The dimensions by which requests with tags are summed. */
export interface TagSumKey extends UsageSumKey {
  /** A tag, `OTHER_TAGS` or `ANY_TAG`. */
  readonly tag: string;
}

/** The sum of generations that have the same dimensions and a tag. */
interface TagSum {
  readonly key: TagSumKey;
  readonly counters: UsageCounters;
}

/**
 * Sums generations that have ended by hour and tag: one with two tags counts for each of them, and once for `ANY_TAG`. `nameTags` returns
 * the tags under which a record is counted.
 */
export function sumByTag(
  tagged: readonly UsageRecord[],
  nameTags: (record: UsageRecord) => Iterable<string>,
): readonly TagSum[] {
  const recordsByTag = new Map<string, UsageRecord[]>([[ANY_TAG, [...tagged]]]);
  for (const record of tagged)
    for (const tag of nameTags(record)) {
      const records = recordsByTag.get(tag);
      if (records === undefined) recordsByTag.set(tag, [record]);
      else records.push(record);
    }
  return [...recordsByTag].flatMap(([tag, records]) => sumByHour(records).map((sum) => addTag(sum, tag)));
}

function addTag({ key, counters }: HourSum, tag: string): TagSum {
  return { key: { ...key, tag }, counters };
}
