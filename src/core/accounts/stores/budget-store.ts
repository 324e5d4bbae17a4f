import type { DayRange } from "../../../base/time/time.ts";
import type { BudgetRecord } from "../records/budget-records.ts";

/** The maximum number of budgets of an account: each request of the account is compared with all of them. */
export const MAX_BUDGETS = 200;

/** The amount spent of a budget by its whole subject, or by one of several end users or tags. */
export interface BudgetSum {
  /** The keyed hash of the end user, or the tag, of a budget for each of them; empty for other budgets. */
  readonly value: string;
  /** Nanodollars. */
  readonly spent: number;
}

/** The maximum number of sums or marks that one call reads or claims: each takes one statement, and together they must not delay requests. */
export const BUDGET_SUMS_AT_ONCE = 100;

/** Names one sum of a budget. */
export interface BudgetSumQuery {
  readonly budgetId: string;
  /** The end user or tag, for a budget for each of them; otherwise empty. */
  readonly value: string;
  readonly days: DayRange;
}

/** Selects the largest sums of a budget. */
export interface TopSumsQuery extends Pick<BudgetSumQuery, "budgetId" | "days"> {
  readonly limit: number;
}

/** A state of a budget that an event reports once in each period. */
export interface BudgetMark {
  readonly budgetId: string;
  readonly value: string;
  /** The first day of the period; of a rolling one, its last day. */
  readonly since: number;
  readonly level: "warning" | "reached";
}

/** A page of the budgets of all accounts. */
export interface BudgetQuery {
  /** Only budgets whose name contains this text. The case of ASCII letters does not matter. */
  readonly search?: string | undefined;
  readonly afterId: string | null;
  readonly limit: number;
}

/** Stores budgets. Several processes may share one. Every change raises the revision of accounts. */
export interface BudgetStore {
  /** Returns the budgets of an account, the oldest first. */
  listBudgets(accountId: string): Promise<readonly BudgetRecord[]>;
  /** Returns budgets of all accounts in the order of their ids, after the id `afterId`. */
  listAllBudgets(query: BudgetQuery): Promise<readonly BudgetRecord[]>;
  findBudget(id: string): Promise<BudgetRecord | null>;
  /**
   * Inserts a budget. Also inserts earlier spending that usage sums have, in the same transaction, so that no cost is missed or counted
   * twice. Returns false if the account has `MAX_BUDGETS` already.
   */
  insertBudget(budget: BudgetRecord): Promise<boolean>;
  /** Replaces the fields of a budget that can change. Returns null if there is no such budget. */
  changeBudget(id: string, change: (budget: BudgetRecord) => BudgetRecord): Promise<BudgetRecord | null>;
  /** Deletes a budget with its sums. Returns false if there was none. */
  deleteBudget(id: string): Promise<boolean>;
  /** Returns the spending in each of at most `BUDGET_SUMS_AT_ONCE` sums, in nanodollars and in their order. */
  sumBudgets(sums: readonly BudgetSumQuery[]): Promise<readonly number[]>;
  /** Returns the largest sums of a budget, the largest first. A budget may have millions of sums: SQLite reads them in short slices. */
  listTopSums(query: TopSumsQuery): Promise<readonly BudgetSum[]>;
  /** Claims at most `BUDGET_SUMS_AT_ONCE` marks, and returns for each whether this is its first claim. */
  claimMarks(marks: readonly BudgetMark[]): Promise<readonly boolean[]>;
  /**
   * Merges the daily sums before `day` into one for each budget in total, and deletes those of other budgets, whose periods are at most 365
   * days long. Also deletes marks of earlier days.
   */
  mergeDays(day: number): Promise<void>;
}
