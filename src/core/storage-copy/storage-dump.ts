import type { DumpRow, DumpTable, DumpValue } from "./tables.ts";

/** The values of a row's key, in the order of `DumpTable.key`. */
export type DumpKey = readonly DumpValue[];

/** A number of rows, and the sum of their amounts. */
export interface StorageSum {
  /** The counted thing, such as `transfers: grant`. */
  readonly of: string;
  readonly count: number;
  /** Nanodollars; null for rows without an amount. */
  readonly amount: number | null;
}

/** All rows of a store, to copy them from or to a store of another kind. No gateway may run on either store meanwhile. */
export interface StorageDump {
  /** Names the store in messages. */
  readonly location: string;
  /** Returns why the store cannot be copied now; null if it can: no gateway runs on it, and none has left work for its next start. */
  findObstacle(): Promise<string | null>;
  /** Returns the next page of rows after a key, or the first one. The order is the same at each call, and may differ between stores. */
  readPage(table: DumpTable, after: DumpKey | null): Promise<readonly DumpRow[]>;
  /** Writes rows and the progress of the copy in one transaction. A row whose key exists is replaced, or left if it never changes. */
  writePage(table: DumpTable, rows: readonly DumpRow[], progress: string): Promise<void>;
  /** Returns the progress that was written last; null if no copy into this store is incomplete. */
  readProgress(): Promise<string | null>;
  /** Prepares the store for its first gateway after the last page, and removes the progress. */
  finish(): Promise<void>;
  /** Counts and sums rows by the database itself, without reading pages. */
  sum(): Promise<readonly StorageSum[]>;
}
