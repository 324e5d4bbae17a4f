import type { Clock } from "../../../base/time/clock.ts";
import type { UsageRecord } from "../records/records.ts";
import { SumMap } from "./sum-map.ts";
import type { UsageTimeStore } from "./usage-store.ts";
import type { UsageSumKey } from "./usage-sum-key.ts";
import { sumKeyOf } from "./usage-sums.ts";
import { addTimes, createTimes, type HourTimes, hasTimes, type UsageTimes } from "./usage-times.ts";

/** How long times are collected before they are saved. Milliseconds. */
const GATHER_MS = 10_000;
/** The number of sums that are saved together. */
const GROUP = 100;
/** Sums in memory. Times of further keys and models are dropped while the store is unavailable. */
const MAX_SUMS = 20_000;

/**
 * Collects the times of generations in memory, and saves their sums every few seconds. A sum has many columns, and saving it with each
 * record would cost a third of saving the record. A crash loses only the times of these seconds.
 */
export class TimesRecorder {
  private readonly sums = new SumMap<HourTimes>();
  private isScheduled = false;
  private saving: Promise<void> = Promise.resolve();

  constructor(private readonly parts: { readonly store: UsageTimeStore; readonly clock: Clock }) {}

  /** Adds the times of records that the store has saved. Open records have none. */
  add(records: readonly UsageRecord[]): void {
    for (const record of records) if (record.outcome !== "open" && hasTimes(record)) this.addRecord(record);
    if (this.sums.size > 0) this.schedule();
  }

  /** Saves what was added before the call. Rejects with a `StoreError`; what is not saved is kept for the next call. */
  flush(): Promise<void> {
    this.saving = this.saving.catch(() => {}).then(() => this.save());
    return this.saving;
  }

  private addRecord(record: UsageRecord): void {
    const times = this.timesOf(sumKeyOf(record));
    if (times !== null) addTimes(times, record);
  }

  /** Returns the times of a sum; null if there is no room for it. */
  private timesOf(key: UsageSumKey): UsageTimes | null {
    const known = this.sums.get(key);
    if (known !== undefined) return known.times;
    if (this.sums.size >= MAX_SUMS) return null;
    const sum = { key, times: createTimes() };
    this.sums.add(sum);
    return sum.times;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.parts.clock.after(GATHER_MS, () => {
      this.isScheduled = false;
      // The recorder reports a store that is unavailable.
      this.flush().catch(() => this.schedule());
    });
  }

  /** Saves the sums group by group, so that other work is done in between. */
  private async save(): Promise<void> {
    // Times that are added during the save begin new sums.
    const sums = this.sums.takeAll();
    for (let from = 0; from < sums.length; from += GROUP)
      await this.parts.store.addTimes(sums.slice(from, from + GROUP)).catch((error) => {
        for (const sum of sums.slice(from)) this.putBack(sum);
        throw error;
      });
  }

  private putBack({ key, times: { latency, duration } }: HourTimes): void {
    const times = this.timesOf(key);
    if (times === null) return;
    for (const [bucket, count] of latency.entries())
      times.latency[bucket] = (times.latency[bucket] ?? 0) + count;
    for (const [bucket, count] of duration.entries())
      times.duration[bucket] = (times.duration[bucket] ?? 0) + count;
  }
}
