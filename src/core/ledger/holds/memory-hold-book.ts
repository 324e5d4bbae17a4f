import { nextTurn } from "../../../base/time/next-turn.ts";
import type { LedgerStore } from "../records/ledger-store.ts";
import { Balances } from "./balances.ts";
import type {
  AccountBalance,
  HoldBook,
  HoldRequest,
  HoldVerdict,
  ListedHold,
  SpendLimit,
} from "./hold-book.ts";

/** The number of transfers whose accounts are read together. */
const PAGE = 500;

/** How often a value is loaded again if other loads have evicted it before its use. */
const MAX_LOADS = 10;

/** The dependencies of a hold book in memory. */
export interface MemoryHoldBookParts {
  readonly store: Pick<LedgerStore, "findBalance" | "listCreditChanges" | "sumSpending">;
  /** Saves every cost that was charged so far in the store. Rejects with a `StoreError` if that fails. */
  readonly drain: () => Promise<void>;
  /** Accounts, and names of spending limits, that are kept in memory without a hold. Default: 100,000. */
  readonly maxCached?: number;
}

/**
 * A hold book in the memory of the only gateway that spends from a store. Other processes may write credits: `refresh` applies
 * them.
 */
export class MemoryHoldBook implements HoldBook {
  private readonly balances: Balances;
  /** Loads in progress, so that concurrent requests share them. */
  private readonly loading = new Map<string, Promise<void>>();
  /** Where the next refresh continues to read changes; null before the first. */
  private cursor: string | null = null;
  /** The end of the queue of refreshes. */
  private last: Promise<void> = Promise.resolve();
  /** The limits that are being loaded while generations run that count for them. */
  private readonly lateLoads = new Set<{ readonly limit: SpendLimit; isOutdated: boolean }>();
  /** How often an account or limit was evicted, and how many of these evictions the last drain has followed. */
  private evictions = 0;
  private drainedEvictions = 0;

  constructor(private readonly parts: MemoryHoldBookParts) {
    const onEvict = () => {
      this.evictions += 1;
    };
    const { maxCached } = parts;
    this.balances = new Balances(maxCached === undefined ? { onEvict } : { maxCached, onEvict });
  }

  /** The store has everything already. */
  async start(): Promise<void> {}

  async hold(request: HoldRequest): Promise<HoldVerdict> {
    for (let tries = 0; tries < MAX_LOADS && !this.isLoaded(request); tries++) await this.load(request);
    return this.balances.hold(request);
  }

  grow(id: string, amount: number): number {
    return this.balances.grow(id, amount);
  }

  async growSoon(id: string, amount: number): Promise<number> {
    return this.grow(id, amount);
  }

  settle(id: string, cost: number): void {
    if (this.lateLoads.size > 0) this.outdateLoads(id);
    this.balances.settle(id, cost);
  }

  credit(accountId: string, amount: number): void {
    this.balances.add(accountId, amount);
  }

  async balanceOf(accountId: string): Promise<AccountBalance> {
    for (let tries = 0; tries < MAX_LOADS; tries++) {
      const balance = this.balances.balanceOf(accountId);
      if (balance !== null) return balance;
      await this.loadAccount(accountId);
    }
    throw new Error(`the account ${accountId} is evicted as often as it is loaded`);
  }

  cachedBalanceOf(accountId: string): number | null {
    return this.balances.balanceOf(accountId)?.balance ?? null;
  }

  holds(): readonly ListedHold[] {
    return this.balances.holds();
  }

  refresh(now: number): Promise<void> {
    this.balances.sweep(now);
    // One after another, and never shared: a caller's transfer is applied when its call resolves.
    this.last = this.last.catch(() => {}).then(() => this.applyCredits());
    return this.last;
  }

  private isLoaded({ accountId, limits }: HoldRequest): boolean {
    for (const limit of limits) if (!this.balances.isMetered(limit)) return false;
    return this.balances.isLoaded(accountId);
  }

  private async load({ accountId, limits }: HoldRequest): Promise<void> {
    await Promise.all([this.loadAccount(accountId), ...limits.map((limit) => this.loadMeter(limit))]);
  }

  private loadAccount(accountId: string): Promise<void> {
    if (this.balances.isLoaded(accountId)) return Promise.resolve();
    return this.once(accountId, async () => {
      await this.begin();
      await this.saveEvicted();
      this.balances.load(await this.parts.store.findBalance(accountId));
    });
  }

  /** The store has everything that an earlier process spent; this one admits no request before its meters are loaded. */
  private loadMeter(limit: SpendLimit): Promise<void> {
    if (this.balances.isMetered(limit)) return Promise.resolve();
    return this.once(`${limit.meter}@${limit.since}`, async () => {
      if (limit.covers !== undefined) return this.loadLate(limit);
      await this.saveEvicted();
      this.balances.loadMeter(limit, await this.parts.store.sumSpending(limit.query));
    });
  }

  /** Loads a limit that is set while generations run. Their costs must either be in the store, or be counted when they end. */
  private async loadLate(limit: SpendLimit): Promise<void> {
    const load = { limit, isOutdated: false };
    this.lateLoads.add(load);
    try {
      for (let tries = 1; ; tries++) {
        load.isOutdated = false;
        await this.parts.drain();
        const spent = await this.parts.store.sumSpending(limit.query);
        if (!load.isOutdated || tries === MAX_LOADS) return this.balances.loadMeter(limit, spent);
      }
    } finally {
      this.lateLoads.delete(load);
    }
  }

  /** Invalidates loads of limits that count a generation that ends now: it may or may not be in their sums. */
  private outdateLoads(id: string): void {
    const spender = this.balances.spenderOf(id);
    for (const load of this.lateLoads)
      if (spender === undefined || load.limit.covers?.(spender) === true) load.isOutdated = true;
  }

  /** Reads where changes begin, before the first balance is read. */
  private async begin(): Promise<void> {
    if (this.cursor !== null) return;
    const { cursor } = await this.parts.store.listCreditChanges(null, PAGE);
    // Another load may have begun in the meantime, and earlier.
    if (this.cursor === null) this.cursor = cursor;
  }

  /** Saves the charges of an evicted account before it is loaded again. */
  private async saveEvicted(): Promise<void> {
    const { evictions } = this;
    if (this.drainedEvictions >= evictions) return;
    await this.parts.drain();
    this.drainedEvictions = Math.max(this.drainedEvictions, evictions);
  }

  private async applyCredits(): Promise<void> {
    // No balance was read yet.
    if (this.cursor === null) return;
    for (;;) {
      const { sums, cursor, hasMore } = await this.parts.store.listCreditChanges(this.cursor, PAGE);
      // Balances that are being loaded may have been read before these changes.
      await Promise.allSettled(this.loading.values());
      for (const sum of sums) this.balances.applyCredits(sum);
      this.cursor = cursor;
      if (!hasMore) return;
      await nextTurn();
    }
  }

  private once(name: string, load: () => Promise<void>): Promise<void> {
    const running = this.loading.get(name) ?? load().finally(() => this.loading.delete(name));
    this.loading.set(name, running);
    return running;
  }
}
