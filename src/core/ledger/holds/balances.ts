import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { PassingMap } from "../../../base/collections/passing-map.ts";
import { DAY_MS } from "../../../base/time/time.ts";
import type { CreditSum, StoredBalance } from "../records/ledger-store.ts";
import { chooseAmount } from "./choose-amount.ts";
import type {
  AccountBalance,
  HoldBound,
  HoldRequest,
  HoldVerdict,
  ListedHold,
  Spender,
  SpendLimit,
} from "./hold-book.ts";

interface Hold {
  readonly request: HoldRequest;
  /** Stays in memory as long as the hold exists. */
  readonly account: Account;
  /** The limits of the request, and limits that were set later and include it. */
  limits: readonly SpendLimit[];
  amount: number;
  /** The hold was not settled in time; its amount was released. */
  isLapsed: boolean;
}

/** How long a lapsed hold is kept, so that its generation is charged if it is still running. Milliseconds. */
const LAPSED_MS = DAY_MS;

interface Account {
  balance: number;
  held: number;
  /** The credits that `balance` includes. */
  credited: number;
  version: number;
  /** Holds in progress, lapsed ones included. */
  holds: number;
}

/** The spent and held amounts under a spending limit in one period. */
interface Meter {
  readonly since: number;
  spent: number;
  held: number;
  /** Holds in progress, lapsed ones included. */
  holds: number;
}

type MeterName = Pick<SpendLimit, "meter" | "since">;
type LoadedLimit = (MeterName & { readonly covers?: undefined }) | SpendLimit;

const NO_PERIODS: readonly Meter[] = [];

/** The number of periods that are kept for a limit: when one begins, requests of the previous one may still arrive. */
const PERIODS = 2;

/** Accounts, and names of spending limits, that are kept in memory. Those with a hold are kept beyond it. */
const MAX_CACHED = 100_000;

/** The dependencies of balances. */
interface BalancesOptions {
  /** Accounts, and names of spending limits, that are kept in memory without a hold. */
  readonly maxCached?: number;
  /** Called when an account or a limit was evicted. It must be loaded again before the next hold, with every cost charged so far. */
  readonly onEvict?: () => void;
}

/**
 * Balances, spending and holds in memory. Amounts are nanodollars. Taking a hold is atomic, because it is synchronous. Balances and
 * limits without a hold may be evicted and loaded again. Holds are never evicted.
 */
export class Balances {
  private readonly accounts: BoundedMap<string, Account>;
  /** By name, the newest period first. */
  private readonly meters: BoundedMap<string, readonly Meter[]>;
  private readonly running = new PassingMap<string, Hold>();

  constructor({ maxCached = MAX_CACHED, onEvict = () => {} }: BalancesOptions = {}) {
    const max = maxCached;
    this.accounts = new BoundedMap({ max, mayEvict: ({ holds }) => holds <= 0, onEvict });
    const mayEvict = (periods: readonly Meter[]) => periods.every(({ holds }) => holds <= 0);
    this.meters = new BoundedMap({ max, mayEvict, onEvict });
  }

  isLoaded(accountId: string): boolean {
    return this.accounts.get(accountId) !== undefined;
  }

  /** Sets an account's balance. No-op if it is loaded: later changes are credits and charges. */
  load({ accountId, balance, credited, version }: StoredBalance): void {
    if (this.isLoaded(accountId)) return;
    const account = { balance, held: 0, credited, version, holds: 1 };
    this.accounts.set(accountId, account);
    // Counted as a hold until here, so that it does not evict itself.
    account.holds = 0;
  }

  isMetered(limit: MeterName): boolean {
    return this.findMeter(limit) !== undefined;
  }

  /** Sets what was spent under a limit, once. Holds that were taken before the limit was set count for it from now on. */
  loadMeter(limit: LoadedLimit, spent: number): void {
    if (this.isMetered(limit)) return;
    const { meter, since } = limit;
    const period = { since, spent, held: 0, holds: 1 };
    const periods = [...(this.meters.get(meter) ?? []), period];
    this.meters.set(meter, periods.sort((a, b) => b.since - a.since).slice(0, PERIODS));
    if (limit.covers !== undefined) this.countEarlier(limit, period);
    period.holds -= 1;
  }

  /** Counts the holds in progress that were taken before a limit was set. */
  private countEarlier(limit: SpendLimit, period: Meter): void {
    for (const hold of this.running.values()) {
      const { spender } = hold.request;
      if (spender === undefined || limit.covers?.(spender) !== true) continue;
      hold.limits = [...hold.limits, limit];
      period.holds += 1;
      period.held += hold.amount;
    }
  }

  /** Adds to a balance what no credit in the store adds. No-op if the account is not loaded. */
  add(accountId: string, amount: number): void {
    const account = this.accounts.get(accountId);
    if (account !== undefined) account.balance += amount;
  }

  /** Applies an account's credits in the store. No-op if the account is not loaded, or the balance includes a later version. */
  applyCredits({ accountId, credited, version }: CreditSum): void {
    const account = this.accounts.get(accountId);
    if (account === undefined || account.version >= version) return;
    account.balance += credited - account.credited;
    account.credited = credited;
    account.version = version;
  }

