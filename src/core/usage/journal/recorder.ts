import { StoreError } from "../../../base/failures/store-error.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { nextTurn, onNextTurn } from "../../../base/time/next-turn.ts";
import { afterTurn } from "../../../base/time/turn-end.ts";
import type { RecordEntry, UsageRecord } from "../records/records.ts";
import type { UsageStore } from "../reports/usage-store.ts";
import { Backlog } from "./backlog.ts";
import type { Journal } from "./journal.ts";
import { USAGE_FRAME } from "./journal-entry.ts";
import { type Quarantined, saveRecords } from "./save-records.ts";

/** How long records are collected before they are saved in one group. Milliseconds. */
const GATHER_MS = 100;
/** How long to wait after the store has failed. Milliseconds. */
const RETRY_MS = 1_000;
/** Records in one group. A longer backlog is saved group by group, so that other events are processed in between. */
const GROUP = 250;
/** The time limit of one group. Longer than the deadlines of every store, which give up sooner. Milliseconds. */
const SAVE_MS = 20_000;

/** The dependencies of a recorder. */
interface RecorderParts {
  readonly journal: Journal;
  readonly store: UsageStore;
  readonly clock: Clock;
  /** The size of the journal above which no request is admitted. Bytes. */
  readonly maxJournalBytes: number;
  /** Called with each failure of the store, and with the first of a series of failures of the journal. */
  readonly onStoreError: (error: unknown) => void;
  /** Called with each record that the store rejects. */
  readonly onQuarantined?: (quarantined: Quarantined) => void;
  /** Called with the saved records, and with the ids of those whose latest version the store has. */
  readonly onSaved?: (saved: readonly UsageRecord[], ids: readonly string[]) => void;
}

/**
 * Keeps usage records durable: each is written to the journal immediately, and saved in the store in groups. Records in the journal survive
 * a crash, and wait there while the store is unavailable.
 */
export class Recorder {
  /** Not in the journal yet. */
  private fresh = new Map<string, UsageRecord>();
  /** In the journal, not in the store. */
  private readonly backlog: Backlog;
  /** The journal's next write. */
  private flushing: Promise<boolean> | null = null;
  private saving: Promise<void> | null = null;
  private isScheduled = false;
  private isStoreHealthy = true;
  /** The journal could not write, as on a full disk. */
  private isStuck = false;

  constructor(private readonly parts: RecorderParts) {
    this.backlog = new Backlog(parts.journal);
  }

  /**
   * Writes a record, replacing its earlier version. It is durable by the end of this turn of the event loop. Call `flushDurably` or `flush`
   * before the client sees a result of it.
   */
  write(record: UsageRecord): void {
    this.fresh.set(record.id, record);
    void this.flushDurably();
    this.schedule(this.isStoreHealthy ? GATHER_MS : RETRY_MS);
  }

  /**
   * Resolves to true when everything that was written is durable, or to false if writing failed; the next call tries again. All
   * calls in one turn of the event loop share one write.
   */
  flushDurably(): Promise<boolean> {
    this.flushing ??= new Promise((resolve) => {
      // After everything else in this turn: writing several records costs little more than writing one.
      afterTurn(() => {
        this.flushing = null;
        resolve(this.flush());
      });
    });
    return this.flushing;
  }

  /** Writes to the journal immediately. Returns whether everything is durable. */
  flush(): boolean {
    try {
      this.print();
      this.parts.journal.flush();
      this.isStuck = false;
    } catch (error) {
      if (!this.isStuck) this.parts.onStoreError(error);
      this.isStuck = true;
    }
    return !this.isStuck;
  }

  /** Returns the newest version of a record, wherever it is. Rejects with a `StoreError` if store or journal fail. */
  async find(id: string): Promise<UsageRecord | null> {
    const unsaved = this.fresh.get(id) ?? this.findWaiting(id);
    return unsaved ?? (await this.parts.store.findUsage(id));
  }

  /** Returns whether the journal is as large as it may be, or cannot be written: no new request may be admitted. */
  isFull(): boolean {
    return this.parts.journal.size() >= this.parts.maxJournalBytes || (this.isStuck && !this.flush());
  }

