import { Balances } from "./balances.ts";
import type {
  AccountBalance,
  HoldBook,
  HoldRequest,
  HoldVerdict,
  ListedHold,
  SpendLimit,
} from "./hold-book.ts";
import type { LedgerStore } from "./ledger-store.ts";

/** Deposits that are read at once. */
const PAGE = 500;

/**
 * A hold book in the memory of the only gateway that spends from a data directory. Other processes may deposit: `refresh` applies
 * their transfers.
 */
export class MemoryHoldBook implements HoldBook {
  private readonly balances = new Balances();
  /** Loads in progress, so that concurrent requests share them. */
  private readonly loading = new Map<string, Promise<void>>();
  /** The sequence number of the newest deposit that the balances include. */
  private appliedPlace = 0;
  /** The end of the queue of loads and refreshes. */
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly store: Pick<LedgerStore, "findBalance" | "listDeposits" | "sumSpending">) {}

  async hold(request: HoldRequest): Promise<HoldVerdict> {
    const unmetered = request.limits.filter((limit) => !this.balances.isMetered(limit));
    if (unmetered.length > 0 || !this.balances.isLoaded(request.accountId)) {
      const meters = unmetered.map((limit) => this.loadMeter(limit));
      await Promise.all([this.loadAccount(request.accountId), ...meters]);
    }
    return this.balances.hold(request);
  }

  grow(id: string, amount: number): number {
    return this.balances.grow(id, amount);
  }

  settle(id: string, cost: number): void {
    this.balances.settle(id, cost);
  }

  credit(accountId: string, amount: number): void {
    this.balances.deposit(accountId, amount);
  }

  async balanceOf(accountId: string): Promise<AccountBalance> {
    await this.loadAccount(accountId);
    return this.balances.balanceOf(accountId) ?? { balance: 0, held: 0 };
  }

  cachedBalanceOf(accountId: string): number | null {
    return this.balances.balanceOf(accountId)?.balance ?? null;
  }

  holds(): readonly ListedHold[] {
    return this.balances.holds();
  }

  refresh(now: number): Promise<void> {
    this.balances.sweep(now);
    return this.inTurn(() => this.applyDeposits());
  }

  private loadAccount(accountId: string): Promise<void> {
    if (this.balances.isLoaded(accountId)) return Promise.resolve();
    return this.once(accountId, () => this.inTurn(() => this.readBalance(accountId)));
  }

  /** The store has everything that an earlier process spent; this one admits no request before its meters are loaded. */
  private loadMeter(limit: SpendLimit): Promise<void> {
    return this.once(`${limit.meter}@${limit.since}`, async () =>
      this.balances.loadMeter(limit, await this.store.sumSpending(limit.query)),
    );
  }

  /** Loads a balance that includes exactly the deposits that were applied: those that follow are added to it. */
  private async readBalance(accountId: string): Promise<void> {
    for (;;) {
      await this.applyDeposits();
      const { balance, depositPlace } = await this.store.findBalance(accountId);
      if (depositPlace !== this.appliedPlace) continue;
      this.balances.load(accountId, balance);
      return;
    }
  }

  private async applyDeposits(): Promise<void> {
    for (;;) {
      const deposits = await this.store.listDeposits(this.appliedPlace, PAGE);
      for (const { from, to, amount } of deposits) {
        this.balances.deposit(from, -amount);
        this.balances.deposit(to, amount);
      }
      this.appliedPlace = deposits.at(-1)?.place ?? this.appliedPlace;
      if (deposits.length < PAGE) return;
    }
  }

  /** Runs one after the other: two reads at once would apply a deposit twice, or lose it between two balances. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    this.last = this.last.catch(() => {}).then(work);
    return this.last;
  }

  private once(name: string, load: () => Promise<void>): Promise<void> {
    const running = this.loading.get(name) ?? load().finally(() => this.loading.delete(name));
    this.loading.set(name, running);
    return running;
  }
}
