import type { GrantLeft } from "./grants.ts";
import type { Transfer, TransferKind } from "./records.ts";

/** A stored transfer with its sequence number. */
export interface StoredTransfer extends Transfer {
  readonly place: number;
}

/**
 * The credits of an account: its transfers of every kind except `usage`. Each account's credits have their own version. Sequence numbers of
 * transfers cannot serve for that: a database with concurrent transactions may commit number 8 before number 7, so that "all transfers
 * after number 8" never includes number 7.
 */
export interface CreditSum {
  readonly accountId: string;
  /** Incoming less outgoing, in nanodollars. */
  readonly credited: number;
  /** How many transfers `credited` sums. It rises with each, in the transaction that commits it. */
  readonly version: number;
}

/** An account's balance in nanodollars, and its credits as of the same moment. */
export interface StoredBalance extends CreditSum {
  readonly balance: number;
}

/** The accounts whose credits have changed. */
export interface CreditChanges {
  readonly sums: readonly CreditSum[];
  /** Where the next call continues. Only the store reads it. */
  readonly cursor: string;
  /** Whether more changes can be read immediately. */
  readonly hasMore: boolean;
}

/** The spending that a limit covers: of a key, account, user or budget, by the days of the requests. */
export interface SpendQuery {
  readonly keyId?: string;
  readonly accountId?: string;
  readonly userId?: string;
  /** One sum of a budget, instead of the other sums. */
  readonly budget?: { readonly id: string; readonly value: string };
  /** Days since the epoch (UTC), both included; absent: all time. */
  readonly days?: { readonly from: number; readonly to: number };
}

/** A grant that has expired and whose rest was not taken back yet. */
export interface EndedGrant {
  readonly id: string;
  readonly accountId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
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
  /** The records of its day were deleted by the retention policy, so that its cost is not known any more. */
  | { readonly kind: "dropped" }
  /** `left`: the maximum that can be refunded, in nanodollars. */
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
  /** Returns at most `limit` refunds of a generation, the earliest first. */
  listRefunds(generationId: string, limit: number): Promise<readonly StoredTransfer[]>;
  /** Returns an account's balance and credits, read in one transaction. All are 0 without a transfer. */
  findBalance(accountId: string): Promise<StoredBalance>;
  /**
   * Returns the present credits of the accounts, without the platform, whose credits have changed since the call that returned
   * `cursor`; of about `limit` transfers at once. Null begins now: the result has no account.
   *
   * Never leaves out a change that commits late, and may return an account again that has not changed: the caller compares
   * versions. SQLite, which runs one writing transaction at a time, uses the transfer's sequence number as cursor. PostgreSQL
   * can use the oldest transaction that ran at the time of the call (`pg_snapshot_xmin`) and return the accounts that were
   * written by it or by later ones.
   */
  listCreditChanges(cursor: string | null, limit: number): Promise<CreditChanges>;
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
  /** Returns the rests of an account's grants that have not ended. */
  findGrantsLeft(accountId: string): Promise<readonly GrantLeft[]>;
  /** Returns the grants that have expired and were not ended yet, the earliest first: from the beginning, or after `last` of an earlier call. */
  listEndedGrants(now: number, limit: number, last?: EndedGrant | null): Promise<readonly EndedGrant[]>;
  /**
   * Ends a grant and takes back its rest (`expiryOf`), once and in one transaction. Returns the amount that it has taken, in nanodollars.
   * While gateways have leased a part of the rest, it takes only the other part, and the grant does not end.
   */
  expireGrant(grantId: string, now: number): Promise<number>;
  /** Returns the cost of generations that have ended, in nanodollars. */
  sumSpending(query: SpendQuery): Promise<number>;
  /**
   * Returns the accounts whose balance is not the sum of their transfers, including those that the retention policy has deleted. There
   * should be none.
   */
  findDifferences(): Promise<readonly { readonly accountId: string; readonly difference: number }[]>;
  /** Returns at most `limit` generations whose record and transfer differ. There should be none. */
  findUnmatchedUsage(limit: number): Promise<readonly UnmatchedUsage[]>;
}
