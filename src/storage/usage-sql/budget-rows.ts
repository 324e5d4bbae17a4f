/** The tables of budgets, which SQLite and PostgreSQL share. */
import type { BudgetRecord } from "../../core/accounts/records/budget-records.ts";

/** A row of the table of budgets. PostgreSQL returns integers as text. */
export interface BudgetRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly subject: BudgetRecord["subject"];
  readonly subject_id: string | null;
  readonly end_user: string | null;
  readonly spend_limit: number | string;
  readonly period: BudgetRecord["period"];
  readonly days: number | string | null;
  readonly action: BudgetRecord["action"];
  readonly warn_at: number | string;
  readonly set_by: BudgetRecord["setBy"];
  readonly created_at: number | string;
}

/** The columns of the table, in the order of `encodeBudget`. */
export const BUDGET_COLUMNS =
  "id, account_id, name, subject, subject_id, end_user, spend_limit, period, days, action, warn_at, set_by, created_at";

/** Returns the values of a row. */
export function encodeBudget(budget: BudgetRecord): (string | number | null)[] {
  const { id, accountId, name, subject, subjectId, endUser, limit, period, days } = budget;
  const { action, warnAt, setBy, createdAt } = budget;
  return [
    ...[id, accountId, name, subject, subjectId, endUser, limit],
    ...[period, days, action, warnAt, setBy, createdAt],
  ];
}

/** Reads a row. */
export function readBudget(row: BudgetRow): BudgetRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    subject: row.subject,
    subjectId: row.subject_id,
    endUser: row.end_user,
    limit: Number(row.spend_limit),
    period: row.period,
    days: row.days === null ? null : Number(row.days),
    action: row.action,
    warnAt: Number(row.warn_at),
    setBy: row.set_by,
    createdAt: Number(row.created_at),
  };
}

/** The sums by which a new budget finds what was spent before: a table, and a condition after that of the account. */
export interface EarlierSums {
  readonly table: "usage_sums" | "usage_days" | "usage_tags";
  /** What the sums are called in the budget: an expression. */
  readonly value: string;
  /** SQL with the parameter of the subject. */
  readonly condition: (subject: string) => string;
}

/** Returns the sums that tell a budget's subject; none for end users. Earlier versions have saved the sums of days. */
export function listEarlierSums(budget: BudgetRecord): readonly EarlierSums[] {
  const { subject, subjectId } = budget;
  if (subject === "end_user") return [];
  if (subject === "tag") {
    // Not the sums of all tags and of further tags, whose names no tag has. Every statement uses the parameter, as PostgreSQL demands.
    const each = "tag NOT IN ('', '(other)')";
    return [
      subjectId === null
        ? { table: "usage_tags", value: "tag", condition: (name) => `${each} AND ${name} <> ''` }
        : { table: "usage_tags", value: "''", condition: (name) => `tag = ${name}` },
    ];
  }
  const column = { account: "account_id", key: "key_id", member: "user_id" }[subject];
  const condition = (name: string) => `${column} = ${name}`;
  return (["usage_sums", "usage_days"] as const).map((table) => ({ table, value: "''", condition }));
}
