/** The worker that copies a SQLite database: the copy is one statement, which may take minutes and blocks its thread. */
import { Database } from "bun:sqlite";

/** The files of a copy: the path of the database, and that of an empty file. */
export interface DatabaseCopy {
  readonly from: string;
  readonly to: string;
}

/** The result of a copy: why it failed, or null. */
export interface DatabaseCopyAnswer {
  readonly problem: string | null;
}

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<DatabaseCopy>) => {
  self.postMessage({ problem: copy(data) } satisfies DatabaseCopyAnswer);
};

/** How long the statement waits for a lock, such as of the checkpoint when the last connection closes. Milliseconds. */
const BUSY_MS = 5_000;

/** Reads the whole database in one transaction, so that the copy shows one moment. Writers and the copy do not wait for each other. */
function copy({ from, to }: DatabaseCopy): string | null {
  try {
    const database = new Database(from, { readonly: true });
    try {
      database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      database.query("VACUUM INTO ?").run(to);
      return null;
    } finally {
      database.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}
