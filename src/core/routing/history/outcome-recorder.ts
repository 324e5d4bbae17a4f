import type { Clock } from "../../../base/time/clock.ts";
import { MINUTE_MS } from "../../../base/time/time.ts";
import type { HealthHistoryStore, OutcomeSum } from "./health-history-store.ts";
import { bucketOf, HISTORY_RANGES } from "./history-ranges.ts";
import { type AttemptOutcomeKind, createCounts } from "./outcome-counts.ts";

/** The outcomes of one minute, or of a part of it, by provider. */
interface MinuteCounts {
  /** When the minute began. Milliseconds since the epoch. */
  readonly beganAt: number;
  readonly counts: Map<string, Record<AttemptOutcomeKind, number>>;
}

/** The minutes that wait while the store is unavailable. Earlier ones are dropped. */
const MAX_MINUTES = 60;

/** Counts the outcomes of attempts in memory, and adds them to the store. A crash loses what was not saved yet. */
export class OutcomeRecorder {
  /** In order of time. The last one is counted in. */
  private minutes: MinuteCounts[] = [];
  private saving: Promise<void> = Promise.resolve();

  constructor(
    private readonly parts: {
      readonly store: Pick<HealthHistoryStore, "addOutcomes">;
      readonly clock: Pick<Clock, "now">;
    },
  ) {}

  /** Counts an attempt that has just ended. */
  add(provider: string, outcome: AttemptOutcomeKind): void {
    const { counts } = this.openMinute(this.parts.clock.now());
    let known = counts.get(provider);
    if (known === undefined) {
      known = createCounts();
      counts.set(provider, known);
    }
    known[outcome] += 1;
  }

  /** Saves what was counted before the call. Rejects with a `StoreError`; what is not saved is kept for the next call. */
  flush(): Promise<void> {
    this.saving = this.saving.catch(() => {}).then(() => this.save());
    return this.saving;
  }

  private openMinute(now: number): MinuteCounts {
    const last = this.minutes.at(-1);
    if (last !== undefined && now >= last.beganAt && now - last.beganAt < MINUTE_MS) return last;
    const minute: MinuteCounts = { beganAt: bucketOf("hour", now), counts: new Map() };
    this.minutes.push(minute);
    if (this.minutes.length > MAX_MINUTES) this.minutes.shift();
    return minute;
  }

  private async save(): Promise<void> {
    const waiting = this.minutes;
    // Attempts that end during the save are counted apart.
    this.minutes = [];
    for (const [at, minute] of waiting.entries())
      await this.parts.store.addOutcomes(sumRanges(minute)).catch((error) => {
        this.minutes = [...waiting.slice(at), ...this.minutes].slice(-MAX_MINUTES);
        throw error;
      });
  }
}

/** Returns the sums of each range to which a minute adds. */
function sumRanges({ beganAt, counts }: MinuteCounts): readonly OutcomeSum[] {
  return [...counts].flatMap(([provider, ofProvider]) =>
    HISTORY_RANGES.map((range) => ({
      ...{ provider, range, beganAt: bucketOf(range, beganAt) },
      ...ofProvider,
    })),
  );
}
