import { MINUTE_MS } from "../../../base/time/time.ts";
import { chooseAmount } from "../holds/choose-amount.ts";
import type { HoldRequest } from "../holds/hold-book.ts";
import {
  type Available,
  type Bound,
  boundsOf,
  FRESH_MS,
  type Knowledge,
  suffices,
  unboundedOf,
} from "./lease-bounds.ts";
import { AHEAD_SHARE, type LeaseAnswer, type MoneyLeaseRequest, type Needs } from "./money-leases.ts";

/** A lease of this gateway. Amounts are nanodollars. */
interface Lease {
  /** Borrowed, and neither spent nor given back. Saving a cost lowers the lease in the store and not this: it was spent before. */
  left: number;
  held: number;
  /** The amount that all gateways could still borrow when the store last answered; null before the first answer. */
  leftInStore: number | null;
  answeredAt: number;
  /** The smallest free amount since `idleSince`, which was not needed. */
  leastFree: number;
  idleSince: number;
  /** The amount that was free after the last order, and the amount that the horizon needed then. */
  filled: { readonly free: number; readonly need: number };
}

/** A lease is filled to this multiple of what the horizon needs, and refilled when half is used, so that it always covers the horizon. */
const FILL = 2;

/** The shortest time over which spending is averaged. Milliseconds. */
const MIN_RATE_MS = 15_000;

/** A lease before its first order. */
const NOT_FILLED = { free: 0, need: 0 };

/** A hold in progress. */
export interface LeasedHold {
  readonly request: HoldRequest;
  /** The leases that it counts for. */
  readonly bounds: readonly Bound[];
  /** The leases that it would count for if they had been bounded when it began. */
  unbounded: readonly string[];
  amount: number;
  /** When it was seen that the hold was not settled in time; null before. Milliseconds since the epoch. */
  lapsedAt: number | null;
}

/**
 * This gateway's leases of one account's balance and spending limits, and its holds on them. All methods are synchronous, so that a hold
 * counts for all leases or for none.
 */
export class AccountLeases {
  private readonly leases = new Map<string, Lease>();
  /** The holds and unsaved costs of generations that began before a bound was set. When a bound is set, they are subtracted from it. */
  private readonly unleased = new Map<string, number>();
  /** Holds in progress, lapsed ones included. */
  holds = 0;
  /** The amounts spent in this minute, which began at `since`, and in the previous one. */
  private readonly spent = { minute: 0, since: 0, now: 0, before: 0 };

  /** `horizonMs` is for how long what is leased should suffice without the store, if the balance is ample. */
  constructor(
    readonly accountId: string,
    private readonly horizonMs: number,
  ) {}

  /** Returns whether nothing is held and nothing can be given back. */
  get isEmpty(): boolean {
    return (
      this.holds <= 0 && this.unleased.size === 0 && this.leases.values().every(({ left }) => left === 0)
    );
  }

  /** Returns whether a lease was used before. */
  has(name: string): boolean {
    return this.leases.has(name);
  }

  /** Counts the hold or unsaved cost of a generation for a limit that was set after it began. */
  countLate(hold: LeasedHold, name: string, amount: number): void {
    hold.unbounded = [...hold.unbounded, name];
    this.raiseUnleased([name], amount);
  }

  /** Returns what could be held for a request. Infinite without a bound. */
  findAvailable(request: HoldRequest): Available {
    let found: Available = {
      free: Number.POSITIVE_INFINITY,
      available: Number.POSITIVE_INFINITY,
      by: "account",
      answeredAt: Number.POSITIVE_INFINITY,
    };
    for (const { name, by, budget } of boundsOf(request)) {
      const lease = this.leases.get(name);
      const free = lease === undefined ? 0 : lease.left - lease.held;
      const available = free + (lease?.leftInStore ?? 0);
      found = {
        free: Math.min(found.free, free),
        available: Math.min(found.available, available),
        ...(available < found.available ? { by, budget } : { by: found.by, budget: found.budget }),
        answeredAt: Math.min(found.answeredAt, lease?.answeredAt ?? 0),
      };
    }
    return found;
  }

  /** Returns whether the store may have more to lend for a request, as far as is known. */
  mayBorrow(request: HoldRequest, now: number): boolean {
    const { free, available, answeredAt } = this.findAvailable(request);
    return Number.isFinite(free) && (available > free || now - answeredAt >= FRESH_MS);
  }

  /** Takes a hold from the free amount; null if the request should borrow first. */
  hold(request: HoldRequest, now: number, knowledge: Knowledge): { hold: LeasedHold; of: Available } | null {
    const of = this.findAvailable(request);
    if (!suffices(request, of, { now, knowledge })) return null;
    const available = Math.max(of.free, knowledge === "unavailable" ? 0 : of.available);
    const hold: LeasedHold = {
      request,
      bounds: boundsOf(request),
      unbounded: unboundedOf(request),
      amount: 0,
      lapsedAt: null,
    };
    this.holds += 1;
    this.change(hold, Math.max(0, Math.min(chooseAmount(request, available), of.free)));
    return { hold, of: { ...of, available } };
  }

  /** Raises a hold to `amount`, or as far as its leases allow. Returns the missing amount. */
  grow(hold: LeasedHold, amount: number): number {
    const missing = Math.max(0, amount - hold.amount);
    const free = Math.max(0, this.freeOf(hold));
    this.change(hold, Math.min(missing, free));
    return Math.max(0, missing - free);
  }

  /** Ends a hold and spends `cost`. */
  end(hold: LeasedHold, cost: number, now: number): void {
    this.change(hold, -hold.amount);
    this.holds -= 1;
    if (cost === 0) return;
    this.passTo(now);
    if (this.spent.now === 0 && this.spent.before === 0) this.spent.since = now;
    this.spent.now += cost;
    for (const { name } of hold.bounds) this.lease(name, now).left -= cost;
    this.raiseUnleased(hold.unbounded, cost);
  }

