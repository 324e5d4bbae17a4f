/** The fields of the form for a budget, and what is sent of them. Pure functions. */

type BudgetSubject = "account" | "team" | "member" | "key" | "end_user" | "tag";
type BudgetPeriod = "total" | "day" | "week" | "month" | "rolling";

/** The typed values. */
export interface BudgetInput {
  readonly name: string;
  /** Null: the caller's own account. */
  readonly accountId: string | null;
  readonly subject: BudgetSubject;
  /** The key, member, end user or tag. Empty for end users and tags: each for itself. */
  readonly value: string;
  readonly limit: string;
  readonly period: BudgetPeriod;
  readonly days: string;
  readonly action: "block" | "warn";
  /** Percent of the limit. */
  readonly warnAt: string;
}

/** The fields of a form that is empty. */
export const NEW_BUDGET: BudgetInput = {
  name: "",
  accountId: null,
  subject: "account",
  value: "",
  limit: "",
  period: "month",
  days: "30",
  action: "block",
  warnAt: "80",
};

/** A budget of the API, as far as the form shows it. */
interface BudgetFields {
  readonly name: string;
  readonly account_id: string;
  readonly limit: number;
  readonly action: "block" | "warn";
  readonly warn_at: number;
}

/** Returns the form for the fields of a budget that can change. */
export function readBudget({ name, account_id, limit, action, warn_at }: BudgetFields): BudgetInput {
  const percent = String(Math.round(warn_at * 1_000) / 10);
  return { ...NEW_BUDGET, name, accountId: account_id, limit: String(limit), action, warnAt: percent };
}

/** The field that prevents a form from being sent. */
export type BudgetProblem = "limit" | "warnAt" | "days" | "value";

/** Returns the first problem of a form; null if it can be sent. */
export function findBudgetProblem(input: BudgetInput): BudgetProblem | null {
  const { subject, value, limit, period, days, warnAt } = input;
  if (["key", "member", "team"].includes(subject) && value.trim() === "") return "value";
  if (!(Number(limit) > 0)) return "limit";
  if (period === "rolling" && !(/^\d{1,3}$/.test(days.trim()) && Number(days) >= 1 && Number(days) <= 365))
    return "days";
  return Number(warnAt) >= 1 && Number(warnAt) <= 100 ? null : "warnAt";
}

const SUBJECT_FIELDS = {
  key: "key_id",
  member: "user_id",
  team: "team_id",
  end_user: "end_user",
  tag: "tag",
} as const;

/** Returns the body of a change. */
export function toBudgetChange({ name, limit, action, warnAt }: BudgetInput): Record<string, unknown> {
  return {
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    limit: Number(limit),
    action,
    warn_at: Math.round(Number(warnAt) * 10) / 1_000,
  };
}

/** Returns the body of a new budget. */
export function toNewBudget(input: BudgetInput): Record<string, unknown> & { limit: number } {
  const { accountId, subject, value, period, days, limit } = input;
  return {
    ...toBudgetChange(input),
    ...(accountId === null ? {} : { account_id: accountId }),
    ...(subject === "account" ? {} : { [SUBJECT_FIELDS[subject]]: value.trim() === "" ? "*" : value.trim() }),
    limit: Number(limit),
    period,
    ...(period === "rolling" ? { days: Number(days) } : {}),
  };
}
