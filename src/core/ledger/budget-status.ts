import type { BudgetStatus } from "../accounts/budget-fields.ts";
import { type BudgetRecord, isForEach } from "../accounts/budget-records.ts";
import type { BudgetStore } from "../accounts/budget-store.ts";
import { daysOfBudget } from "./budget-limits.ts";
import { endOf } from "./spend-periods.ts";

/** End users or tags of one budget that are listed. */
const TOP = 10;

/** Returns what was spent of a budget in the period that a time is in, as far as it is stored. */
export async function readBudgetStatus(
  store: Pick<BudgetStore, "sumBudget">,
  budget: BudgetRecord,
  now: number,
): Promise<BudgetStatus> {
  const days = daysOfBudget(budget, now);
  const sums = await store.sumBudget({ budgetId: budget.id, days, least: 0, limit: TOP });
  const resetsAt = budget.period === "total" || budget.period === "rolling" ? null : endOf(days);
  return isForEach(budget)
    ? { spent: null, values: sums, resetsAt }
    : { spent: sums[0]?.spent ?? 0, values: [], resetsAt };
}