  /** Forgets what was spent without a lease, because the store has it now. */
  saved(names: readonly string[], cost: number): void {
    this.raiseUnleased(names, -cost);
  }

  /** Releases what a hold has; it is ended later. */
  release(hold: LeasedHold): void {
    this.change(hold, -hold.amount);
  }

  /** Returns the amount that is free for a hold, in addition to what it already has. */
  freeOf({ bounds }: LeasedHold): number {
    let free = Number.POSITIVE_INFINITY;
    for (const { name } of bounds) free = Math.min(free, this.freeIn(name));
    return free;
  }

  /**
   * Returns whether a lease of a request should be filled up. It must cover less than the horizon and be less than its share of what is
   * left. Also, since the last order half of it must have been used, or the spending doubled.
   */
  isLow(request: HoldRequest, now: number): boolean {
    const need = this.findNeed(now);
    if (need === 0) return false;
    return boundsOf(request).some(({ name }) => {
      const lease = this.leases.get(name);
      if (lease === undefined) return true;
      const { filled, leftInStore } = lease;
      const free = lease.left - lease.held;
      if (free >= need || (leftInStore !== null && free >= (free + leftInStore) / AHEAD_SHARE)) return false;
      return free <= filled.free / 2 || need >= 2 * filled.need;
    });
  }

  /** Returns the expected spending within the horizon, at the rate of this minute or of the previous one. */
  private findNeed(now: number): number {
    this.passTo(now);
    const { since, now: spent, before } = this.spent;
    const rate = Math.max(spent / Math.max(now - since, MIN_RATE_MS), before / MINUTE_MS);
    return Math.ceil(rate * this.horizonMs);
  }

  /** Returns the order for requests with the same bounds, which together need these amounts in addition to what is free. */
  orderFor(request: HoldRequest, needs: Needs, now: number): MoneyLeaseRequest[] {
    const fill = FILL * this.findNeed(now);
    return boundsOf(request).map(({ name, bound, query }) => {
      const free = Math.max(0, this.freeIn(name));
      const missing = (amount: number) => Math.max(0, amount - free);
      const { least, amount, most, ahead } = needs;
      return {
        name,
        bound: bound - (this.unleased.get(name) ?? 0),
        ...(query === undefined ? {} : { query }),
        least: missing(least),
        amount: missing(amount),
        most: missing(most),
        ahead: missing(most + ahead + fill) - missing(most),
      };
    });
  }

  /** Adds what an order has lent. `answer` is null for a lease that the gateway had before. */
  add(name: string, lent: number, { answer, now }: { answer: LeaseAnswer | null; now: number }): void {
    const lease = this.lease(name, now);
    lease.left += lent;
    lease.filled = { free: lease.left - lease.held, need: this.findNeed(now) };
    if (answer === null) return;
    lease.leftInStore = answer.left;
    lease.answeredAt = now;
  }

  /** Returns what was borrowed and is not spent of a lease. */
  leftOf(name: string): number {
    return this.leases.get(name)?.left ?? 0;
  }

  /** Forgets what the store had left, because it may have more now. */
  forgetStore(): void {
    for (const lease of this.leases.values()) lease.answeredAt = 0;
  }

  /**
   * Takes free money out of the leases, to be given back: all of it, or the part that was not needed for a minute and will not be needed
   * within the horizon. Twice the expected need may stay, so that a varying rate does not move money back and forth.
   */
  takeFree(now: number, isAll: boolean): { name: string; amount: number }[] {
    const taken: { name: string; amount: number }[] = [];
    const keep = FILL * this.findNeed(now);
    for (const [name, lease] of this.leases) {
      const free = lease.left - lease.held;
      const isOver = now - lease.idleSince >= MINUTE_MS;
      const unused = Math.min(lease.leastFree, free);
      const amount = isAll ? free : isOver && unused > 2 * keep ? unused - keep : 0;
      if (isOver || isAll) Object.assign(lease, { idleSince: now, leastFree: free - Math.max(0, amount) });
      if (amount > 0) {
        lease.left -= amount;
        taken.push({ name, amount });
      } else if (isOver && lease.left === 0 && lease.held === 0) this.leases.delete(name);
    }
    return taken;
  }

  private freeIn(name: string): number {
    const lease = this.leases.get(name);
    return lease === undefined ? 0 : lease.left - lease.held;
  }

  private lease(name: string, now: number): Lease {
    const found = this.leases.get(name);
    if (found !== undefined) return found;
    const lease = {
      left: 0,
      held: 0,
      leftInStore: null,
      answeredAt: 0,
      leastFree: 0,
      idleSince: now,
      filled: NOT_FILLED,
    };
    this.leases.set(name, lease);
    return lease;
  }

  private change(hold: LeasedHold, difference: number): void {
    hold.amount += difference;
    this.raiseUnleased(hold.unbounded, difference);
    for (const { name } of hold.bounds) {
      const lease = this.leases.get(name);
      if (lease === undefined) continue;
      lease.held += difference;
      lease.leastFree = Math.min(lease.leastFree, lease.left - lease.held);
    }
  }

  private raiseUnleased(names: readonly string[], difference: number): void {
    for (const name of names) {
      const amount = (this.unleased.get(name) ?? 0) + difference;
      if (amount === 0) this.unleased.delete(name);
      else this.unleased.set(name, amount);
    }
  }

  private passTo(now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute <= this.spent.minute) return;
    const before = minute === this.spent.minute + 1 ? this.spent.now : 0;
    Object.assign(this.spent, { minute, since: minute * MINUTE_MS, now: 0, before });
  }
}
