import type { BudgetStatus } from "../../accounts/records/budget-fields.ts";
import { type BudgetRecord, isForEach } from "../../accounts/records/budget-records.ts";
import { BUDGET_SUMS_AT_ONCE, type BudgetStore } from "../../accounts/stores/budget-store.ts";
import { daysOfBudget } from "./budget-limits.ts";
import { endOf } from "./spend-periods.ts";

/** The number of end users or tags of one budget that are listed. */
const TOP = 10;

type Sums = Pick<BudgetStore, "sumBudgets" | "listTopSums">;

/**
 * Returns the statuses of budgets, in their order. Budgets with one sum are read together. Budgets for each end user or tag are read one
 * after another, so that a page of them never causes several such reads at once.
 */
export async function readBudgetStatuses(
  store: Sums,
  budgets: readonly BudgetRecord[],
  now: number,
): Promise<readonly BudgetStatus[]> {
  const spent = await readSoleSums(store, budgets, now);
  const statuses: BudgetStatus[] = [];
  for (const budget of budgets) {
    const days = daysOfBudget(budget, now);
    const resetsAt = budget.period === "total" || budget.period === "rolling" ? null : endOf(days);
    const values = isForEach(budget)
      ? await store.listTopSums({ budgetId: budget.id, days, limit: TOP })
      : [];
    statuses.push({ spent: isForEach(budget) ? null : (spent.get(budget) ?? 0), values, resetsAt });
  }
  return statuses;
}

async function readSoleSums(
  store: Sums,
  budgets: readonly BudgetRecord[],
  now: number,
): Promise<ReadonlyMap<BudgetRecord, number>> {
  const sole = budgets.filter((budget) => !isForEach(budget));
  const spent = new Map<BudgetRecord, number>();
  for (let from = 0; from < sole.length; from += BUDGET_SUMS_AT_ONCE) {
    const group = sole.slice(from, from + BUDGET_SUMS_AT_ONCE);
    const sums = await store.sumBudgets(
      group.map((budget) => ({ budgetId: budget.id, value: "", days: daysOfBudget(budget, now) })),
    );
    for (const [at, budget] of group.entries()) spent.set(budget, sums[at] ?? 0);
  }
  return spent;
}
