import type { Database } from "bun:sqlite";
import { sumByBudget } from "../../../core/ledger/limits/budget-limits.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { BUDGETS } from "../../sql/budget-rows.ts";

/** Adds costs of generations to the sums of budgets. The caller begins and commits the transaction. */
export class BudgetSums {
  private readonly first;
  private readonly ofAccounts;
  private readonly raise;

  constructor(database: Database) {
    this.first = database.query("SELECT 1 FROM budgets LIMIT 1");
    this.ofAccounts = database.query<object, [string]>(
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
    const budgets = this.ofAccounts.all(JSON.stringify(accounts)).map(BUDGETS.read);
    for (const { budget, value, day, cost } of sumByBudget(budgets, ended))
      this.raise.run(budget.id, value, day, cost);
  }
}
