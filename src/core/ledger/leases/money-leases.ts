import { chooseAmount } from "../holds/choose-amount.ts";
import type { SpendQuery } from "../records/ledger-store.ts";

/** The name of the lease of an account's balance, next to the leases of its spending limits. */
export const BALANCE_LEASE = "balance";

/** The sum that a spending limit restricts, in one period. */
export interface MeterPeriod {
  readonly meter: string;
  /** The first day of the period, counted from the epoch. */
  readonly since: number;
}

/** Returns the name of the lease of a spending limit in one period. */
export function nameMeterLease({ meter, since }: MeterPeriod): string {
  return `${meter}@${since}`;
}

/** Returns the spending limit and period of a lease; null for the lease of a balance. */
export function readMeterLease(name: string): MeterPeriod | null {
  const at = name.lastIndexOf("@");
  return at < 0 ? null : { meter: name.slice(0, at), since: Number(name.slice(at + 1)) };
}

/** A request to borrow for one lease. Amounts are nanodollars. */
export interface MoneyLeaseRequest {
  /** `BALANCE_LEASE`, or `nameMeterLease` of a spending limit. */
  readonly name: string;
  /** How far below zero the balance may go, or the spending limit. */
  readonly bound: number;
  /**
   * Selects what was spent before, if the sum of the limit is counted only from its first use; absent: every cost is counted
   * (`SpendLimit.covers`).
   */
  readonly query?: SpendQuery | undefined;
  /** The minimum without which the gateway cannot use the other leases: either all leases of an order lend it, or none. */
  readonly least: number;
  /** The amount that the gateway needs if there is enough. */
  readonly amount: number;
  /** The amount that it can use if the balance is ample (`chooseAmount`). */
  readonly most: number;
  /** The amount that it will probably need soon. It is lent up to a share of the rest. */
  readonly ahead: number;
}

/** What holds need of each of their leases, in total. Nanodollars. */
export type Needs = Pick<MoneyLeaseRequest, "least" | "amount" | "most" | "ahead">;

/** A request to borrow from an account's balance and from spending limits of the same account. */
export interface BorrowOrder {
  /**
   * The number of this change among all changes that this gateway makes to its leases of this account, in ascending order. An order whose
   * answer was lost is sent again with the same number. It is carried out once, whichever message arrives first.
   */
  readonly ticket: number;
  readonly accountId: string;
  /** The lease of the balance first if there is one, then the others by name. */
  readonly leases: readonly MoneyLeaseRequest[];
}

/** The state of one lease after an order, in nanodollars. */
export interface LeaseAnswer {
  /** The amount that this order lent. */
  readonly lent: number;
  /** The amount that all gateways can still borrow; negative after an operator has lowered the bound. */
  readonly left: number;
  /** The amount that other gateways have borrowed. They give back what they do not need. */
  readonly others: number;
}

/** The answer to an order. */
export interface BorrowAnswer {
  /**
   * False: one of the leases could not lend the least amount, and nothing was lent. The account is marked as wanted if other gateways could
   * give money back.
   */
  readonly isLent: boolean;
  /** In the order of the request. */
  readonly leases: readonly LeaseAnswer[];
}

/** The money that a gateway gives back from its leases of one account. */
export interface ReturnOrder extends Pick<BorrowOrder, "ticket" | "accountId"> {
  /** Nanodollars, each at most the part of the lease that is neither held nor spent. */
  readonly leases: readonly { readonly name: string; readonly amount: number }[];
}

/** A lease of this gateway. */
interface HeldLease {
  readonly accountId: string;
  readonly name: string;
  /** The amount of the lease, including unsaved costs. Nanodollars. */
  readonly amount: number;
}

/** The leases of a gateway as the store has them. */
export interface HeldLeases {
  readonly leases: readonly HeldLease[];
  /** The highest ticket of an order that the store has seen. */
  readonly ticket: number;
}

/**
 * The leases of money of one gateway (docs/adr/0012-several-gateways.md). A lease is a part of a balance, or of what a spending limit
 * leaves, that only this gateway may spend. Saving a record lowers the leases that it names (`leasedFrom`) in the same transaction.
 *
 * Every method rejects with a `StoreError` if the store is unavailable; it may have carried out the order then. It rejects with a
 * `GatewayReplacedError` if another process has taken over this gateway's journal: it must not spend its leases any more.
 */
export interface MoneyLeases {
  /** Borrows in one transaction, from all leases of the order or from none (`decideBorrow`). */
  borrow(order: BorrowOrder): Promise<BorrowAnswer>;
  /** Gives back in one transaction. */
  giveBack(order: ReturnOrder): Promise<void>;
  /** Returns the accounts whose leases this gateway has and other gateways want. */
  listWanted(): Promise<readonly string[]>;
  /** Returns what this gateway has, before its first order. Complete once the records of its journal are saved. */
  listLeases(): Promise<HeldLeases>;
}

/** The share of the rest that is lent in advance: a sixteenth. */
export const AHEAD_SHARE = 16;

/**
 * Returns how much of the rest is lent to a gateway: as much as a hold would take of it, and a part in advance. Null if less than the
 * minimum is left. Nanodollars.
 */
function decideLoan(request: MoneyLeaseRequest, left: number): number | null {
  if (left < request.least && request.least > 0) return null;
  const taken = chooseAmount(request, Math.max(0, left));
  // Half of the last nanodollar is all of it, so that a balance can be spent to its end.
  if (taken < request.amount) return Math.max(taken, Math.ceil(Math.max(0, left) / 2));
  return taken + Math.max(0, Math.min(request.ahead, Math.floor((left - taken) / AHEAD_SHARE)));
}

/** The state of a lease before an order. Nanodollars. */
export interface LeaseState {
  readonly left: number;
  readonly others: number;
}

/** Decides on an order. `states` are in the order of its leases. */
export function decideBorrow(order: BorrowOrder, states: readonly LeaseState[]): BorrowAnswer {
  const loans = order.leases.map((lease, at) => decideLoan(lease, states[at]?.left ?? 0));
  const isLent = loans.every((loan) => loan !== null);
  const leases = states.map(({ left, others }, at) => {
    const lent = isLent ? (loans[at] ?? 0) : 0;
    return { lent, left: left - lent, others };
  });
  return { isLent, leases };
}

/** Returns whether the minimum of each lease would be available if other gateways gave back what they have. */
export function couldOthersCover(
  requests: readonly MoneyLeaseRequest[],
  answers: readonly LeaseState[],
): boolean {
  return requests.every(({ least }, at) => {
    const { left = 0, others = 0 } = answers[at] ?? {};
    return left + others >= least;
  });
}
