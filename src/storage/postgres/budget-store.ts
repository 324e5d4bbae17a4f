import type { BudgetRecord } from "../../core/accounts/records/budget-records.ts";
import {
  type BudgetMark,
  type BudgetStore,
  type BudgetSumQuery,
  MAX_BUDGETS,
  type TopSumsQuery,
} from "../../core/accounts/stores/budget-store.ts";
import { daysOfBudget, LATE_METERS } from "../../core/ledger/limits/budget-limits.ts";
import {
  BUDGET_COLUMNS,
  type BudgetRow,
  encodeBudget,
  listEarlierSums,
  readBudget,
} from "../usage-sql/budget-rows.ts";
import { encodeList, type Postgres, type SqlRunner } from "./client.ts";
import { lockBalance } from "./lease-rows.ts";
import { requireKnown } from "./require-known.ts";
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
      await requireKnown(sql, "budget", null, budget);
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

  async sumBudgets(sums: readonly BudgetSumQuery[]) {
    const rows = await this.database.run<{ spent: string }>(SUMS, [
      encodeList(sums.map(({ budgetId }) => budgetId)),
      encodeList(sums.map(({ value }) => value)),
      encodeList(sums.map(({ days }) => days.from)),
      encodeList(sums.map(({ days }) => days.to)),
    ]);
    return rows.map(({ spent }) => readInteger(spent));
  }

  async listTopSums({ budgetId, days, limit }: TopSumsQuery) {
    const rows = await this.database.run<{ value: string; spent: string }>(
      `SELECT value, sum(spent) AS spent FROM budget_days WHERE budget_id = $1 AND day BETWEEN $2 AND $3
       GROUP BY value ORDER BY sum(spent) DESC, value LIMIT $4`,
      [budgetId, days.from, days.to, limit],
    );
    return rows.map((row) => ({ value: row.value, spent: readInteger(row.spent) }));
  }

  async claimMarks(marks: readonly BudgetMark[]) {
    const rows = await this.database.run<{ place: string }>(CLAIM, [
      encodeList(marks.map(({ budgetId }) => budgetId)),
      encodeList(marks.map(({ value }) => value)),
      encodeList(marks.map(({ since }) => since)),
      encodeList(marks.map(({ level }) => level)),
    ]);
    const claimed = new Set(rows.map(({ place }) => readInteger(place)));
    return marks.map((_, at) => claimed.has(at + 1));
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

const SUMS = `SELECT coalesce((SELECT sum(spent) FROM budget_days d
    WHERE d.budget_id = w.id AND d.value = w.value AND d.day BETWEEN w.first AND w.last), 0) AS spent
  FROM unnest($1::text::text[], $2::text::text[], $3::text::integer[], $4::text::integer[])
    WITH ORDINALITY AS w (id, value, first, last, place) ORDER BY w.place`;

/** In one order of rows, so that two gateways do not wait for each other. A mark that is named twice is claimed once. */
const CLAIM = `WITH wanted AS (
    SELECT * FROM unnest($1::text::text[], $2::text::text[], $3::text::integer[], $4::text::text[])
      WITH ORDINALITY AS w (budget_id, value, since, level, place)
  ), claimed AS (
    INSERT INTO budget_marks SELECT budget_id, value, since, level FROM wanted
    ORDER BY budget_id, value, since, level ON CONFLICT DO NOTHING RETURNING budget_id, value, since, level
  )
  SELECT min(place) AS place FROM wanted JOIN claimed USING (budget_id, value, since, level)
  GROUP BY budget_id, value, since, level`;

/** Adds what usage sums tell of earlier spending, as far back as the budget's present period counts. */
async function countEarlier(sql: SqlRunner, budget: BudgetRecord): Promise<void> {
  const { from } = daysOfBudget(budget, budget.createdAt);
  for (const { table, value, condition } of listEarlierSums(budget))
    await sql.run(
      `INSERT INTO budget_days AS known (budget_id, value, day, spent)
       SELECT $1::text, ${value} AS named, day, sum(cost) FROM ${table}
       WHERE account_id = $2::text AND day >= $4::integer AND ${condition("$3::text")}
       GROUP BY named, day HAVING sum(cost) > 0
       ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = known.spent + excluded.spent`,
      [budget.id, budget.accountId, budget.subjectId ?? budget.accountId, from],
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
