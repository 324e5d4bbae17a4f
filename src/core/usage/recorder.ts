import type { Clock } from "../../base/clock.ts";
import { onNextTurn } from "../../base/next-turn.ts";
import { StoreError } from "../../base/store-error.ts";
import type { Journal } from "./journal.ts";
import { encodeUsageEntry } from "./journal-entry.ts";
import type { RecordEntry, UsageRecord } from "./records.ts";
import { type Quarantined, saveRecords } from "./save-records.ts";
import type { UsageStore } from "./usage-store.ts";

/** How long records are collected before they are saved in one group. Milliseconds. */
const GATHER_MS = 100;
/** How long to wait after the store has failed. Milliseconds. */
const RETRY_MS = 1_000;
/** Records that may wait while the store is unavailable. Beyond it no more requests are admitted. */
const MAX_WAITING = 50_000;

/** What a recorder is made of. */
export interface RecorderParts {
  readonly journal: Journal;
  readonly store: UsageStore;
  readonly clock: Clock;
  /** Called with each failure of the store, and with the first of a series of failures of the journal. */
  readonly onStoreError: (error: unknown) => void;
  /** Called with each record that the store rejects. */
  readonly onQuarantined?: (quarantined: Quarantined) => void;
  /** Called with the ids of each group once the store has it. */
  readonly onSaved?: (ids: Iterable<string>) => void;
}

/**
 * Keeps usage records durable: each is written to the journal at once, and saved in the store in groups. What the journal has
 * survives a crash, and waits there while the store is unavailable.
 */
export class Recorder {
  /** Not in the journal yet. */
  private fresh = new Map<string, UsageRecord>();
  /** In the journal, not in the store. */
  private waiting = new Map<string, RecordEntry>();
  /** The group that is being saved, still to be found by id. */
  private leaving: ReadonlyMap<string, RecordEntry> = new Map();
  /** The journal's next write. */
  private flushing: Promise<boolean> | null = null;
  private saving: Promise<void> | null = null;
  private isScheduled = false;
  private isStoreHealthy = true;
  /** The journal could not write, as on a full disk. */
  private isStuck = false;

  constructor(private readonly parts: RecorderParts) {}

  /**
   * Writes a record, replacing its earlier version. It is durable by the end of this turn of the event loop; call `flushDurably` or
   * `flush` before the client sees a result of it.
   */
  write(record: UsageRecord): void {
    this.fresh.set(record.id, record);
    void this.flushDurably();
    this.schedule(GATHER_MS);
  }

  /**
   * Resolves to true when everything that was written is durable, or to false if writing failed; the next call tries again. All
   * calls in one turn of the event loop share one write.
   */
  flushDurably(): Promise<boolean> {
    this.flushing ??= new Promise((resolve) => {
      // After everything else in this turn: one write of several records costs little more than of one.
      onNextTurn(() => {
        this.flushing = null;
        resolve(this.flush());
      });
    });
    return this.flushing;
  }

  /** Writes to the journal at once. Returns whether everything is durable. */
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

  /** Returns the newest version of a record, wherever it is. */
  async find(id: string): Promise<UsageRecord | null> {
    const unsaved = this.fresh.get(id) ?? (this.waiting.get(id) ?? this.leaving.get(id))?.record;
    return unsaved ?? (await this.parts.store.findUsage(id));
  }

  /** Returns whether too many records wait, or the journal cannot write: no new request may be admitted. */
  isFull(): boolean {
    return this.waiting.size + this.fresh.size >= MAX_WAITING || (this.isStuck && !this.flush());
  }

  /** Returns whether the last writes to journal and store have succeeded. */
  isHealthy(): boolean {
    return this.isStoreHealthy && !this.isStuck;
  }

  /**
   * Saves everything that was written before the call in the store. Rejects with a `StoreError` if store or journal fail; what was
   * written is still kept.
   */
  async drain(): Promise<void> {
    try {
      this.print();
      this.parts.journal.flush();
      // The group that is being saved was gathered before; the next one has the rest.
      if (this.saving !== null) await this.saving;
      await this.save();
    } catch (error) {
      throw error instanceof StoreError ? error : new StoreError(error);
    }
  }

  /** Appends fresh records to the journal. */
  private print(): void {
    if (this.fresh.size === 0) return;
    const records = this.fresh;
    this.fresh = new Map();
    for (const [id, record] of records) {
      const json = JSON.stringify(record);
      this.parts.journal.append(encodeUsageEntry(json));
      this.waiting.set(id, { record, json });
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
    if (this.waiting.size + this.fresh.size > 0) {
      this.saving ??= this.saveGroup().finally(() => {
        this.saving = null;
        if (this.waiting.size > 0) this.schedule(this.isStoreHealthy ? GATHER_MS : RETRY_MS);
      });
    }
    return this.saving ?? Promise.resolve();
  }

  private async saveGroup(): Promise<void> {
    const { journal, store, clock, onQuarantined, onSaved } = this.parts;
    this.print();
    const group = this.waiting;
    try {
      const mark = journal.mark();
      this.waiting = new Map();
      this.leaving = group;
      const quarantined = await saveRecords(store, [...group.values()], clock.now());
      this.isStoreHealthy = true;
      onSaved?.(group.keys());
      for (const one of quarantined) onQuarantined?.(one);
      journal.release(mark);
    } catch (error) {
      this.isStoreHealthy = false;
      // Versions that were written in the meantime are newer.
      this.waiting = new Map([...group, ...this.waiting]);
      throw error;
    } finally {
      this.leaving = new Map();
    }
  }
}
