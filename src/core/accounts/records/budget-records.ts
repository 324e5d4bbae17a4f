/** The subjects of budgets: all spending of an account, or that of one key, one member, one or every end user, one or every tag. */
export const BUDGET_SUBJECTS = ["account", "key", "member", "end_user", "tag"] as const;
export type BudgetSubject = (typeof BUDGET_SUBJECTS)[number];

/** The periods of budgets, in UTC. `rolling`: the current day and the days before it, `days` in all. */
export const BUDGET_PERIODS = ["total", "day", "week", "month", "rolling"] as const;
type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** The actions at the limit: requests are rejected, or continue with a warning. */
export const BUDGET_ACTIONS = ["block", "warn"] as const;
type BudgetAction = (typeof BUDGET_ACTIONS)[number];

/** A limit on what an account spends in each period. */
export interface BudgetRecord {
  /** `budget_…`. */
  readonly id: string;
  /** The account that pays. */
  readonly accountId: string;
  readonly name: string;
  readonly subject: BudgetSubject;
  /**
   * How records identify the subject: by the id of the key or user, the keyed hash of an end user, or a tag. Null for the whole account,
   * and if each end user or tag has the limit separately.
   */
  readonly subjectId: string | null;
  /** The end user as the budget's owner named it; null for other subjects, and for every end user. */
  readonly endUser: string | null;
  /** Nanodollars in a period. */
  readonly limit: number;
  readonly period: BudgetPeriod;
  /** The length of a rolling period; null for the others. */
  readonly days: number | null;
  readonly action: BudgetAction;
  /** The share of the limit at which warnings begin, in thousandths. */
  readonly warnAt: number;
  /** The account cannot change what the operator has set. */
  readonly setBy: "operator" | "account";
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The fields of a budget that can change. Its subject and period cannot, because its sums are recorded by them. */
export type BudgetChange = Partial<Pick<BudgetRecord, "name" | "limit" | "action" | "warnAt">>;

/** Returns whether each end user, or each tag, has the limit separately. */
export function isForEach({ subject, subjectId }: BudgetRecord): boolean {
  return subjectId === null && subject !== "account";
}
