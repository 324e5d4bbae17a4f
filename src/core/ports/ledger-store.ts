import type { Transfer } from "../ledger/records.ts";

/** A transfer as it is kept, with its place in the order of all. */
export interface StoredTransfer extends Transfer {
  readonly place: number;
}

/** What was spent under a limit: by whom or through what, since when. */
export interface SpendQuery {
  readonly keyId?: string;
  readonly accountId?: string;
  readonly userId?: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Where the ledger is kept. What generations cost comes in with their records (`UsageStore.saveUsage`). */
export interface LedgerStore {
  /** Writes a transfer and moves both balances, in one transaction; false when there is one with that id already. */
  addTransfer(transfer: Transfer): Promise<boolean>;
  findTransfer(id: string): Promise<StoredTransfer | null>;
  /** An account's balance, 0 without transfers, and the place of the newest deposit of anybody at that instant, or 0. */
  findBalance(accountId: string): Promise<{ readonly balance: number; readonly depositPlace: number }>;
  /** Transfers of every kind but `usage` behind a place, oldest first: what others have put in or taken out. */
  listDeposits(afterPlace: number, limit: number): Promise<readonly StoredTransfer[]>;
  /** An account's transfers, newest first, before a place. */
  listTransfers(accountId: string, beforePlace: number, limit: number): Promise<readonly StoredTransfer[]>;
  /** What generations have cost, in nanodollars. */
  sumSpending(query: SpendQuery): Promise<number>;
  /** The sum of all transfers and the sum of all balances, account by account where they differ: none may. */
  findDifferences(): Promise<readonly { readonly accountId: string; readonly difference: number }[]>;
}
