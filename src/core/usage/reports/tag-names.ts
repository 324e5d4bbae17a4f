import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import type { UsageRecord } from "../records/records.ts";
import { OTHER_TAGS } from "./tag-sums.ts";
import type { UsageSumKey } from "./usage-sum-key.ts";
import { sumKeyOf } from "./usage-sums.ts";

/**
 * The number of tags that are counted individually for an account and hour. The bound prevents that a client with a new tag for each
 * request fills the store.
 */
export const TAGS_PER_HOUR = 200;

/** The number of tags and hours that are remembered: at most 20 MB, for 30,000 accounts if each uses a few tags. */
const MAX_REMEMBERED = 200_000;

/** An hour of an account. Its number of tags is bounded. */
export type TagHour = Pick<UsageSumKey, "accountId" | "day" | "hour">;

/** The tags that are counted individually. The store knows all of them; this class remembers those of the newest hours. */
export class TagNames {
  private readonly hours = new BoundedMap<string, Set<string>>({ max: MAX_REMEMBERED });

  /**
   * Returns the hours whose stored tags must be loaded before the records are counted: hours with room that get a tag that is unknown here,
   * because another gateway may have stored other tags.
   */
  listUnknown(tagged: readonly UsageRecord[]): readonly TagHour[] {
    const unknown = new Map<string, TagHour>();
    for (const record of tagged) {
      const hour = sumKeyOf(record);
      const known = this.hours.get(nameHour(hour));
      const isKnown =
        known !== undefined && (known.size >= TAGS_PER_HOUR || record.tags?.every((tag) => known.has(tag)));
      if (isKnown !== true) unknown.set(nameHour(hour), hour);
    }
    return [...unknown.values()];
  }

  /** Adds tags of an hour that are stored. */
  learn(hour: TagHour, stored: readonly string[]): void {
    const known = this.tagsOf(hour);
    for (const tag of stored) if (tag !== OTHER_TAGS) known.add(tag);
  }

  /** Returns the tags under which a record is counted, each once. Tags for which its hour has no room become `OTHER_TAGS`. */
  nameTags(record: UsageRecord): ReadonlySet<string> {
    const known = this.tagsOf(sumKeyOf(record));
    const names = new Set<string>();
    for (const tag of record.tags ?? []) {
      if (known.size < TAGS_PER_HOUR) known.add(tag);
      names.add(known.has(tag) ? tag : OTHER_TAGS);
    }
    return names;
  }

  private tagsOf(hour: TagHour): Set<string> {
    const name = nameHour(hour);
    const known = this.hours.touch(name) ?? new Set<string>();
    // Tags that are added now count at the next call.
    this.hours.set(name, known, known.size + 1);
    return known;
  }
}

function nameHour({ accountId, day, hour }: TagHour): string {
  return `${accountId}\n${day}\n${hour}`;
}
