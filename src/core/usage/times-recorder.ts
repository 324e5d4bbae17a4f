import type { Clock } from "../../base/clock.ts";
import type { UsageRecord } from "./records.ts";
import type { UsageTimeStore } from "./usage-store.ts";
import { nameSum, sumKeyOf } from "./usage-sums.ts";
import { addTimes, createTimes, type HourTimes, hasTimes } from "./usage-times.ts";

/** How long times are collected before they are saved. Milliseconds. */
const GATHER_MS = 10_000;
/** Sums that are saved at once. */
const GROUP = 100;
/** Sums in memory. Times of further keys and models are dropped while the store is unavailable. */
const MOST_SUMS = 20_000;

/**
 * Collects the times of generations in memory, and saves their sums every few seconds: a sum has many columns, and saving it with each
 * record would cost a third of what saving the record does. A crash loses the times of these seconds and nothing else.
 */
export class TimesRecorder {
  private sums = new Map<string, HourTimes>();
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
    const key = sumKeyOf(record);
    const name = nameSum(key);
    let sum = this.sums.get(name);
    if (sum === undefined) {
      if (this.sums.size >= MOST_SUMS) return;
      sum = { key, times: createTimes() };
      this.sums.set(name, sum);
    }
    addTimes(sum.times, record);
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
    for (let left = this.sums.size; left > 0; left -= GROUP) {
      const group = [...this.sums.entries().take(Math.min(left, GROUP))];
      // What is added while the group is saved begins a new sum.
      for (const [name] of group) this.sums.delete(name);
      await this.parts.store.addTimes(group.map(([, sum]) => sum)).catch((error) => {
        for (const [name, sum] of group) this.putBack(name, sum);
        throw error;
      });
    }
  }

  private putBack(name: string, { key, times }: HourTimes): void {
    const { latency, duration } = this.sums.get(name)?.times ?? createTimes();
    const both = (a: readonly number[], b: readonly number[]) => a.map((count, at) => count + (b[at] ?? 0));
    this.sums.set(name, {
      key,
      times: { latency: both(latency, times.latency), duration: both(duration, times.duration) },
    });
  }
}
