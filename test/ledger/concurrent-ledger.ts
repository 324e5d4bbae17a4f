import type { CreditSum, LedgerStore } from "../../src/core/ledger/records/ledger-store.ts";
import { PLATFORM_ACCOUNT, type Transfer } from "../../src/core/ledger/records/records.ts";

interface Row {
  balance: number;
  credited: number;
  version: number;
  /** The transactions that wrote it. */
  writers: number[];
}

/**
 * A model of a ledger in PostgreSQL: transactions get their numbers when they begin, run side by side, and commit in any order. The
 * cursor of changes is the oldest transaction that runs, as `pg_snapshot_xmin` returns it.
 */
export class ConcurrentLedger
  implements Pick<LedgerStore, "findBalance" | "listCreditChanges" | "sumSpending">
{
  private readonly rows = new Map<string, Row>();
  private readonly running = new Set<number>();
  private lastTransaction = 0;

  /** Begins the transaction of a transfer and returns its commit. */
  begin({ from, to, kind, amount }: Transfer): () => Promise<void> {
    const transaction = ++this.lastTransaction;
    this.running.add(transaction);
    return async () => {
      this.running.delete(transaction);
      for (const [accountId, change] of [[from, -amount] as const, [to, amount] as const])
        if (accountId !== PLATFORM_ACCOUNT) this.write(transaction, accountId, change, kind !== "usage");
    };
  }

  async findBalance(accountId: string) {
    return { ...this.sumCredits(accountId), balance: this.rows.get(accountId)?.balance ?? 0 };
  }

  async listCreditChanges(cursor: string | null) {
    const oldest = Math.min(this.lastTransaction + 1, ...this.running);
    const changed = [...this.rows].filter(
      ([, { writers }]) => cursor !== null && writers.some((writer) => writer >= Number(cursor)),
    );
    const sums = changed.map(([accountId]) => this.sumCredits(accountId));
    return { sums, cursor: String(oldest), hasMore: false };
  }

  async sumSpending() {
    return 0;
  }

  private write(transaction: number, accountId: string, change: number, isCredit: boolean): void {
    const row = this.rows.get(accountId) ?? { balance: 0, credited: 0, version: 0, writers: [] };
    this.rows.set(accountId, row);
    row.balance += change;
    row.writers.push(transaction);
    if (!isCredit) return;
    row.credited += change;
    row.version += 1;
  }

  private sumCredits(accountId: string): CreditSum {
    const { credited, version } = this.rows.get(accountId) ?? { credited: 0, version: 0 };
    return { accountId, credited, version };
  }
}
