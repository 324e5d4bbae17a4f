import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { PassingMap } from "../../../base/collections/passing-map.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { DAY_MS, MINUTE_MS } from "../../../base/time/time.ts";
import type {
  AccountBalance,
  HoldBook,
  HoldRequest,
  HoldVerdict,
  ListedHold,
  SpendLimit,
} from "../holds/hold-book.ts";
import { SeenBalances } from "../holds/seen-balances.ts";
import type { LedgerStore } from "../records/ledger-store.ts";
import { AccountBorrower } from "./account-borrower.ts";
import { AccountLeases, type LeasedHold } from "./account-leases.ts";
import { type MoneyLeases, nameMeterLease } from "./money-leases.ts";
import type { TakenHold } from "./waiting-holds.ts";

/** How long a lapsed hold is kept, so that its generation is charged if it is still running. Milliseconds. */
const LAPSED_MS = DAY_MS;
/** How long a hold waits for other gateways. Milliseconds. */
const WAIT_MS = 300;
/** The maximum number of orders for a hold that grows by all that is left, because the rest may change while an order is on its way. */
const MAX_GROWTHS = 4;
/** How long a hold that grows waits for each. Milliseconds. */
const GROW_MS = 300;
/**
 * How long the money of a lapsed hold can still not be spent by others: a process that was stopped, and so has missed the end of its
 * generations, settles them first. Milliseconds.
 */
const LATE_MS = 60_000;
/** Accounts that are kept in memory. Those with a hold or a lease are kept beyond it. */
const MAX_CACHED = 100_000;
/** The number of accounts whose leases one refresh checks. */
const MAX_SWEPT = 5_000;

/** The dependencies of a hold book over leases. */
export interface LeasedHoldBookParts {
  readonly leases: MoneyLeases;
  readonly store: Pick<LedgerStore, "findBalance" | "listCreditChanges">;
  readonly clock: Clock;
  /** How long a hold waits for other gateways to give back what they do not need. Default: 300 milliseconds. */
  readonly waitMs?: number;
  /** For how long what is leased of an ample balance should suffice while the store is unavailable. Default: one minute. */
  readonly horizonMs?: number;
  /** Called with each failure of an order. */
  readonly onFailure?: (error: unknown) => void;
  /** Accounts that are kept in memory without a hold or a lease. Default: 100,000. */
  readonly maxCached?: number;
}

/**
 * The hold book of one of several gateways (docs/adr/0012-several-gateways.md). It spends what it has leased of balances and spending
 * limits in memory, and borrows when a hold needs more. `start` reads the leases of an earlier process before the first hold.
 */
export class LeasedHoldBook implements HoldBook {
  private readonly accounts: BoundedMap<string, AccountBorrower>;
  private readonly running = new PassingMap<string, LeasedHold>();
  private readonly balances: SeenBalances;
  /** Generations that have spent and are not saved. */
  private readonly unsaved = new PassingMap<string, { readonly hold: LeasedHold; readonly cost: number }>();
  /** The account that was added last and is not in use yet. */
  private newest: AccountBorrower | null = null;
  private tickets = 0;
  /** The position from which the next refresh continues to look for leases that are not needed. */
  private sweep: Iterator<AccountBorrower> = [].values();

  constructor(private readonly parts: LeasedHoldBookParts) {
    const { store, clock, maxCached = MAX_CACHED } = parts;
    this.accounts = new BoundedMap({
      max: maxCached,
      mayEvict: (account) => account.isIdle && account !== this.newest,
    });
    this.balances = new SeenBalances({
      store,
      now: () => clock.now(),
      maxCached,
      onCredited: (accountId) => this.accounts.get(accountId)?.leases.forgetStore(),
    });
  }

  async start(): Promise<void> {
    const { leases, ticket } = await this.parts.leases.listLeases();
    const now = this.parts.clock.now();
    this.tickets = Math.max(this.tickets, ticket);
    for (const { accountId, name, amount } of leases)
      this.accountOf(accountId).leases.add(name, amount, { answer: null, now });
  }

  async hold(request: HoldRequest): Promise<HoldVerdict> {
    const account = this.accountOf(request.accountId);
    for (const limit of request.limits) if (limit.covers !== undefined) this.beginLate(account.leases, limit);
    const taken = account.take(request);
    return this.begin(account, taken ?? (await account.borrow(request)));
  }

  /** Lowers a recently set limit by the holds and unsaved costs of earlier generations. */
  private beginLate(leases: AccountLeases, limit: SpendLimit): void {
    const name = nameMeterLease(limit);
    if (leases.has(name)) return;
    const counts = ({ request: { accountId, spender }, bounds, unbounded }: LeasedHold): boolean =>
      accountId === leases.accountId &&
      spender !== undefined &&
      limit.covers?.(spender) === true &&
      !unbounded.includes(name) &&
      bounds.every((bound) => bound.name !== name);
    for (const hold of this.running.values()) if (counts(hold)) leases.countLate(hold, name, hold.amount);
    for (const { hold, cost } of this.unsaved.values()) if (counts(hold)) leases.countLate(hold, name, cost);
  }

  grow(id: string, amount: number): number {
    const hold = this.running.get(id);
    if (hold === undefined) return 0;
    const account = this.accountOf(hold.request.accountId);
    const missing = account.leases.grow(hold, amount);
    this.borrowAhead(account, hold, missing);
    return hold.amount;
  }