  /** Returns whether the journal can be written. */
  canWrite(): boolean {
    return !this.isStuck;
  }

  /** Returns whether the last writes to journal and store have succeeded. */
  isHealthy(): boolean {
    return this.isStoreHealthy && !this.isStuck;
  }

  /** Returns for how long the oldest version has waited for the store; 0 if none waits. Milliseconds. */
  lagMs(): number {
    const { oldestWrittenAt } = this.backlog;
    return oldestWrittenAt === null ? 0 : Math.max(0, this.parts.clock.now() - oldestWrittenAt);
  }

  /** Returns how many records the journal has and the store has not. */
  countWaiting(): number {
    return this.backlog.size + this.fresh.size;
  }

  /**
   * Saves everything that was written before the call in the store. Rejects with a `StoreError` if store or journal fail; what was
   * written is still kept.
   */
  async drain(): Promise<void> {
    try {
      this.print();
      const end = this.parts.journal.mark();
      for (let start = this.backlog.start(); start !== null && start < end; start = this.backlog.start()) {
        await this.save();
        await nextTurn();
      }
    } catch (error) {
      throw error instanceof StoreError ? error : new StoreError(error);
    }
  }

  private findWaiting(id: string): UsageRecord | null {
    try {
      return this.backlog.find(id)?.record ?? null;
    } catch (error) {
      throw new StoreError(error);
    }
  }

  /** Appends fresh records to the journal. */
  private print(): void {
    if (this.fresh.size === 0) return;
    const records = this.fresh;
    this.fresh = new Map();
    const writtenAt = this.parts.clock.now();
    for (const record of records.values()) {
      const json = JSON.stringify(record);
      const at = this.parts.journal.append(json, USAGE_FRAME);
      this.backlog.add({ id: record.id, at, writtenAt, record, json });
    }
  }

  private schedule(delayMs: number): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.parts.clock.after(delayMs, () => {
      this.isScheduled = false;
      this.save().catch(this.parts.onStoreError);
    });
  }

  /** Saves one group; calls share the group that is being saved. */
  private save(): Promise<void> {
    if (this.countWaiting() > 0) {
      this.saving ??= this.saveGroup().finally(() => {
        this.saving = null;
        if (this.backlog.size > 0) this.scheduleNext();
      });
    }
    return this.saving ?? Promise.resolve();
  }

  private scheduleNext(): void {
    if (this.isStoreHealthy && this.backlog.size >= GROUP)
      onNextTurn(() => void this.save().catch(this.parts.onStoreError));
    else this.schedule(this.isStoreHealthy ? GATHER_MS : RETRY_MS);
  }

  private async saveGroup(): Promise<void> {
    const { journal, onQuarantined, onSaved } = this.parts;
    this.print();
    try {
      const mark = journal.mark();
      const group = this.backlog.first(GROUP);
      const entries = group.map((waiting) => this.backlog.read(waiting)).filter((entry) => entry !== null);
      const quarantined = await this.saveInTime(entries);
      this.isStoreHealthy = true;
      this.backlog.remove(group);
      onSaved?.(
        entries.map(({ record }) => record),
        group.flatMap(({ id }) => (this.backlog.has(id) ? [] : [id])),
      );
      for (const one of quarantined) onQuarantined?.(one);
      journal.release(this.backlog.start() ?? mark);
    } catch (error) {
      this.isStoreHealthy = false;
      throw error;
    }
  }

  /** Saves a group. A store that does not answer counts as unavailable. If it saves the group later, nothing changes. */
  private async saveInTime(entries: readonly RecordEntry[]): Promise<readonly Quarantined[]> {
    const { store, clock } = this.parts;
    const late = Promise.withResolvers<never>();
    const timer = clock.after(SAVE_MS, () =>
      late.reject(new StoreError(`it has not saved a group within ${SAVE_MS} ms`)),
    );
    try {
      return await Promise.race([saveRecords(store, entries, clock.now()), late.promise]);
    } finally {
      timer.cancel();
    }
  }
}
