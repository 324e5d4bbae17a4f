import type { DumpKey, StorageDump } from "./storage-dump.ts";
import { DUMP_TABLES, type DumpRow, type DumpTable } from "./tables.ts";

/** How far a copy has come. It is stored in the target. */
interface Progress {
  /** The location of the source. */
  readonly from: string;
  /** The name of the table that is being copied. */
  readonly table: string;
  /** The key of the last row that was written; null if no row of the table was written. */
  readonly after: DumpKey | null;
}

/** A copy from one store to another. */
export interface StorageCopy {
  readonly from: StorageDump;
  readonly to: StorageDump;
  /** Called after each page, with the rows of the table that this call has copied. */
  readonly onPage: (table: DumpTable, rows: number) => void;
}

/**
 * Copies all rows, page by page, and continues an interrupted copy. The target is complete afterwards, but not prepared for a gateway.
 * @throws Error, and nothing is written, if the target has other data.
 */
export async function copyStorage(copy: StorageCopy): Promise<void> {
  const progress = await readProgress(copy);
  const first = progress === null ? 0 : DUMP_TABLES.findIndex(({ name }) => name === progress.table);
  for (const table of DUMP_TABLES.slice(first))
    await copyTable(copy, table, table.name === progress?.table ? progress.after : null);
}

async function readProgress({ from, to }: StorageCopy): Promise<Progress | null> {
  const text = await to.readProgress();
  if (text === null) return null;
  const progress = JSON.parse(text) as Progress;
  if (progress.from === from.location) return progress;
  throw new Error(
    `${to.location} has an incomplete copy of ${progress.from}. Complete that one, or choose an empty target.`,
  );
}

async function copyTable({ from, to, onPage }: StorageCopy, table: DumpTable, start: DumpKey | null) {
  let after = start;
  for (let copied = 0; ; ) {
    const rows = await from.readPage(table, after);
    const last = rows.at(-1);
    after = last === undefined ? after : keyOf(table, last);
    const progress: Progress = { from: from.location, table: table.name, after };
    await to.writePage(table, rows, JSON.stringify(progress));
    copied += rows.length;
    onPage(table, copied);
    if (rows.length < table.pageRows) return;
  }
}

/** Returns the key of a row. */
export function keyOf({ key }: DumpTable, row: DumpRow): DumpKey {
  return key.map((name) => row[name] ?? null);
}

/** The default account as every new store has it. */
const NEW_ACCOUNT = "acct_default";

/** Returns whether a store contains only what every new store contains. */
export async function isNewStorage(dump: StorageDump): Promise<boolean> {
  for (const table of DUMP_TABLES) {
    const rows = await dump.readPage(table, null);
    if (table.name === "accounts" ? !rows.every(isNewAccount) : rows.length > 0) return false;
  }
  return true;
}

function isNewAccount({ id, overdraft, monthly_limit, policy, rate_limit }: DumpRow): boolean {
  return (
    id === NEW_ACCOUNT &&
    overdraft === null &&
    monthly_limit === null &&
    policy === "{}" &&
    rate_limit === null
  );
}
