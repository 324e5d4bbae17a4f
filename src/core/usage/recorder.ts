import type { Clock } from "../../base/clock.ts";
import { StoreError } from "../../base/store-error.ts";
import type { Journal } from "./journal.ts";
import { encodeUsageEntry } from "./journal-entry.ts";
import type { RecordEntry, UsageRecord } from "./records.ts";
import { type Quarantined, saveRecords } from "./save-records.ts";
import type { UsageStore } from "./usage-store.ts";

/** How long records wait for company before they go to the store together. Milliseconds. */
const GATHER_MS = 100;
/** How long to wait after the store refused. Milliseconds. */
const RETRY_MS = 1_000;
/** Records that may wait for a store that is away. Past it no more requests are let in. */
const MAX_WAITING = 50_000;

/**
 * Keeps usage records safe: each goes to the journal at once, and from there to the store in groups. What the
 * journal has is not lost by a crash, and not lost while the store is away.
 */
export interface Recorder {
  /**
   * Writes a record down, replacing its earlier version; at the latest with the end of this turn of the event loop it
   * outlives the process. `flushDurably` or `flush` before the client sees what it is about.
   */
  write(record: UsageRecord): void;
  /**
   * Resolves when what was written outlives the process; with false when it does not, and then the next time tries again.
   * All that wait in one turn of the event loop share the work.
   */
  flushDurably(): Promise<boolean>;
  /** The same at once, for what cannot wait. */
  flush(): boolean;
  /** The newest version of a record, wherever it is. */
  find(id: string): Promise<UsageRecord | null>;
  /** Whether too much is waiting, or the journal takes no more: no new request may be let in. */
  isFull(): boolean;
  /** Whether journal and store took what they were given last. */
  isHealthy(): boolean;
  /** Brings everything to the store. Rejects with a `StoreError` when store or journal refuse; what was written is still kept. */
  drain(): Promise<void>;
}

/** A recorder. `onStoreError` hears of each refusal of the store, `onQuarantined` of each record that it rejects. */
export function createRecorder(
  journal: Journal,
  store: UsageStore,
  clock: Clock,
  onStoreError: (error: unknown) => void,
  onQuarantined: (quarantined: Quarantined) => void = () => {},
): Recorder {
  /** Not in the journal yet. */
  let fresh = new Map<string, UsageRecord>();
  /** In the journal, not in the store. */
  let waiting = new Map<string, RecordEntry>();
  /** The journal's next turn. */
  let securing: Promise<boolean> | null = null;
  let isScheduled = false;
  let saving: Promise<void> | null = null;
  /** The group that is on its way, still to be found by id. */
  let leaving: ReadonlyMap<string, RecordEntry> = new Map();
  let healthy = true;
  /** The journal did not take what was written: a full disk. */
  let isStuck = false;

  const print = (): void => {
    if (fresh.size === 0) return;
    const records = fresh;
    fresh = new Map();
    for (const [id, record] of records) {
      const json = JSON.stringify(record);
      journal.append(encodeUsageEntry(json));
      waiting.set(id, { record, json });
    }
  };

  const flush = (): boolean => {
    try {
      print();
      journal.flush();
      isStuck = false;
    } catch (error) {
      if (!isStuck) onStoreError(error);
      isStuck = true;
    }
    return !isStuck;
  };

  const flushDurably = (): Promise<boolean> => {
    securing ??= new Promise((resolve) => {
      // Behind all that this turn brings: printed and written together it costs a fraction.
      setImmediate(() => {
        securing = null;
        resolve(flush());
      });
    });
    return securing;
  };

  const schedule = (delayMs: number): void => {
    if (isScheduled) return;
    isScheduled = true;
    clock.after(delayMs, () => {
      isScheduled = false;
      save().catch(onStoreError);
    });
  };

  const saveGroup = async (): Promise<void> => {
    print();
    const group = waiting;
    try {
      const mark = journal.mark();
      waiting = new Map();
      leaving = group;
      const quarantined = await saveRecords(store, [...group.values()], clock.now());
      healthy = true;
      quarantined.forEach(onQuarantined);
      journal.release(mark);
    } catch (error) {
      healthy = false;
      // Newer versions that came meanwhile win.
      waiting = new Map([...group, ...waiting]);
      throw error;
    } finally {
      leaving = new Map();
    }
  };

  const save = (): Promise<void> => {
    if (waiting.size + fresh.size > 0) {
      saving ??= saveGroup().finally(() => {
        saving = null;
        if (waiting.size > 0) schedule(healthy ? GATHER_MS : RETRY_MS);
      });
    }
    return saving ?? Promise.resolve();
  };

  return {
    write(record) {
      fresh.set(record.id, record);
      void flushDurably();
      schedule(GATHER_MS);
    },
    flushDurably: flushDurably,
    flush,
    find: async (id) =>
      fresh.get(id) ?? (waiting.get(id) ?? leaving.get(id))?.record ?? (await store.findUsage(id)),
    isFull: () => waiting.size + fresh.size >= MAX_WAITING || (isStuck && !flush()),
    isHealthy: () => healthy && !isStuck,
    async drain() {
      try {
        print();
        journal.flush();
        while (waiting.size > 0 || saving !== null) await save();
      } catch (error) {
        throw error instanceof StoreError ? error : new StoreError(error);
      }
    },
  };
}
