import type { GrantLeft } from "./grants.ts";
import type { Transfer, TransferKind } from "./records.ts";

/** A transfer as it is kept, with its place in the order of all. */
export interface StoredTransfer extends Transfer {
  readonly place: number;
}

/** What was spent under a limit: by whom or through what, by requests of which days. */
export interface SpendQuery {
  readonly keyId?: string;
  readonly accountId?: string;
  readonly userId?: string;
  /** Days since the epoch (UTC), both ends with it; left out: of all times. */
  readonly days?: { readonly from: number; readonly to: number };
}

/** A grant whose time is up and of which it is not settled yet what is left. */
export interface EndedGrant {
  readonly id: string;
  readonly accountId: string;
}

/** A refund of a generation's cost; an amount of null is all that is left of it. */
export interface RefundEntry {
  readonly id: string;
  readonly generationId: string;
  readonly amount: number | null;
  readonly note: string | null;
  readonly createdAt: number;
}

/** What became of a refund. */
export type RefundVerdict =
  | { readonly kind: "refunded" | "exists"; readonly transfer: StoredTransfer }
  /** No transfer of usage has that id. */
  | { readonly kind: "unknown" }
  /** `left`: what could be given back at most. */
  | { readonly kind: "too_much"; readonly left: number };

/** Sums of an account's transfers by kind, nanodollars; what came in less what went out. */
export type SumsByKind = Readonly<Record<TransferKind, number>>;

/** A generation whose record says another cost than what was paid for it; nanodollars. */
export interface UnmatchedUsage {
  readonly generationId: string;
  /** By its record; 0 without one that has ended. */
  readonly recorded: number;
  /** By its transfer; 0 without one. */
  readonly transferred: number;
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
  /** An account's transfers, of one kind or of all, newest first, before a place. */
  listTransfers(
    accountId: string,
    beforePlace: number,
    limit: number,
    kind?: TransferKind,
  ): Promise<readonly StoredTransfer[]>;
  /** What an account's transfers came to. */
  sumTransfers(accountId: string): Promise<SumsByKind>;
  /** Gives back what a generation cost, at most that in sum, in one transaction. */
  addRefund(refund: RefundEntry): Promise<RefundVerdict>;
  /** What is left of an account's grants for a time that are under way. */
  findGrantsLeft(accountId: string): Promise<readonly GrantLeft[]>;
  /** Grants whose time is up, the earliest first. */
  listEndedGrants(now: number, limit: number): Promise<readonly EndedGrant[]>;
  /** Takes back what is left of a grant, in one transaction, once; gives how much that was. */
  expireGrant(grantId: string, now: number): Promise<number>;
  /** What generations that have ended have cost, in nanodollars. */
  sumSpending(query: SpendQuery): Promise<number>;
  /** The sum of all transfers and the sum of all balances, account by account where they differ: none may. */
  findDifferences(): Promise<readonly { readonly accountId: string; readonly difference: number }[]>;
  /** Generations whose record and transfer differ, at most `limit`: none may. */
  findUnmatchedUsage(limit: number): Promise<readonly UnmatchedUsage[]>;
}
