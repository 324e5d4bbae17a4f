import { formatDollars } from "../../base/numbers/money.ts";
import { sha256 } from "../../base/secrets/hash.ts";
import { keyOf } from "./copy-storage.ts";
import type { DumpKey, StorageDump } from "./storage-dump.ts";
import { DUMP_TABLES, type DumpRow, type DumpTable, type DumpValue } from "./tables.ts";

/** A value of two stores that must be equal. */
export interface Comparison {
  /** The compared thing, such as `rows: accounts`. */
  readonly of: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Compares the rows of all tables by their number and content, and the sums that the databases compute themselves.
 */
export async function compareStorage(from: StorageDump, to: StorageDump): Promise<readonly Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const table of DUMP_TABLES) {
    const of = `rows: ${table.name}`;
    comparisons.push({ of, from: await digest(from, table), to: await digest(to, table) });
  }
  return [...comparisons, ...(await compareSums(from, to))];
}

async function compareSums(from: StorageDump, to: StorageDump): Promise<readonly Comparison[]> {
  const sums = new Map<string, { from: string; to: string }>();
  for (const side of ["from", "to"] as const) {
    const dump = side === "from" ? from : to;
    for (const { of, count, amount } of await dump.sum()) {
      const values = sums.get(of) ?? { from: "0", to: "0" };
      values[side] = amount === null ? String(count) : `${count}, ${formatDollars(amount)} dollars`;
      sums.set(of, values);
    }
  }
  return [...sums].map(([of, values]) => ({ of: `sum: ${of}`, ...values }));
}

/** The bytes of a digest. Digests of rows are added, so that their order does not matter. */
const DIGEST_BITS = 128;
const DIGEST_CHARS = DIGEST_BITS / 4;
/** The hexadecimal digits that are shown. */
const SHOWN_CHARS = 12;

/** Returns the number of a table's rows and the sum of their hashes. */
async function digest(dump: StorageDump, table: DumpTable): Promise<string> {
  const names = Object.keys(table.columns).sort();
  let rows = 0;
  let sum = 0n;
  let after: DumpKey | null = null;
  for (;;) {
    const page: readonly DumpRow[] = await dump.readPage(table, after);
    for (const row of page) {
      const text = JSON.stringify(names.map((name) => toText(row[name] ?? null)));
      sum += BigInt(`0x${sha256(text, "hex").slice(0, DIGEST_CHARS)}`);
    }
    rows += page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < table.pageRows) break;
    after = keyOf(table, last);
  }
  const hash = BigInt.asUintN(DIGEST_BITS, sum).toString(16).padStart(DIGEST_CHARS, "0");
  return rows === 0 ? "0" : `${rows} #${hash.slice(0, SHOWN_CHARS)}`;
}

/** Not every store can store the character with code 0. */
function toText(value: DumpValue): string | number | boolean | null {
  if (value instanceof Uint8Array) return sha256(value, "hex");
  return typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value;
}
