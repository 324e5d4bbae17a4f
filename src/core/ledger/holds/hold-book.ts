import type { BudgetSubject } from "../../accounts/records/budget-records.ts";
import type { UsageRecord } from "../../usage/records/records.ts";
import type { SpendQuery } from "../records/ledger-store.ts";

/** A limit on spending, and the key, member, organization or budget that it belongs to. */
export interface SpendLimit {
  /** Names the sum that is limited: `key:key_…`, `member:org_…/user_…`, `organization:org_…`, `budget:…`. */
  readonly meter: string;
  /** The owner of the limit, as the rejection names it. */
  readonly of: "key" | "member" | "organization" | "budget";
  /** The budget, if it is the limit of one. */
  readonly budget?: BudgetName | undefined;
  /** Nanodollars in a period; null: no limit. Spending is counted even without a limit. */
  readonly limit: number | null;
  /** The first day of the period, counted from the epoch. Each period has a sum of its own. */
  readonly since: number;
  /** Selects the spending of the period. */
  readonly query: SpendQuery;
  /**
   * Present for a limit whose spending is counted only while it is set. Its sum begins with what `query` selects. Returns whether a
   * generation that began earlier counts for it when it ends.
   */
  readonly covers?: ((spender: Spender) => boolean) | undefined;
}

/** The fields of a generation that decide which spending limits it counts for. */
export type Spender = Pick<
  UsageRecord,
  "accountId" | "keyId" | "userId" | "teamId" | "endUser" | "tags" | "createdAt"
>;

/** The identification of a budget, for callers whose requests it limits. */
export interface BudgetName {
  readonly id: string;
  readonly name: string;
  readonly subject: BudgetSubject;
}

/** A request to hold money for a generation. Amounts are nanodollars. */
export interface HoldRequest {
  /** The generation's id. */
  readonly id: string;
  readonly accountId: string;
  /** How far below zero the balance may go; null: without a bound. */
  readonly overdraft: number | null;
  /** The expected cost of the generation. */
  readonly amount: number;
  /** The smallest useful hold; absent: `amount`. */
  readonly least?: number | undefined;
  /** The largest useful hold; absent: `amount`. */
  readonly most?: number | undefined;
  readonly limits: readonly SpendLimit[];
  /** Absent: the hold counts for no limit that is set later. */
  readonly spender?: Spender | undefined;
  /** When the hold lapses if it is not settled. Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The bound of a hold: the account's balance, or a spending limit. */
export type HoldBound = "account" | SpendLimit["of"];

/** Whether a hold was taken. Amounts are nanodollars. */
export type HoldVerdict =
  | {
      readonly kind: "held";
      readonly amount: number;
      /** The amount that could have been held at that moment; infinite without a bound. */
      readonly available: number;
      readonly by: HoldBound;
      /** The leases of this gateway that the cost is charged to (`UsageRecord.leasedFrom`); absent: none. */
      readonly leasedFrom?: readonly string[];
    }
  | {
      readonly kind: "refused";
      readonly by: HoldBound;
      /** The budget, if it is what bounds the hold. */
      readonly budget?: BudgetName | undefined;
      /** The amount that is left to hold. */
      readonly available: number;
      readonly required: number;
    };

/** A hold in progress. */
export type ListedHold = Pick<HoldRequest, "id" | "accountId" | "amount">;

/** An account's balance and the part of it that is held, in nanodollars. */
export interface AccountBalance {
  readonly balance: number;
  readonly held: number;
}

/**
 * The balances of accounts, and the amounts held for running generations. A hold checks the balance and every limit, and changes all of
 * them or none, so that concurrent requests cannot spend the same money. Settled costs reach the store with the records of their
 * generations; until then the book counts them.
 */
export interface HoldBook {
  /** Reads what an earlier process of this gateway has left. Its records are saved, and no hold was taken yet. */
  start(): Promise<void>;
  /**
   * Holds an amount, or returns the bound that prevents it. Holds up to `most` if the balance is ample, and down to `least` if it is
   * scarce. Rejects with a `StoreError` if the balance is not known and the store is unavailable.
   */
  hold(request: HoldRequest): Promise<HoldVerdict>;
  /**
   * Raises a hold to `amount`, or as far as possible, and returns the amount that is held now: 0 without a hold. Synchronous, because
   * streams call it between two pieces: a shared book grants only what this gateway has leased already.
   */
  grow(id: string, amount: number): number;
  /** Like `grow`, and waits a short time for what a shared book must borrow first. Never rejects. */
  growSoon(id: string, amount: number): Promise<number>;
  /** Ends a hold and charges `cost`, which may be 0. No-op without a hold. */
  settle(id: string, cost: number): void;
  /** Adds an amount to a balance that no store will add, and to the leases from which it was spent. No-op if the account is not cached. */
  credit(accountId: string, amount: number, leasedFrom?: readonly string[]): void;
  balanceOf(accountId: string): Promise<AccountBalance>;
  /** Returns a balance in nanodollars; null if it is not cached: `balanceOf` caches it. */
  cachedBalanceOf(accountId: string): number | null;
  /** Returns the holds in progress. */
  holds(): readonly ListedHold[];
  /** Applies credits that other processes wrote, and releases lapsed holds. */
  refresh(now: number): Promise<void>;
}