  /** Takes a hold. The account and its limits must be loaded. */
  hold(request: HoldRequest): HoldVerdict {
    const required = request.least ?? request.amount;
    const { available, by, budget } = this.findAvailable(request, true);
    if (available < required && required > 0)
      return { kind: "refused", by, budget, available: Math.max(0, available), required };
    const account = this.accountOf(request.accountId);
    const hold: Hold = { request, account, limits: request.limits, amount: 0, isLapsed: false };
    this.running.set(request.id, hold);
    this.count(hold, 1);
    this.change(hold, chooseAmount(request, available));
    return { kind: "held", amount: hold.amount, available, by };
  }

  /** Raises a hold to `amount`, or as far as possible, and returns the amount that is held now: 0 without a hold. */
  grow(id: string, amount: number): number {
    const hold = this.running.get(id);
    if (hold === undefined) return 0;
    const { accountId, overdraft } = hold.request;
    const bounds = { accountId, overdraft, limits: hold.limits };
    const { available } = this.findAvailable(bounds, false);
    this.change(hold, Math.max(0, Math.min(amount - hold.amount, available)));
    return hold.amount;
  }

  /** Ends a hold and charges `cost`. No-op without a hold. */
  settle(id: string, cost: number): void {
    const hold = this.running.get(id);
    if (hold === undefined) return;
    this.end(hold);
    // The store quarantines a record whose cost is no exact amount; adding it here would corrupt the balance.
    if (Number.isSafeInteger(cost)) this.charge(hold, cost);
  }

  /** Releases lapsed holds and returns their number. The costs of their generations are charged when these end. */
  sweep(now: number): number {
    let lapsed = 0;
    for (const hold of this.running.values()) {
      const { expiresAt } = hold.request;
      if (expiresAt > now) continue;
      if (!hold.isLapsed) lapsed += 1;
      if (!hold.isLapsed) this.change(hold, -hold.amount);
      hold.isLapsed = true;
      if (expiresAt + LAPSED_MS <= now) this.end(hold);
    }
    return lapsed;
  }

  /** Returns null if the account is not loaded. */
  balanceOf(accountId: string): AccountBalance | null {
    const account = this.accounts.get(accountId);
    return account === undefined ? null : { balance: account.balance, held: account.held };
  }

  /** Returns the spender of a hold; undefined without a hold, or if it is not known. */
  spenderOf(id: string): Spender | undefined {
    return this.running.get(id)?.request.spender;
  }

  holds(): readonly ListedHold[] {
    return [...this.running.values()]
      .filter(({ amount, isLapsed }) => amount > 0 || !isLapsed)
      .map(({ request, amount }) => ({ id: request.id, accountId: request.accountId, amount }));
  }

  private accountOf(id: string): Account {
    const account = this.accounts.get(id);
    if (account === undefined) throw new Error(`the account ${id} is not loaded`);
    return account;
  }

  private findMeter({ meter, since }: MeterName): Meter | undefined {
    const periods = this.meters.get(meter) ?? NO_PERIODS;
    for (let at = 0; at < periods.length; at++) if (periods[at]?.since === since) return periods[at];
    return undefined;
  }

  private meterOf(limit: MeterName): Meter {
    const found = this.findMeter(limit);
    if (found === undefined) throw new Error(`the meter ${limit.meter} is not loaded`);
    return found;
  }

  /** Forgets a hold and releases what it holds. */
  private end(hold: Hold): void {
    this.running.delete(hold.request.id);
    this.change(hold, -hold.amount);
    this.count(hold, -1);
  }

  /** Counts a hold of an account and its limits. These are not evicted while they have one. */
  private count({ account, limits }: Hold, difference: 1 | -1): void {
    account.holds += difference;
    for (const limit of limits) {
      const meter = this.findMeter(limit);
      if (meter !== undefined) meter.holds += difference;
    }
  }

  /** Changes the held amount by `difference`, which may be negative. */
  private change(hold: Hold, difference: number): void {
    if (difference === 0) return;
    hold.amount += difference;
    hold.account.held += difference;
    for (const limit of hold.limits) {
      const meter = this.findMeter(limit);
      if (meter !== undefined) meter.held += difference;
    }
  }

  private charge({ account, limits }: Hold, cost: number): void {
    account.balance -= cost;
    for (const limit of limits) {
      const meter = this.findMeter(limit);
      if (meter !== undefined) meter.spent += cost;
    }
  }

  /**
   * Finds the amount that is left to hold, and the bound that limits it. A limit without a meter, of a period that ended long ago, limits
   * nothing, unless all of them must be loaded.
   */
  private findAvailable(
    { accountId, overdraft, limits }: Pick<HoldRequest, "accountId" | "overdraft" | "limits">,
    mustBeLoaded: boolean,
  ): { available: number; by: HoldBound; budget: SpendLimit["budget"] } {
    const { balance, held } = this.accountOf(accountId);
    let available = overdraft === null ? Number.POSITIVE_INFINITY : balance - held + overdraft;
    let by: HoldBound = "account";
    let budget: SpendLimit["budget"];
    for (const limit of limits) {
      if (limit.limit === null) continue;
      const meter = mustBeLoaded ? this.meterOf(limit) : this.findMeter(limit);
      if (meter === undefined) continue;
      const left = limit.limit - meter.spent - meter.held;
      if (left >= available) continue;
      available = left;
      ({ of: by, budget } = limit);
    }
    return { available, by, budget };
  }
}
