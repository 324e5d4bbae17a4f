import { StoreError } from "../../../base/failures/store-error.ts";
import type { Clock, Timer } from "../../../base/time/clock.ts";
import type { HoldRequest } from "../holds/hold-book.ts";
import type { AccountLeases, LeasedHold } from "./account-leases.ts";
import {
  BALANCE_LEASE,
  type BorrowAnswer,
  type BorrowOrder,
  type MoneyLeases,
  type Needs,
  type ReturnOrder,
} from "./money-leases.ts";
import { type TakenHold, WaitingHolds } from "./waiting-holds.ts";

/** The pause of an account whose holds wait for other gateways, or that was rejected repeatedly. Milliseconds. */
const PAUSE_MS = 50;
/** Consecutive refusals after which an account pauses. */
const MAX_REFUSALS = 5;
/** How long an unavailable store is not asked again. Milliseconds. */
const AWAY_MS = 1_000;

/** An order that was sent, or whose answer was lost: then only the store knows whether it was carried out. */
type Order =
  | { readonly kind: "borrow"; readonly order: BorrowOrder }
  | { readonly kind: "return"; readonly order: ReturnOrder };

/** A hold that grows, and how much should be free for it. */
interface Growth {
  readonly hold: LeasedHold;
  readonly free: number;
  /** Lends everything that is left, instead of half of it. */
  readonly isRest: boolean;
}

/** The dependencies of a borrower. */
interface BorrowerParts {
  readonly store: Pick<MoneyLeases, "borrow" | "giveBack">;
  readonly clock: Clock;
  /** How long a hold waits for other gateways to give back what they do not need. Milliseconds. */
  readonly waitMs: number;
  /** Called with each failure of an order. */
  readonly onFailure: (error: unknown) => void;
  /** Returns the number of the next order. */
  readonly nextTicket: () => number;
  /** Called with a balance from the store, less unsaved costs. Nanodollars. */
  readonly onBalance: (accountId: string, balance: number) => void;
}

/**
 * Takes holds from the leases of one account, and borrows and gives back for it, one order at a time. If the answer to an order was lost,
 * that order is sent again before any other.
 */
export class AccountBorrower {
  private readonly waiting: WaitingHolds;
  private isSending = false;
  private unanswered: Order | null = null;
  /** A hold that will probably grow, and how much should be free for it. */
  private growing: Growth | null = null;
  /** A request whose leases are to be filled up. */
  private refilling: HoldRequest | null = null;
  private readonly onQuiet: (() => void)[] = [];
  private refusals = 0;
  private pause: Timer | null = null;
  private awayUntil = Number.NEGATIVE_INFINITY;

  constructor(
    readonly leases: AccountLeases,
    private readonly parts: BorrowerParts,
  ) {
    this.waiting = new WaitingHolds(leases, parts);
  }

  /** Returns whether this gateway has nothing left of the account. */
  get isIdle(): boolean {
    return this.leases.isEmpty && this.waiting.isEmpty && !this.isSending && this.unanswered === null;
  }

  /** Takes a hold from the leases; null if they do not cover it. */
  take(request: HoldRequest): TakenHold | null {
    const now = this.parts.clock.now();
    return this.leases.hold(request, now, now < this.awayUntil ? "unavailable" : "earlier");
  }

  /** Borrows for a hold that `take` does not cover, and takes it. Rejects with a `StoreError` if the store is known to be unavailable. */
  async borrow(request: HoldRequest): Promise<TakenHold> {
    if (this.parts.clock.now() < this.awayUntil)
      throw new StoreError("it was unavailable, and the lease does not cover the hold");
    const later = this.waiting.add(request);
    this.pump();
    return later;
  }

  /** Borrows in the background until an amount is free for a hold that will probably grow. */
  borrowAhead(hold: LeasedHold, free: number): void {
    const now = this.parts.clock.now();
    if (now < this.awayUntil || !this.leases.mayBorrow(hold.request, now)) return;
    this.growing = { hold, free, isRest: false };
    this.pump();
  }

  /** Borrows in the background for the leases of a request, if one of them has become low. */
  refill(request: HoldRequest): void {
    const now = this.parts.clock.now();
    if (now < this.awayUntil || !this.leases.isLow(request, now)) return;
    this.refilling = request;
    this.pump();
  }

  /** Borrows for a hold as much as is left, up to the amount that it lacks. */
  borrowRest(hold: LeasedHold, missing: number): void {
    const now = this.parts.clock.now();
    if (now < this.awayUntil || !this.leases.mayBorrow(hold.request, now)) return;
    const { free, available } = this.leases.findAvailable(hold.request);
    this.growing = { hold, free: Math.min(available, Math.max(0, free) + missing), isRest: true };
    this.pump();
  }

