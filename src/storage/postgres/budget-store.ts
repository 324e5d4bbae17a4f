import type { BudgetRecord } from "../../core/accounts/budget-records.ts";
import {
  type BudgetMark,
  type BudgetStore,
  type BudgetSumQuery,
  MAX_BUDGETS,
} from "../../core/accounts/budget-store.ts";
import { LATE_METERS } from "../../core/ledger/budget-limits.ts";
import {
  BUDGET_COLUMNS,
  type BudgetRow,
  encodeBudget,
  listEarlierSums,
  readBudget,
} from "../usage-sql/budget-rows.ts";
import type { Postgres, SqlRunner } from "./client.ts";
import { lockBalance } from "./lease-rows.ts";
import { type KnownRevisions, Revision } from "./revision.ts";
import { readInteger } from "./values.ts";

/** Budgets in PostgreSQL. */
export class PostgresBudgetStore implements BudgetStore {
  private readonly revision: Revision;

  constructor(
    private readonly database: Postgres,
    revisions?: KnownRevisions,
  ) {
    this.revision = new Revision(database, "accounts", revisions);
  }

  async listBudgets(accountId: string) {
    const rows = await this.database.run<BudgetRow>(
      "SELECT * FROM budgets WHERE account_id = $1 ORDER BY id",
      [accountId],
    );
    return rows.map(readBudget);
  }

  async listAllBudgets(afterId: string | null, limit: number) {
    const rows = await this.database.run<BudgetRow>(
      "SELECT * FROM budgets WHERE id > $1 ORDER BY id LIMIT $2",
      [afterId ?? "", limit],
    );
    return rows.map(readBudget);
  }

  findBudget(id: string) {
    return findOne(this.database, id);
  }

  insertBudget(budget: BudgetRecord) {
    const insert = async (sql: SqlRunner) => {
      const { accountId } = budget;
      const [row] = await sql.run<{ count: string }>(
        "SELECT count(*) AS count FROM budgets WHERE account_id = $1",
        [accountId],
      );
      if (readInteger(row?.count ?? "0") >= MAX_BUDGETS) return false;
      // A save of a cost locks the balance first: it is in the usage sums by now, or finds the budget.
      await lockBalance(sql, accountId);
      const values = encodeBudget(budget);
      const marks = values.map((_, at) => `$${at + 1}`).join(", ");
      await sql.run(`INSERT INTO budgets (${BUDGET_COLUMNS}) VALUES (${marks})`, values);
      await countEarlier(sql, budget);
      return true;
    };
    return this.revision.change(insert, (isInserted) => isInserted);
  }

  changeBudget(id: string, change: (budget: BudgetRecord) => BudgetRecord) {
    const replace = async (sql: SqlRunner) => {
      const before = await findOne(sql, id);
      if (before === null) return null;
      const after = change(before);
      const { name, limit, action, warnAt } = after;
      await sql.run(
        "UPDATE budgets SET name = $2, spend_limit = $3, action = $4, warn_at = $5 WHERE id = $1",
        [...[id, name, limit, action, warnAt]],
      );
      return after;
    };
    return this.revision.change(replace, (budget) => budget !== null);
  }

  deleteBudget(id: string) {
    const remove = async (sql: SqlRunner) => {
      const before = await findOne(sql, id);
      if (before === null) return false;
      // Saves and borrows of the account, which lock its balance first, wait for the end.
      await lockBalance(sql, before.accountId);
      await sql.run("DELETE FROM budgets WHERE id = $1", [id]);
      await sql.run("DELETE FROM budget_days WHERE budget_id = $1", [id]);
      await sql.run("DELETE FROM budget_marks WHERE budget_id = $1", [id]);
      // What gateways have leased is given back, and deleted with old periods.
      await sql.run(
        "DELETE FROM spending WHERE (meter = $1 OR (meter > $1 || '/' AND meter < $1 || '0')) AND leased = 0",
        [LATE_METERS + id],
      );
      return true;
    };
    return this.revision.change(remove, (isDeleted) => isDeleted);
  }

  async sumBudget({ budgetId, value, days, least, limit }: BudgetSumQuery) {
    const rows = await this.database.run<{ value: string; spent: string }>(
      `SELECT value, sum(spent) AS spent FROM budget_days
       WHERE budget_id = $1 AND ($2::text IS NULL OR value = $2) AND day BETWEEN $3 AND $4
       GROUP BY value HAVING sum(spent) >= $5 ORDER BY sum(spent) DESC, value LIMIT $6`,
      [budgetId, value ?? null, days.from, days.to, least, limit],
    );
    return rows.map((row) => ({ value: row.value, spent: readInteger(row.spent) }));
  }

  async claimMark({ budgetId, value, since, level }: BudgetMark) {
    const rows = await this.database.run(
      "INSERT INTO budget_marks VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING 1 AS one",
      [budgetId, value, since, level],
    );
    return rows.length > 0;
  }

  async mergeDays(day: number) {
    await this.database.transaction(async (sql) => {
      for (const statement of MERGE) await sql.run(statement, [day]);
    });
  }
}

async function findOne(sql: Pick<SqlRunner, "run">, id: string): Promise<BudgetRecord | null> {
  const [row] = await sql.run<BudgetRow>("SELECT * FROM budgets WHERE id = $1", [id]);
  return row === undefined ? null : readBudget(row);
}

/** Adds what usage sums tell of earlier spending. */
async function countEarlier(sql: SqlRunner, budget: BudgetRecord): Promise<void> {
  for (const { table, value, condition } of listEarlierSums(budget))
    await sql.run(
      `INSERT INTO budget_days AS known (budget_id, value, day, spent)
       SELECT $1::text, ${value} AS named, day, sum(cost) FROM ${table}
       WHERE account_id = $2::text AND ${condition("$3::text")}
       GROUP BY named, day HAVING sum(cost) > 0
       ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = known.spent + excluded.spent`,
      [budget.id, budget.accountId, budget.subjectId ?? budget.accountId],
    );
}

/** The rows are deleted by the statement that sums them, so that none that comes in between is lost. */
const MERGE = [
  `WITH merged AS (DELETE FROM budget_days WHERE day > 0 AND day < $1 RETURNING budget_id, value, spent)
   INSERT INTO budget_days AS known (budget_id, value, day, spent)
   SELECT budget_id, value, 0, sum(spent) FROM merged
   WHERE budget_id IN (SELECT id FROM budgets WHERE period = 'total') GROUP BY budget_id, value
   ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = known.spent + excluded.spent`,
  "DELETE FROM budget_marks WHERE since > 0 AND since < $1",
];
