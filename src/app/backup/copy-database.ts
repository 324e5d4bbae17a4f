import { statSync } from "node:fs";
import type { Clock } from "../../base/time/clock.ts";
import { HOUR_MS } from "../../base/time/time.ts";
import { makePrivateFile } from "../../storage/files/private-files.ts";
import type { DatabaseCopy, DatabaseCopyAnswer } from "./copy-database-worker.ts";

/** The longest duration of a copy. Milliseconds. */
const MAX_COPY_MS = 6 * HOUR_MS;
/** How often the progress is reported. Milliseconds. */
const PROGRESS_MS = 1_000;

/** Called with the number of bytes written, and the size of the whole database with its free pages. */
export type CopyProgress = (written: number, whole: number) => void;

/**
 * Copies a SQLite database that other processes may be writing, in a thread. The copy has the state of one moment.
 * @throws Error if a file cannot be read or written.
 */
export function copyDatabase(copy: DatabaseCopy, clock: Clock, onProgress: CopyProgress): Promise<void> {
  // Created first, because SQLite would create it readable for all users.
  makePrivateFile(copy.to);
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./copy-database-worker.ts", import.meta.url));
    const progress = clock.every(PROGRESS_MS, () =>
      onProgress(statSync(copy.to).size, statSync(copy.from).size),
    );
    const end = ({ problem }: DatabaseCopyAnswer): void => {
      deadline.cancel();
      progress.cancel();
      worker.terminate();
      if (problem === null) resolve();
      else reject(new Error(`${copy.from} could not be copied to ${copy.to}: ${problem}`));
    };
    const deadline = clock.after(MAX_COPY_MS, () => end({ problem: "it has taken too long" }));
    worker.onmessage = ({ data }: MessageEvent<DatabaseCopyAnswer>) => end(data);
    worker.onerror = (event) => end({ problem: event.message });
    worker.postMessage(copy);
  });
}
