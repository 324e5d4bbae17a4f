import type { Database } from "bun:sqlite";
import { PLATFORM_ACCOUNT, type Transfer } from "../../../core/ledger/records/records.ts";

/** Writes transfers, in a transaction of the caller. */
export class TransferWriter {
  private readonly insert;
  private readonly insertGrant;
  private readonly changeBalance;
  private readonly changeCredits;

  constructor(database: Database) {
    this.insert = database.query(
      `INSERT INTO transfers (id, kind, from_account, to_account, amount, created_at, note, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    );
    this.insertGrant = database.query(
      "INSERT INTO limited_grants (id, account_id, place, expires_at) VALUES (?, ?, ?, ?)",
    );
    this.changeBalance = database.query(
      `INSERT INTO balances (account_id, amount) VALUES (?, ?)
       ON CONFLICT (account_id) DO UPDATE SET amount = amount + excluded.amount`,
    );
    this.changeCredits = database.query(
      "UPDATE balances SET credited = credited + ?, version = version + ? WHERE account_id = ?",
    );
  }

  /** Writes the transfers whose ids are new and changes their accounts' balances. Returns how many were new. */
  add(transfers: readonly Transfer[]): number {
    /** One update per account, however many transfers it has. */
    const changes = new Map<string, number>();
    const credits = new Map<string, CreditChange>();
    let added = 0;
    for (const { id, kind, from, to, amount, createdAt, note, expiresAt } of transfers) {
      const written = this.insert.run(id, kind, from, to, amount, createdAt, note, expiresAt);
      if (written.changes === 0) continue;
      added += 1;
      if (expiresAt !== null) this.insertGrant.run(id, to, written.lastInsertRowid, expiresAt);
      addChange(changes, from, -amount);
      addChange(changes, to, amount);
      if (kind === "usage") continue;
      addCredit(credits, from, -amount);
      addCredit(credits, to, amount);
    }
    for (const [accountId, change] of [...changes].sort()) this.changeBalance.run(accountId, change);
    for (const [accountId, { sum, count }] of credits) this.changeCredits.run(sum, count, accountId);
    return added;
  }
}

/** The platform's balance is derived from the others: every transfer would update its row. */
function addChange(changes: Map<string, number>, accountId: string, amount: number): void {
  if (accountId !== PLATFORM_ACCOUNT) changes.set(accountId, (changes.get(accountId) ?? 0) + amount);
}

/** The transfers of one account other than costs of generations. */
interface CreditChange {
  readonly sum: number;
  readonly count: number;
}

function addCredit(credits: Map<string, CreditChange>, accountId: string, amount: number): void {
  const { sum, count } = credits.get(accountId) ?? { sum: 0, count: 0 };
  credits.set(accountId, { sum: sum + amount, count: count + 1 });
}
