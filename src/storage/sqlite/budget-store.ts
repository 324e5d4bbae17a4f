import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { BudgetRecord } from "../../core/accounts/budget-records.ts";
import {
  type BudgetMark,
  type BudgetStore,
  type BudgetSum,
  type BudgetSumQuery,
  MAX_BUDGETS,
} from "../../core/accounts/budget-store.ts";
import { sumByBudget } from "../../core/ledger/budget-limits.ts";
import type { UsageRecord } from "../../core/usage/records.ts";
import {
  BUDGET_COLUMNS,
  type BudgetRow,
  encodeBudget,
  listEarlierSums,
  readBudget,
} from "../usage-sql/budget-rows.ts";
import { Revision } from "./revision.ts";

/** Budgets in SQLite. */
export class SqliteBudgetStore implements BudgetStore {
  private readonly revision: Revision;

  constructor(private readonly database: Database) {
    this.revision = new Revision(database, "account_revision");
  }

  async listBudgets(accountId: string) {
    return this.read("WHERE account_id = ? ORDER BY id", accountId);
  }

  async listAllBudgets(afterId: string | null, limit: number) {
    return this.read("WHERE id > ? ORDER BY id LIMIT ?", afterId ?? "", limit);
  }

  async findBudget(id: string) {
    return this.find(id);
  }

  async insertBudget(budget: BudgetRecord) {
    return this.change(() => {
      const { accountId } = budget;
      const count = this.database.query<{ count: number }, [string]>(COUNT).get(accountId)?.count ?? 0;
      if (count >= MAX_BUDGETS) return false;
      this.put(budget);
      this.countEarlier(budget);
      return true;
    });
  }

  async changeBudget(id: string, change: (budget: BudgetRecord) => BudgetRecord) {
    return this.change(() => {
      const before = this.find(id);
      if (before === null) return null;
      const after = change(before);
      this.put(after);
      return after;
    });
  }

  async deleteBudget(id: string) {
    return this.change(() => {
      for (const table of ["budget_days", "budget_marks"])
        this.database.query(`DELETE FROM ${table} WHERE budget_id = ?`).run(id);
      return this.database.query("DELETE FROM budgets WHERE id = ?").run(id).changes > 0;
    });
  }

  async sumBudget({ budgetId, value, days, least, limit }: BudgetSumQuery) {
    const sums = this.database.query<BudgetSum, (string | number | null)[]>(SUM);
    return sums.all(budgetId, value ?? null, days.from, days.to, least, limit);
  }

  async claimMark({ budgetId, value, since, level }: BudgetMark) {
    const insert = this.database.query("INSERT INTO budget_marks VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
    return insert.run(budgetId, value, since, level).changes > 0;
  }

  async mergeDays(day: number) {
    const merge = this.database.transaction(() => {
      for (const statement of MERGE) this.database.query(statement).run(day);
    });
    merge.immediate();
  }

  private find(id: string): BudgetRecord | null {
    return this.read("WHERE id = ?", id)[0] ?? null;
  }

  private read(rest: string, ...values: (string | number)[]): readonly BudgetRecord[] {
    const rows = this.database.query<BudgetRow, SQLQueryBindings[]>(`SELECT * FROM budgets ${rest}`);
    return rows.all(...values).map(readBudget);
  }

  private put(budget: BudgetRecord): void {
    const values = encodeBudget(budget);
    const marks = values.map(() => "?").join(", ");
    this.database
      .query(`INSERT OR REPLACE INTO budgets (${BUDGET_COLUMNS}) VALUES (${marks})`)
      .run(...values);
  }

  /** Adds what usage sums tell of earlier spending. */
  private countEarlier(budget: BudgetRecord): void {
    for (const { table, value, condition } of listEarlierSums(budget))
      this.database
        .query(
          `INSERT INTO budget_days (budget_id, value, day, spent)
           SELECT ?1, ${value}, day, sum(cost) FROM ${table} WHERE account_id = ?2 AND ${condition("?3")}
           GROUP BY 2, day HAVING sum(cost) > 0
           ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = spent + excluded.spent`,
        )
        .run(budget.id, budget.accountId, budget.subjectId ?? budget.accountId);
  }

  private change<Result>(work: () => Result): Result {
    const change = this.database.transaction(() => {
      this.revision.raise();
      return work();
    });
    return change.immediate();
  }
}

const COUNT = "SELECT count(*) AS count FROM budgets WHERE account_id = ?";

const SUM = `SELECT value, sum(spent) AS spent FROM budget_days
  WHERE budget_id = ?1 AND (?2 IS NULL OR value = ?2) AND day BETWEEN ?3 AND ?4
  GROUP BY value HAVING sum(spent) >= ?5 ORDER BY spent DESC, value LIMIT ?6`;

const TOTALS = "budget_id IN (SELECT id FROM budgets WHERE period = 'total')";

const MERGE = [
  `INSERT INTO budget_days (budget_id, value, day, spent)
   SELECT budget_id, value, 0, sum(spent) FROM budget_days
   WHERE day > 0 AND day < ?1 AND ${TOTALS} GROUP BY budget_id, value
   ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = spent + excluded.spent`,
  "DELETE FROM budget_days WHERE day > 0 AND day < ?1",
  "DELETE FROM budget_marks WHERE since > 0 AND since < ?1",
];

/** Adds costs of generations to the sums of budgets. The caller begins and commits the transaction. */
export class BudgetSums {
  private readonly first;
  private readonly ofAccounts;
  private readonly raise;

  constructor(database: Database) {
    this.first = database.query("SELECT 1 FROM budgets LIMIT 1");
    this.ofAccounts = database.query<BudgetRow, [string]>(
      "SELECT * FROM budgets WHERE account_id IN (SELECT value FROM json_each(?))",
    );
    this.raise = database.query(
      `INSERT INTO budget_days (budget_id, value, day, spent) VALUES (?, ?, ?, ?)
       ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = spent + excluded.spent`,
    );
  }

  /** Adds records that end now. */
  add(ended: readonly UsageRecord[]): void {
    if (ended.length === 0 || this.first.get() === null) return;
    const accounts = [...new Set(ended.flatMap(({ accountId }) => accountId ?? []))];
    const budgets = this.ofAccounts.all(JSON.stringify(accounts)).map(readBudget);
    for (const { budget, value, day, cost } of sumByBudget(budgets, ended))
      this.raise.run(budget.id, value, day, cost);
  }
}
