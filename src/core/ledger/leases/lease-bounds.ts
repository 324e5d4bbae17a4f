import { chooseAmount } from "../holds/choose-amount.ts";
import type { BudgetName, HoldBound, HoldRequest } from "../holds/hold-book.ts";
import type { SpendQuery } from "../records/ledger-store.ts";
import { BALANCE_LEASE, nameMeterLease } from "./money-leases.ts";

/** A bound of a request, and the lease that it is spent from. */
export interface Bound {
  readonly name: string;
  readonly by: HoldBound;
  readonly budget?: BudgetName | undefined;
  /** How far below zero the balance may go, or the spending limit. Nanodollars. */
  readonly bound: number;
  /** Selects what was spent before the limit was in use; absent for sums that count every cost. */
  readonly query?: SpendQuery | undefined;
}

/** The amounts that a gateway can hold for a request. Nanodollars. */
export interface Available {
  /** The amount that is free in its leases. */
  readonly free: number;
  /** The free amount plus what it could borrow, as far as known. */
  readonly available: number;
  readonly by: HoldBound;
  /** The budget, if it is what bounds `available`. */
  readonly budget?: BudgetName | undefined;
  /** The time at which the store had answered about all of them. Milliseconds since the epoch; 0: never. */
  readonly answeredAt: number;
}

/**
 * What a gateway knows about the store when it takes a hold: an earlier answer, an answer to an order for this hold, that the store has
 * lent as much as it will, or that it is unavailable.
 */
export type Knowledge = "earlier" | "answered" | "final" | "unavailable";

/** How long the answer of the store bounds a hold. Milliseconds. */
export const FRESH_MS = 1_000;

/** Returns whether the free amount is enough for a hold, so that it need not borrow. */
export function suffices(
  request: HoldRequest,
  { free, available, answeredAt }: Available,
  { now, knowledge }: { readonly now: number; readonly knowledge: Knowledge },
): boolean {
  const { amount, least = amount, most = amount } = request;
  const coversLeast = free >= least || least <= 0;
  switch (knowledge) {
    case "earlier":
      // The store may have more by now than when it answered, and the length of the answer depends on what is available.
      return free >= chooseAmount(request, available) && (available >= most || now - answeredAt < FRESH_MS);
    case "answered":
      return coversLeast && (free >= amount || available < amount);
    case "final":
    case "unavailable":
      return coversLeast;
  }
}

/** Returns the bounds of a request: of the account unless its overdraft is unbounded, and of the limits that are set. */
export function boundsOf({ overdraft, limits }: HoldRequest): Bound[] {
  const bounds: Bound[] = [];
  if (overdraft !== null) bounds.push({ name: BALANCE_LEASE, by: "account", bound: overdraft });
  for (const limit of limits) {
    if (limit.limit === null) continue;
    const query = limit.covers === undefined ? undefined : limit.query;
    const { of: by, budget, limit: bound } = limit;
    bounds.push({ name: nameMeterLease(limit), by, budget, bound, query });
  }
  return bounds;
}

/** Returns the names of the leases that a request would need if its account or its limits had a bound. */
export function unboundedOf({ overdraft, limits }: HoldRequest): string[] {
  const unset = limits.filter(({ limit }) => limit === null).map(nameMeterLease);
  return overdraft === null ? [BALANCE_LEASE, ...unset] : unset;
}

/** Returns whether two requests of an account are subject to the same limits in the same way. */
export function hasSameBounds(a: HoldRequest, b: HoldRequest): boolean {
  if (a.overdraft !== b.overdraft || a.limits.length !== b.limits.length) return false;
  return a.limits.every((limit, at) => {
    const other = b.limits[at];
    return other?.meter === limit.meter && other.since === limit.since && other.limit === limit.limit;
  });
}
