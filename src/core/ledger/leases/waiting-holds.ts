import { StoreError } from "../../../base/failures/store-error.ts";
import type { Clock, Timer } from "../../../base/time/clock.ts";
import type { HoldRequest, HoldVerdict } from "../holds/hold-book.ts";
import type { AccountLeases, LeasedHold } from "./account-leases.ts";
import { type Available, hasSameBounds, type Knowledge } from "./lease-bounds.ts";
import { type BorrowAnswer, couldOthersCover, type Needs } from "./money-leases.ts";

/** How long a hold that the lease covers, though not as amply as the balance could, waits for the store. Milliseconds. */
const COVERED_MS = 300;
/** How long any other hold waits for the store. Milliseconds. */
const STORE_MS = 2_000;
/** The number of orders that include a hold before it accepts less than its expected cost although the store has more. */
const MAX_ORDERS = 4;
/** The maximum number of waiting holds of one account. Further ones are rejected. */
const MAX_WAITING = 10_000;

/** A hold that was taken, or why it was not. */
export type TakenHold =
  | { readonly hold: LeasedHold; readonly of: Available }
  | { readonly refused: Extract<HoldVerdict, { kind: "refused" }> };

interface Waiting {
  readonly request: HoldRequest;
  readonly resolve: (taken: TakenHold) => void;
  readonly reject: (error: unknown) => void;
  /** Ends the wait for a store that does not answer. Cancelled while the wait is for other gateways. */
  timer: Timer;
  /** When the wait for other gateways ends; null before it begins. Milliseconds since the epoch. */
  until: number | null;
  /** It waits for other gateways until `resume`. */
  isParked: boolean;
  /** The ticket of the last order that included it; 0 before. */
  ticket: number;
  /** How many orders have included it. */
  orders: number;
}

/** The holds of one account that wait for an order to borrow, or for money from other gateways, in the order of their arrival. */
export class WaitingHolds {
  private readonly waiting = new Set<Waiting>();

  constructor(
    private readonly leases: AccountLeases,
    private readonly parts: { readonly clock: Clock; readonly waitMs: number },
  ) {}

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  /** Returns whether a hold waits for other gateways. */
  get hasParked(): boolean {
    return this.waiting.values().some(({ isParked }) => isParked);
  }

  /** Waits for an order that covers a hold. Rejects with a `StoreError` if the store does not answer. */
  add(request: HoldRequest): Promise<TakenHold> {
    if (this.waiting.size >= MAX_WAITING)
      return Promise.reject(new StoreError(`${MAX_WAITING} holds of the account wait already`));
    const { promise, resolve, reject } = Promise.withResolvers<TakenHold>();
    const { free } = this.leases.findAvailable(request);
    const waitMs = free >= (request.least ?? request.amount) ? COVERED_MS : STORE_MS;
    const waiting: Waiting = {
      request,
      resolve,
      reject,
      timer: this.limitWait(() => waiting, waitMs),
      until: null,
      isParked: false,
      ticket: 0,
      orders: 0,
    };
    this.waiting.add(waiting);
    return promise;
  }

  /** Returns the first hold to borrow for, and the needs of it and the others with the same bounds; null if there is none. */
  nextNeeds(ticket: number): { readonly request: HoldRequest; readonly needs: Needs } | null {
    const first = this.waiting.values().find(({ isParked }) => !isParked);
    if (first === undefined) return null;
    const needs = { least: Number.POSITIVE_INFINITY, amount: 0, most: 0, ahead: 0 };
    for (const waiting of this.waiting) {
      const { request } = waiting;
      if (waiting.isParked || !hasSameBounds(first.request, request)) continue;
      waiting.ticket = ticket;
      waiting.orders += 1;
      const { amount, least = amount, most = amount } = request;
      needs.least = Math.min(needs.least, least);
      needs.amount += amount;
      needs.most += most;
      // A hold that grows is doubled.
      needs.ahead += Math.min(amount, most - amount);
    }
    return { request: first.request, needs };
  }

  /**
   * Takes the holds that are covered now. Of the holds in the order with this ticket, rejects those that the store cannot cover, unless
   * other gateways could give back enough.
   */
  serve(ticket: number | null, answer: BorrowAnswer): void {
    const now = this.parts.clock.now();
    for (const waiting of [...this.waiting]) {
      const isAnswered = ticket !== null && waiting.ticket === ticket && !waiting.isParked;
      const taken = this.leases.hold(waiting.request, now, isAnswered ? knowledgeOf(waiting) : "earlier");
      if (taken !== null) {
        this.finish(waiting);
        waiting.resolve(taken);
      } else if (isAnswered) this.parkOrRefuse(waiting, answer);
    }
  }

  /** Lets the holds that waited for other gateways be part of the next order. */
  resume(): void {
    for (const waiting of this.waiting) {
      if (!waiting.isParked) continue;
      waiting.isParked = false;
      waiting.timer = this.limitWait(() => waiting, STORE_MS);
    }
  }

  /** Ends the wait of all holds: takes those that the leases cover, and rejects the others with a `StoreError`. */
  giveUpAll(reason: unknown): void {
    for (const waiting of [...this.waiting]) this.giveUp(waiting, reason);
  }

  private parkOrRefuse(waiting: Waiting, answer: BorrowAnswer): void {
    const { request } = waiting;
    const required = request.least ?? request.amount;
    const { available, by, budget } = this.leases.findAvailable(request);
    // Other holds took what was lent, and more is left.
    if (available >= required) return;
    const now = this.parts.clock.now();
    const needs = { least: required, amount: 0, most: 0, ahead: 0 };
    waiting.until ??= now + this.parts.waitMs;
    if (now < waiting.until && couldOthersCover(this.leases.orderFor(request, needs, now), answer.leases)) {
      waiting.isParked = true;
      waiting.timer.cancel();
      return;
    }
    this.finish(waiting);
    waiting.resolve({
      refused: { kind: "refused", by, budget, available: Math.max(0, available), required },
    });
  }

  private limitWait(waiting: () => Waiting, ms: number): Timer {
    return this.parts.clock.after(ms, () => this.giveUp(waiting(), "it has not answered in time"));
  }

  private giveUp(waiting: Waiting, reason: unknown): void {
    this.finish(waiting);
    const taken = this.leases.hold(waiting.request, this.parts.clock.now(), "unavailable");
    if (taken !== null) waiting.resolve(taken);
    else waiting.reject(reason instanceof StoreError ? reason : new StoreError(reason));
  }

  private finish(waiting: Waiting): void {
    waiting.timer.cancel();
    this.waiting.delete(waiting);
  }
}

function knowledgeOf({ orders }: Waiting): Knowledge {
  return orders < MAX_ORDERS ? "answered" : "final";
}
