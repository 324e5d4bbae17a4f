import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { PassingMap } from "../../../base/collections/passing-map.ts";
import type { LedgerStore } from "../records/ledger-store.ts";

/** The number of transfers whose accounts are read together. */
const PAGE = 500;
/** How long a balance is shown before it is read again: other gateways spend from it. Milliseconds. */
const SHOWN_MS = 2_000;
/** Reads of a balance while costs are saved, after which the last counts. */
const MAX_READS = 3;

interface Seen {
  /** The balance in the store, less what this gateway has spent and not saved. Nanodollars. */
  balance: number;
  /** The version of the account's credits when the balance was read; 0 if it is known from a loan only. */
  version: number;
  readAt: number;
}

/** The sources of shown balances. */
interface SeenBalancesParts {
  readonly store: Pick<LedgerStore, "findBalance" | "listCreditChanges">;
  readonly now: () => number;
  /** Accounts that are kept in memory. */
  readonly maxCached: number;
  /** Called with an account whose credits have changed. */
  readonly onCredited: (accountId: string) => void;
}

/**
 * Balances as known to a gateway that shares them: the last value from the store, less its own costs since. They are shown to people and
 * used to choose models. Only the leases decide what may be spent.
 */
export class SeenBalances {
  private readonly seen: BoundedMap<string, Seen>;
  /** Costs that are not saved, by generation. The recorder bounds their number. */
  private readonly unsaved = new PassingMap<string, { readonly accountId: string; readonly cost: number }>();
  private readonly sums = new Map<string, number>();
  private cursor: string | null = null;
  private last: Promise<void> = Promise.resolve();
  /** How often costs were saved. A balance that is read during a save may or may not include them. */
  private saves = 0;

  constructor(private readonly parts: SeenBalancesParts) {
    this.seen = new BoundedMap({ max: parts.maxCached });
  }

  /** Returns the known balance in nanodollars; null if it is not known. */
  cached(accountId: string): number | null {
    return this.seen.get(accountId)?.balance ?? null;
  }

  /** Returns a balance in nanodollars, which may be some seconds old. Rejects with a `StoreError` if it is not known. */
  async find(accountId: string): Promise<number> {
    const seen = this.seen.get(accountId);
    if (seen !== undefined && this.parts.now() - seen.readAt < SHOWN_MS) return seen.balance;
    try {
      return await this.read(accountId);
    } catch (error) {
      if (seen === undefined) throw error;
      return seen.balance;
    }
  }

  /** Sets a balance from the store, less unsaved costs. */
  set(accountId: string, balance: number): void {
    const version = this.seen.get(accountId)?.version ?? 0;
    this.seen.set(accountId, { balance, version, readAt: this.parts.now() });
  }

  /** Adds to a balance what no store will add. No-op if it is not known. */
  add(accountId: string, amount: number): void {
    const seen = this.seen.get(accountId);
    if (seen !== undefined) seen.balance += amount;
  }

  /** Counts the cost of a generation until it is saved. */
  spend(id: string, accountId: string, cost: number): void {
    if (cost === 0) return;
    this.unsaved.set(id, { accountId, cost });
    this.sums.set(accountId, (this.sums.get(accountId) ?? 0) + cost);
    this.add(accountId, -cost);
  }

  /** Forgets costs that the store has. */
  saved(ids: Iterable<string>): void {
    this.saves += 1;
    for (const id of ids) {
      const cost = this.unsaved.get(id);
      if (cost === undefined) continue;
      this.unsaved.delete(id);
      const rest = (this.sums.get(cost.accountId) ?? 0) - cost.cost;
      if (rest === 0) this.sums.delete(cost.accountId);
      else this.sums.set(cost.accountId, rest);
    }
  }

  /** Reads the balances again whose credits have changed in the store. */
  refresh(): Promise<void> {
    // One after another, and never shared: a caller's transfer is seen when its call resolves.
    this.last = this.last.catch(() => {}).then(() => this.readChanged());
    return this.last;
  }

  private async readChanged(): Promise<void> {
    const { store, onCredited } = this.parts;
    for (let hasMore = true; hasMore; ) {
      const changes = await store.listCreditChanges(this.cursor, PAGE);
      for (const { accountId, version } of changes.sums) {
        const seen = this.seen.get(accountId);
        if (seen?.version === version) continue;
        onCredited(accountId);
        if (seen !== undefined) await this.read(accountId);
      }
      this.cursor = changes.cursor;
      hasMore = changes.hasMore;
    }
  }

  /** Reads where changes begin, before the first balance is read. */
  private async begin(): Promise<void> {
    if (this.cursor !== null) return;
    const { cursor } = await this.parts.store.listCreditChanges(null, PAGE);
    this.cursor ??= cursor;
  }

  private async read(accountId: string): Promise<number> {
    await this.begin();
    for (let tries = 1; ; tries++) {
      const { saves } = this;
      const { balance: stored, version } = await this.parts.store.findBalance(accountId);
      if (saves !== this.saves && tries < MAX_READS) continue;
      const balance = stored - (this.sums.get(accountId) ?? 0);
      this.seen.set(accountId, { balance, version, readAt: this.parts.now() });
      return balance;
    }
  }
}
