import type { SpendLimit } from "../../../src/core/ledger/holds/hold-book.ts";
import { BALANCE_LEASE, nameMeterLease } from "../../../src/core/ledger/leases/money-leases.ts";
import type { CreditChanges, StoredBalance } from "../../../src/core/ledger/records/ledger-store.ts";
import { MemoryLeaseBank } from "../../ledger/memory-money-leases.ts";

/** What a gateway writes about a generation. */
export interface SimulatedRecord {
  readonly id: string;
  readonly accountId: string;
  readonly limits: readonly SpendLimit[];
  readonly leasedFrom: readonly string[] | undefined;
  /** The most that it may cost while it runs. Nanodollars. */
  readonly held: number;
  /** Null while it runs. Nanodollars. */
  readonly cost: number | null;
}

interface Account {
  amount: number;
  credited: number;
  version: number;
}

/** The database that all gateways share: every method is one transaction. */
export class SharedLedger {
  readonly accounts = new Map<string, Account>();
  readonly spent = new Map<string, number>();
  /** The cost that was charged for each generation. */
  readonly charges = new Map<string, number>();
  readonly bank = new MemoryLeaseBank({
    balanceOf: (accountId) => this.account(accountId).amount,
    spentOf: (meter, since) => this.spent.get(nameMeterLease({ meter, since })) ?? 0,
  });

  account(id: string): Account {
    const found = this.accounts.get(id) ?? { amount: 0, credited: 0, version: 0 };
    this.accounts.set(id, found);
    return found;
  }

  credit(accountId: string, amount: number): void {
    const account = this.account(accountId);
    account.amount += amount;
    account.credited += amount;
    account.version += 1;
  }

  /** Takes back up to `left` of an expired grant, as far as no gateway has leased it. Marks the account as wanted if more is left. */
  expire(accountId: string, left: number): number {
    const free = this.account(accountId).amount - this.bank.sumLeases(accountId, BALANCE_LEASE);
    const taken = Math.max(0, Math.min(left, free));
    if (taken > 0) this.credit(accountId, -taken);
    if (taken < left) this.bank.want(accountId);
    return taken;
  }

  /** Saves the records of a gateway: those that have ended are charged once, and lower its leases. */
  save(gatewayId: string, epoch: number, records: readonly SimulatedRecord[]): void {
    this.bank.requireEpoch(gatewayId, epoch);
    for (const { id, accountId, limits, leasedFrom, cost } of records) {
      if (cost === null || this.charges.has(id)) continue;
      this.charges.set(id, cost);
      this.account(accountId).amount -= cost;
      for (const limit of limits) {
        const name = nameMeterLease(limit);
        this.spent.set(name, (this.spent.get(name) ?? 0) + cost);
      }
      this.bank.lower(gatewayId, { accountId, costNanodollars: cost, ...(leasedFrom ? { leasedFrom } : {}) });
    }
  }

  findBalance(accountId: string): StoredBalance {
    const { amount, credited, version } = this.account(accountId);
    return { accountId, balance: amount, credited, version };
  }

  listCreditChanges(cursor: string | null): CreditChanges {
    const sums = [...this.accounts].map(([accountId, { credited, version }]) => ({
      accountId,
      credited,
      version,
    }));
    return { sums: cursor === null ? [] : sums, cursor: "0", hasMore: false };
  }
}
