import type { GrantLeft } from "./grants.ts";
import type { Transfer, TransferKind } from "./records.ts";

/** A stored transfer with its sequence number. */
export interface StoredTransfer extends Transfer {
  readonly place: number;
}

/** The spending that a limit covers: of a key, account or user, by the days of the requests. */
export interface SpendQuery {
  readonly keyId?: string;
  readonly accountId?: string;
  readonly userId?: string;
  /** Days since the epoch (UTC), both included; absent: all time. */
  readonly days?: { readonly from: number; readonly to: number };
}

/** A grant that has expired and whose rest was not taken back yet. */
export interface EndedGrant {
  readonly id: string;
  readonly accountId: string;
}

/** A refund of a generation's cost. An amount of null refunds everything that is left. */
export interface RefundEntry {
  readonly id: string;
  readonly generationId: string;
  readonly amount: number | null;
  readonly note: string | null;
  readonly createdAt: number;
}

/** The outcome of a refund. */
export type RefundVerdict =
  | { readonly kind: "refunded" | "exists"; readonly transfer: StoredTransfer }
  /** No generation with that id was charged. */
  | { readonly kind: "unknown" }
  /** `left`: the most that can be refunded, in nanodollars. */
  | { readonly kind: "too_much"; readonly left: number };

/** The sums of an account's transfers by kind, incoming less outgoing, in nanodollars. */
export type SumsByKind = Readonly<Record<TransferKind, number>>;

/** A generation whose record and transfer have different costs, in nanodollars. */
export interface UnmatchedUsage {
  readonly generationId: string;
  /** The cost in its record; 0 if none has ended. */
  readonly recorded: number;
  /** The amount of its transfer; 0 if there is none. */
  readonly transferred: number;
}

/** Stores the ledger. The cost of a generation is written with its record (`UsageStore.saveUsage`). */
export interface LedgerStore {
  /** Writes a transfer and changes both balances, in one transaction. Returns false if its id exists. */
  addTransfer(transfer: Transfer): Promise<boolean>;
  findTransfer(id: string): Promise<StoredTransfer | null>;
  /** Returns an account's balance and, read in the same transaction, the number of the newest deposit of any account. */
  findBalance(accountId: string): Promise<{ readonly balance: number; readonly depositPlace: number }>;
  /** Returns the transfers of every kind but `usage` after a sequence number, oldest first. */
  listDeposits(afterPlace: number, limit: number): Promise<readonly StoredTransfer[]>;
  /** Returns an account's transfers before a sequence number, of one kind or of all, newest first. */
  listTransfers(
    accountId: string,
    beforePlace: number,
    limit: number,
    kind?: TransferKind,
  ): Promise<readonly StoredTransfer[]>;
  /** Returns the sums of an account's transfers. */
  sumTransfers(accountId: string): Promise<SumsByKind>;
  /** Decides on a refund (`decideRefund`) and writes it, in one transaction. */
  addRefund(refund: RefundEntry): Promise<RefundVerdict>;
  /** Returns what is left of an account's grants that have not been ended. */
  findGrantsLeft(accountId: string): Promise<readonly GrantLeft[]>;
  /** Returns the grants that have expired and were not ended yet, the earliest first. */
  listEndedGrants(now: number, limit: number): Promise<readonly EndedGrant[]>;
  /** Ends a grant and takes back its rest (`expiryOf`), once and in one transaction. Returns the rest in nanodollars. */
  expireGrant(grantId: string, now: number): Promise<number>;
  /** Returns the cost of generations that have ended, in nanodollars. */
  sumSpending(query: SpendQuery): Promise<number>;
  /** Returns the accounts whose balance is not the sum of their transfers. There should be none. */
  findDifferences(): Promise<readonly { readonly accountId: string; readonly difference: number }[]>;
  /** Returns at most `limit` generations whose record and transfer differ. There should be none. */
  findUnmatchedUsage(limit: number): Promise<readonly UnmatchedUsage[]>;
}
