import type { DayRange } from "../../../base/time/time.ts";
import type { SpendQuery } from "../../../core/ledger/records/ledger-store.ts";
import { readInteger } from "../../sql/statements/values.ts";
import type { PostgresValue, SqlRunner } from "../connection/client.ts";

const COLUMNS = { accountId: "account_id", userId: "user_id", keyId: "key_id" } as const;

/** Returns the cost of generations that have ended, in nanodollars. */
export async function sumSpending(sql: SqlRunner, query: SpendQuery): Promise<number> {
  const { days, budget, ...scope } = query;
  if (budget !== undefined) return sumOneBudget(sql, budget, days);
  const conditions = ["true"];
  const values: PostgresValue[] = [];
  const add = (condition: (parameter: string) => string, value: PostgresValue) => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  for (const name of ["accountId", "userId", "keyId"] as const) {
    const value = scope[name];
    if (value !== undefined) add((parameter) => `${COLUMNS[name]} = ${parameter}`, value);
  }
  if (days !== undefined) {
    add((parameter) => `day >= ${parameter}`, days.from);
    add((parameter) => `day <= ${parameter}`, days.to);
  }
  const spentIn = (table: string) =>
    `(SELECT coalesce(sum(cost), 0) FROM ${table} WHERE ${conditions.join(" AND ")})`;
  // Gateways of earlier versions save the sums of days.
  const text = `SELECT ${spentIn("usage_sums")} + ${spentIn("usage_days")} AS spent`;
  const [row] = await sql.run<{ spent: string }>(text, values);
  return readInteger(row?.spent ?? "0");
}

async function sumOneBudget(
  sql: SqlRunner,
  { id, value }: NonNullable<SpendQuery["budget"]>,
  { from, to }: DayRange = { from: 0, to: 0 },
): Promise<number> {
  const [row] = await sql.run<{ spent: string }>(
    `SELECT coalesce(sum(spent), 0) AS spent FROM budget_days
     WHERE budget_id = $1 AND value = $2 AND day BETWEEN $3 AND $4`,
    [id, value, from, to],
  );
  return readInteger(row?.spent ?? "0");
}
