import type { BudgetRecord } from "../../core/accounts/records/budget-records.ts";
import { integer, named, Table, text } from "./statements/table.ts";

/** The table of budgets, which the ledgers of SQLite and PostgreSQL read too. */
export const BUDGETS = new Table<BudgetRecord>("budgets", {
  id: text,
  accountId: text,
  name: text,
  subject: text,
  subjectId: text,
  endUser: text,
  limit: named("spend_limit", integer),
  period: text,
  days: integer,
  action: text,
  warnAt: integer,
  setBy: text,
  createdAt: integer,
});
