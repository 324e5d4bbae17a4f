import type { Database } from "bun:sqlite";
import { decideRefund } from "../../../core/ledger/credits/refunds.ts";
import type {
  CreditChanges,
  CreditSum,
  EndedGrant,
  LedgerStore,
  RefundEntry,
  RefundVerdict,
  SpendQuery,
  StoredTransfer,
  SumsByKind,
  UnmatchedUsage,
} from "../../../core/ledger/records/ledger-store.ts";
import {
  PLATFORM_ACCOUNT,
  refundIdOf,
  type Transfer,
  type TransferKind,
} from "../../../core/ledger/records/records.ts";
import { readTransfer, type TransferRow } from "../../sql/transfer-row.ts";
import { DroppedGenerations } from "./dropped-generations.ts";
import { Grants } from "./grants.ts";
import { TransferWriter } from "./transfers.ts";

type CreditRow = Pick<TransferRow<number>, "place" | "from_account" | "to_account">;

/** The ledger in SQLite. Every method reads and writes in one transaction. */
export class SqliteLedgerStore implements LedgerStore {
  private readonly transfers: TransferWriter;
  private readonly grants: Grants;
  private readonly dropped: DroppedGenerations;
  private readonly byId;
  private readonly balance;
  private readonly credits;
  private readonly newestCredit;
  private readonly creditsAfter;
  private readonly budgetSum;

  constructor(private readonly database: Database) {
    this.transfers = new TransferWriter(database);
    this.grants = new Grants(database, this.transfers);
    this.dropped = new DroppedGenerations(database);
    this.byId = database.query<TransferRow, [string]>("SELECT * FROM transfers WHERE id = ?");
    this.balance = database.query<{ amount: number }, [string]>(
      "SELECT amount FROM balances WHERE account_id = ?",
    );
    this.credits = database.query<{ credited: number; version: number }, [string]>(
      "SELECT credited, version FROM balances WHERE account_id = ?",
    );
    this.budgetSum = database.query<{ spent: number }, [string, string, number, number]>(BUDGET_SUM);
    this.newestCredit = database.query<{ place: number | null }, []>(
      "SELECT max(place) AS place FROM transfers WHERE kind <> 'usage'",
    );
    this.creditsAfter = database.query<CreditRow, [number, number]>(
      `SELECT place, from_account, to_account FROM transfers
       WHERE kind <> 'usage' AND place > ? ORDER BY place LIMIT ?`,
    );
  }

  async addTransfer(transfer: Transfer): Promise<boolean> {
    return this.database.transaction(() => this.transfers.add([transfer]) === 1).immediate();
  }

  async findTransfer(id: string): Promise<StoredTransfer | null> {
    return this.readById(id);
  }

  async listRefunds(generationId: string, limit: number) {
    const refunds = this.database.query<TransferRow, [string, number]>(
      `SELECT * FROM transfers WHERE id = ?1 OR (id > ?1 || ':' AND id < ?1 || ';') ORDER BY place LIMIT ?2`,
    );
    return refunds.all(refundIdOf(generationId, null), limit).map(readTransfer);
  }

  async findBalance(accountId: string) {
    return this.database.transaction(() => ({
      ...this.sumCredits(accountId),
      balance: this.readBalance(accountId),
    }))();
  }

  async listCreditChanges(cursor: string | null, limit: number): Promise<CreditChanges> {
    return this.database.transaction(() => this.readChanges(cursor, limit))();
  }

  async listTransfers(accountId: string, beforePlace: number, limit: number, kind?: TransferKind) {
    const page = [accountId, beforePlace, limit] as const;
    const filter = kind === undefined || kind === "usage" ? [] : [kind];
    const statement = this.database.query<TransferRow, (string | number)[]>(describeListing(kind));
    return statement.all(...page, ...filter).map(readTransfer);
  }

