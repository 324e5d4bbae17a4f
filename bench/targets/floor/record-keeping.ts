import { join } from "node:path";
import type { Clock } from "../../../src/base/time/clock.ts";
import { onNextTurn } from "../../../src/base/time/next-turn.ts";
import { USAGE_FRAME } from "../../../src/core/usage/journal/journal-entry.ts";
import { Recorder } from "../../../src/core/usage/journal/recorder.ts";
import type { UsageRecord } from "../../../src/core/usage/records/records.ts";
import { openFileJournal } from "../../../src/storage/journal/file-journal.ts";
import { openDatabase } from "../../../src/storage/sqlite/connection/database.ts";
import { SqliteUsageStore } from "../../../src/storage/sqlite/usage/usage-store.ts";

/** How often the journal drops what it has, as a recorder does after each group that it saves. Milliseconds. */
const RELEASE_MS = 100;
const MAX_JOURNAL_BYTES = 1_000_000_000;

/** Keeps records durable. */
export interface RecordKeeping {
  /** Writes a version of a record. Resolves once it is durable; all versions of one turn of the event loop share one write. */
  write(record: UsageRecord): Promise<unknown>;
  close(): void;
}

/** Keeps records in the journal only, in the data directory. */
export function keepInJournal(dataDir: string, clock: Clock): RecordKeeping {
  const journal = openFileJournal(join(dataDir, "journal"));
  let flushing: Promise<void> | null = null;
  const timer = clock.every(RELEASE_MS, () => journal.release(journal.mark()));
  return {
    write(record) {
      journal.append(JSON.stringify(record), USAGE_FRAME);
      flushing ??= new Promise((resolve) => {
        onNextTurn(() => {
          flushing = null;
          journal.flush();
          resolve();
        });
      });
      return flushing;
    },
    close() {
      timer.cancel();
      journal.close();
    },
  };
}

/** Keeps records as this gateway does: in the journal, and from there in SQLite, in groups. `onError` is told when either fails. */
export function keepInStore(dataDir: string, clock: Clock, onError: (error: unknown) => void): RecordKeeping {
  const journal = openFileJournal(join(dataDir, "journal"));
  const database = openDatabase(dataDir);
  const recorder = new Recorder({
    journal,
    store: new SqliteUsageStore(database),
    clock,
    maxJournalBytes: MAX_JOURNAL_BYTES,
    onStoreError: onError,
    onQuarantined: ({ reason }) => onError(reason),
  });
  return {
    write(record) {
      recorder.write(record);
      return recorder.flushDurably();
    },
    close() {
      journal.close();
      database.close();
    },
  };
}
