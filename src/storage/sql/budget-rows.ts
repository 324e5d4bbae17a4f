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
