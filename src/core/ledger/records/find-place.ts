import type { LedgerStore, StoredTransfer } from "./ledger-store.ts";

/** An account's transfers, searched by time. */
export interface TransferList {
  readonly store: Pick<LedgerStore, "listTransfers">;
  readonly accountId: string;
}

/**
 * Returns the sequence number of the first transfer of an account that is not earlier than `timeMs`. Transfers are written in the order of
 * their times, so about 25 reads of one row find it, however many there are. A charge that was written late, for example after an outage of
 * the database, counts at the time when it was written.
 */
export async function findPlace(list: TransferList, timeMs: number): Promise<number> {
  const newest = await findNewest(list, Number.MAX_SAFE_INTEGER);
  if (newest === null || newest.createdAt < timeMs) return Number.MAX_SAFE_INTEGER;
  // Transfers before `low` are earlier than the time, those from `high` on are not.
  let low = 1;
  let high = newest.place;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await findNewest(list, middle + 1);
    if (found === null || found.place < low || found.createdAt < timeMs) low = middle + 1;
    else high = found.place;
  }
  return low;
}

async function findNewest(
  { store, accountId }: TransferList,
  beforePlace: number,
): Promise<StoredTransfer | null> {
  const [newest] = await store.listTransfers(accountId, beforePlace, 1);
  return newest ?? null;
}