  async sumTransfers(accountId: string): Promise<SumsByKind> {
    return this.database.transaction(() => this.sumByKind(accountId))();
  }

  async addRefund(refund: RefundEntry): Promise<RefundVerdict> {
    return this.database.transaction(() => this.refund(refund)).immediate();
  }

  async findGrantsLeft(accountId: string) {
    return this.grants.findLeft(accountId);
  }

  async listEndedGrants(now: number, limit: number, last: EndedGrant | null = null) {
    return this.grants.listEnded(now, limit, last);
  }

  async expireGrant(grantId: string, now: number) {
    return this.grants.expire(grantId, now);
  }

  async sumSpending(query: SpendQuery) {
    const { budget, days } = query;
    if (budget !== undefined) {
      const { from, to } = days ?? { from: 0, to: 0 };
      return this.budgetSum.get(budget.id, budget.value, from, to)?.spent ?? 0;
    }
    const { text, values } = describeSpending(query);
    return this.database.query<{ spent: number }, (string | number)[]>(text).get(...values)?.spent ?? 0;
  }

  async findUnmatchedUsage(limit: number) {
    return this.database.query<UnmatchedUsage, [number]>(UNMATCHED_USAGE).all(limit);
  }

  async findDifferences() {
    const differences = this.database.query<{ accountId: string; difference: number }, [string]>(DIFFERENCES);
    return differences.all(PLATFORM_ACCOUNT);
  }

  /** Only one transaction writes at a time, so sequence numbers are committed in their order. */
  private readChanges(cursor: string | null, limit: number): CreditChanges {
    if (cursor === null)
      return { sums: [], cursor: String(this.newestCredit.get()?.place ?? 0), hasMore: false };
    const rows = this.creditsAfter.all(Number(cursor), limit);
    const accounts = new Set(rows.flatMap((row) => [row.from_account, row.to_account]));
    accounts.delete(PLATFORM_ACCOUNT);
    return {
      sums: [...accounts].map((accountId) => this.sumCredits(accountId)),
      cursor: String(rows.at(-1)?.place ?? cursor),
      hasMore: rows.length === limit,
    };
  }

  private sumCredits(accountId: string): CreditSum {
    return { accountId, ...(this.credits.get(accountId) ?? { credited: 0, version: 0 }) };
  }

  private readById(id: string): StoredTransfer | null {
    const row = this.byId.get(id);
    return row === null ? null : readTransfer(row);
  }

  /** The platform has no row: its balance is the negative sum of all others. */
  private readBalance(accountId: string): number {
    if (accountId !== PLATFORM_ACCOUNT) return this.balance.get(accountId)?.amount ?? 0;
    const others = this.database.query<{ amount: number }, []>(
      "SELECT 0 - coalesce(sum(amount), 0) AS amount FROM balances",
    );
    return others.get()?.amount ?? 0;
  }

  private refund(refund: RefundEntry): RefundVerdict {
    const decision = decideRefund(refund, {
      charge: this.readById(refund.generationId),
      existing: this.readById(refund.id),
      refunded: this.sumRefunds(refund.generationId),
      isDropped: this.dropped.includes(refund.generationId),
    });
    if (decision.kind !== "refund") return decision;
    this.transfers.add([decision.transfer]);
    return { kind: "refunded", transfer: this.readById(refund.id) as StoredTransfer };
  }

  /** Sums the refunds of a generation. The id of a named refund is the id of the unnamed one, a colon and the name. */
  private sumRefunds(generationId: string): number {
    const refunds = this.database.query<{ amount: number }, [string]>(
      "SELECT coalesce(sum(amount), 0) AS amount FROM transfers WHERE id = ?1 OR (id > ?1 || ':' AND id < ?1 || ';')",
    );
    return refunds.get(refundIdOf(generationId, null))?.amount ?? 0;
  }

