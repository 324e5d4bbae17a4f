import type { LedgerStore, StoredTransfer } from "./ledger-store.ts";

/** An account's transfers, by which times are found. */
export interface TransferList {
  readonly store: Pick<LedgerStore, "listTransfers">;
  readonly accountId: string;
}

/**
 * Returns the sequence number at which an account's transfers of a time begin: those before it are earlier than `timeMs`. It is found
 * in about 25 reads of one row however many transfers there are, because transfers are written in the order of their times. A
 * charge that was written late, such as after an outage of the database, counts to the time at which it was written.
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
