import { placeOf } from "../api/request-row.ts";

/** Something that is listed with the newest first: its id sorts by time, after a prefix. */
interface ListedRow {
  readonly id: string;
}

/**
 * Returns a list, newest first, with rows of the feed: a listed row is replaced in its place, others are inserted by their id. If there are
 * more than `most` rows, the oldest are left out. Returns `rows` itself if nothing changes.
 */
export function mergeRows<Row extends ListedRow>(
  rows: readonly Row[],
  incoming: readonly Row[],
  most: number,
): readonly Row[] {
  if (incoming.length === 0) return rows;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const row of incoming) byId.set(row.id, row);
  return [...byId.values()].sort((a, b) => compare(placeOf(b.id), placeOf(a.id))).slice(0, most);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Divides rows of the feed into those in a list and the others. */
export function splitKnown<Row extends ListedRow>(
  rows: readonly Row[],
  incoming: readonly Row[],
): { readonly known: readonly Row[]; readonly unknown: readonly Row[] } {
  const ids = new Set(rows.map(({ id }) => id));
  return {
    known: incoming.filter(({ id }) => ids.has(id)),
    unknown: incoming.filter(({ id }) => !ids.has(id)),
  };
}