  private sumByKind(accountId: string): SumsByKind {
    const sums = { usage: 0, grant: 0, purchase: 0, refund: 0, expiry: 0, correction: 0 };
    const credits = this.database.query<{ kind: TransferKind; amount: number }, [string]>(CREDIT_SUMS);
    let credited = 0;
    for (const { kind, amount } of credits.all(accountId)) {
      sums[kind] = amount;
      credited += amount;
    }
    // An account may have millions of usage transfers. Their sum is the rest of the balance.
    return { ...sums, usage: this.readBalance(accountId) - credited };
  }
}

const BUDGET_SUM = `SELECT coalesce(sum(spent), 0) AS spent FROM budget_days
  WHERE budget_id = ? AND value = ? AND day BETWEEN ? AND ?`;

/**
 * Returns the statement that lists an account's transfers; its parameters are the account, the page and the kind. Most transfers are usage.
 * All of them go to the platform, so they have no index on that side.
 */
function describeListing(kind: TransferKind | undefined): string {
  const page = "place < ?2";
  const order = "ORDER BY place DESC LIMIT ?3";
  const from = `SELECT * FROM transfers WHERE from_account = ?1 AND ${page}`;
  const to = `SELECT * FROM transfers WHERE to_account = ?1 AND kind <> 'usage' AND ${page}`;
  if (kind === "usage") return `${from} AND kind = 'usage' ${order}`;
  if (kind === undefined) return `SELECT * FROM (${from} UNION ALL ${to}) ${order}`;
  return `SELECT * FROM (${from} AND kind <> 'usage' AND kind = ?4 UNION ALL ${to} AND kind = ?4) ${order}`;
}

const CREDIT_SUMS = `SELECT kind, sum(amount) AS amount FROM (
    SELECT kind, amount FROM transfers WHERE to_account = ?1 AND kind <> 'usage'
    UNION ALL SELECT kind, -amount FROM transfers WHERE from_account = ?1 AND kind <> 'usage'
  ) GROUP BY kind`;

const UNMATCHED_USAGE = `SELECT id AS generationId, sum(recorded) AS recorded, sum(transferred) AS transferred FROM (
    SELECT id, account_id, cost AS recorded, 0 AS transferred FROM generations
      WHERE account_id IS NOT NULL AND cost > 0
    UNION ALL SELECT id, from_account, 0, amount FROM transfers WHERE kind = 'usage'
  ) GROUP BY id, account_id HAVING sum(recorded) <> sum(transferred) LIMIT ?`;

const DIFFERENCES = `SELECT account_id AS accountId, sum(amount) AS difference FROM (
    SELECT to_account AS account_id, amount FROM transfers
    UNION ALL SELECT from_account, -amount FROM transfers
    UNION ALL SELECT account_id, -amount FROM dropped_charges
    UNION ALL SELECT account_id, -amount FROM balances
  ) WHERE account_id <> ? GROUP BY account_id HAVING sum(amount) <> 0`;

/** Returns the statement of a query and its parameters. It has only the conditions of the query, so that SQLite finds an index. */
export function describeSpending({ days, ...scope }: Omit<SpendQuery, "budget">) {
  const conditions = ["1 = 1"];
  const values: (string | number)[] = [];
  for (const name of ["accountId", "userId", "keyId"] as const) {
    const value = scope[name];
    if (value === undefined) continue;
    conditions.push(`${COLUMNS[name]} = ?${values.push(value)}`);
  }
  if (days !== undefined) {
    conditions.push(`day BETWEEN ?${values.push(days.from)} AND ?${values.push(days.to)}`);
  }
  const spentIn = (table: string) =>
    `(SELECT coalesce(sum(cost), 0) FROM ${table} WHERE ${conditions.join(" AND ")})`;
  // Earlier versions have saved the sums of days.
  return { text: `SELECT ${spentIn("usage_sums")} + ${spentIn("usage_days")} AS spent`, values };
}

const COLUMNS = { accountId: "account_id", userId: "user_id", keyId: "key_id" } as const;