  /** Gives free money back: all of it, or the part that was not needed for a minute. Does nothing while another order is on its way. */
  async giveBack(isAll: boolean): Promise<void> {
    if (this.isSending) return;
    if (this.unanswered !== null) await this.send(this.unanswered);
    if (this.isSending || this.unanswered !== null) return;
    const { leases, parts } = this;
    const taken = leases.takeFree(parts.clock.now(), isAll);
    if (taken.length === 0) return;
    const order = { ticket: parts.nextTicket(), accountId: leases.accountId, leases: taken };
    await this.send({ kind: "return", order });
  }

  /** Resolves when no order is on its way, or after `ms` milliseconds. */
  async whenQuiet(ms: number): Promise<void> {
    if (!this.isSending) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.parts.clock.after(ms, resolve);
    this.onQuiet.push(resolve);
    await promise;
    timer.cancel();
  }

  /** Sends the next order unless one is on its way. */
  private pump(): void {
    if (this.isSending || this.pause !== null) return;
    if (this.unanswered !== null) {
      void this.send(this.unanswered);
      return;
    }
    const order = this.nextOrder();
    if (order !== null) void this.send({ kind: "borrow", order });
  }

  private nextOrder(): BorrowOrder | null {
    const { leases, waiting, growing, refilling, parts } = this;
    const ticket = parts.nextTicket();
    const needs = waiting.nextNeeds(ticket);
    const isGrowing = needs === null;
    const next =
      needs ??
      (growing === null ? null : needsOf(growing)) ??
      (refilling === null ? null : { request: refilling, needs: NO_NEEDS });
    if (next === null) return null;
    // Every order also fills up the leases that it names.
    if (isGrowing) this.growing = null;
    this.refilling = null;
    return {
      ticket,
      accountId: leases.accountId,
      leases: leases.orderFor(next.request, next.needs, parts.clock.now()),
    };
  }

  private async send(sent: Order): Promise<void> {
    await this.sendOnce(sent);
    if (!this.isSending) for (const resolve of this.onQuiet.splice(0)) resolve();
  }

  private async sendOnce(sent: Order): Promise<void> {
    const isSentAgain = sent === this.unanswered;
    this.isSending = true;
    this.unanswered = sent;
    const { answer, error } = await this.deliver(sent);
    this.isSending = false;
    if (error !== undefined) {
      this.awayUntil = this.parts.clock.now() + AWAY_MS;
      this.waiting.giveUpAll(error);
      this.parts.onFailure(error);
      return;
    }
    this.unanswered = null;
    this.awayUntil = Number.NEGATIVE_INFINITY;
    if (sent.kind === "borrow" && answer !== undefined) this.useAnswer(sent.order, answer, isSentAgain);
    this.pump();
  }

  private async deliver({ kind, order }: Order): Promise<{ answer?: BorrowAnswer; error?: unknown }> {
    const { store } = this.parts;
    try {
      if (kind === "borrow") return { answer: await store.borrow(order) };
      await store.giveBack(order);
      return {};
    } catch (error) {
      return { error: error ?? new Error("an order failed without a reason") };
    }
  }

  private useAnswer(order: BorrowOrder, answer: BorrowAnswer, isSentAgain: boolean): void {
    const { leases, waiting, parts } = this;
    const now = parts.clock.now();
    for (const [at, { name, bound }] of order.leases.entries()) {
      const lease = answer.leases[at];
      if (lease === undefined) continue;
      // The answer to an order that was sent again may be old.
      leases.add(name, lease.lent, { answer: isSentAgain ? null : lease, now });
      if (name === BALANCE_LEASE && !isSentAgain)
        parts.onBalance(leases.accountId, lease.left + lease.others + leases.leftOf(name) - bound);
    }
    waiting.serve(isSentAgain ? null : order.ticket, answer);
    this.refusals = answer.isLent ? 0 : this.refusals + 1;
    if (waiting.hasParked || this.refusals > MAX_REFUSALS)
      this.pause ??= parts.clock.after(PAUSE_MS, () => this.resume());
  }

  private resume(): void {
    this.pause = null;
    this.waiting.resume();
    this.pump();
  }
}

/** An order that only fills up. */
const NO_NEEDS: Needs = { least: 0, amount: 0, most: 0, ahead: 0 };

function needsOf({ hold, free, isRest }: Growth) {
  return { request: hold.request, needs: { least: isRest ? free : 0, amount: free, most: free, ahead: 0 } };
}