  async growSoon(id: string, amount: number): Promise<number> {
    let held = this.grow(id, amount);
    const hold = this.running.get(id);
    if (hold === undefined) return held;
    const account = this.accountOf(hold.request.accountId);
    for (let tries = 0; tries < MAX_GROWTHS && held < amount; tries++) {
      await account.whenQuiet(GROW_MS);
      if (!this.running.has(id)) return 0;
      const missing = account.leases.grow(hold, amount);
      held = hold.amount;
      if (missing > 0) account.borrowRest(hold, missing);
    }
    return held;
  }

  settle(id: string, cost: number): void {
    const hold = this.running.get(id);
    if (hold === undefined) return;
    // The store quarantines a record whose cost is not an exact amount, and charges nothing.
    this.end(hold, Number.isSafeInteger(cost) ? cost : 0);
  }

  credit(accountId: string, amount: number, leasedFrom: readonly string[] = []): void {
    this.balances.add(accountId, amount);
    const now = this.parts.clock.now();
    for (const name of leasedFrom) this.accountOf(accountId).leases.add(name, amount, { answer: null, now });
  }

  async balanceOf(accountId: string): Promise<AccountBalance> {
    return { balance: await this.balances.find(accountId), held: this.sumHeld(accountId) };
  }

  cachedBalanceOf(accountId: string): number | null {
    return this.balances.cached(accountId);
  }

  holds(): readonly ListedHold[] {
    return [...this.running.values()]
      .filter(({ lapsedAt }) => lapsedAt === null)
      .map(({ request, amount }) => ({ id: request.id, accountId: request.accountId, amount }));
  }

  /** Also gives back what is not needed here. */
  async refresh(now: number): Promise<void> {
    this.lapse(now);
    this.giveBackUnused();
    await Promise.all([this.balances.refresh(), this.giveBackWanted()]);
  }

  /** Gives back the free money of accounts that other gateways want. */
  async giveBackWanted(): Promise<void> {
    for (const accountId of await this.parts.leases.listWanted())
      void this.accounts.get(accountId)?.giveBack(true);
  }

  /** Forgets the costs of generations that the store has. */
  saved(ids: readonly string[]): void {
    this.balances.saved(ids);
    for (const id of ids) {
      const spent = this.unsaved.get(id);
      if (spent === undefined) continue;
      this.unsaved.delete(id);
      this.accountOf(spent.hold.request.accountId).leases.saved(spent.hold.unbounded, spent.cost);
    }
  }

  private begin(account: AccountBorrower, taken: TakenHold): HoldVerdict {
    if ("refused" in taken) return taken.refused;
    const { hold, of } = taken;
    this.running.set(hold.request.id, hold);
    this.borrowAhead(account, hold, 0);
    const leasedFrom = hold.bounds.map(({ name }) => name);
    return {
      kind: "held",
      amount: hold.amount,
      available: of.available,
      by: of.by,
      ...(leasedFrom.length === 0 ? {} : { leasedFrom }),
    };
  }

  /** Borrows what a hold lacks, or will lack when it is doubled. */
  private borrowAhead(account: AccountBorrower, hold: LeasedHold, missing: number): void {
    const { amount, most = amount } = hold.request;
    const free = account.leases.freeOf(hold);
    const next = Math.max(missing === 0 ? 0 : free + missing, Math.min(hold.amount, most - hold.amount));
    if (next > free) account.borrowAhead(hold, next);
  }

  private end(hold: LeasedHold, cost: number): void {
    const { id, accountId } = hold.request;
    this.running.delete(id);
    const account = this.accountOf(accountId);
    account.leases.end(hold, cost, this.parts.clock.now());
    if (cost > 0) account.refill(hold.request);
    this.balances.spend(id, accountId, cost);
    if (cost > 0) this.unsaved.set(id, { hold, cost });
  }

  /** Ends holds that were not settled in time, and releases them a minute later. */
  private lapse(now: number): void {
    for (const hold of this.running.values()) {
      const { accountId, expiresAt } = hold.request;
      if (expiresAt > now) continue;
      hold.lapsedAt ??= now;
      if (now - hold.lapsedAt >= LATE_MS) this.accountOf(accountId).leases.release(hold);
      if (expiresAt + LAPSED_MS <= now) this.end(hold, 0);
    }
  }

  private giveBackUnused(): void {
    const isFull = this.accounts.size > (this.parts.maxCached ?? MAX_CACHED);
    const count = Math.min(MAX_SWEPT, this.accounts.size);
    for (let looked = 0; looked < count; looked++) {
      let next = this.sweep.next();
      if (next.done === true) {
        this.sweep = this.accounts.values();
        next = this.sweep.next();
      }
      if (next.done !== true) void next.value.giveBack(isFull);
    }
  }

  private sumHeld(accountId: string): number {
    let sum = 0;
    for (const { request, amount, lapsedAt } of this.running.values())
      if (request.accountId === accountId && lapsedAt === null) sum += amount;
    return sum;
  }

  private accountOf(accountId: string): AccountBorrower {
    const found = this.accounts.get(accountId);
    if (found !== undefined) return found;
    const {
      leases: store,
      clock,
      waitMs = WAIT_MS,
      horizonMs = MINUTE_MS,
      onFailure = () => {},
    } = this.parts;
    const account = new AccountBorrower(new AccountLeases(accountId, horizonMs), {
      store,
      clock,
      waitMs,
      onFailure,
      nextTicket: () => ++this.tickets,
      onBalance: (id, balance) => this.balances.set(id, balance),
    });
    this.newest = account;
    this.accounts.set(accountId, account);
    return account;
  }
}
