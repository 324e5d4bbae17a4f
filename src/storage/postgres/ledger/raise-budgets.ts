import { DAY_MS } from "../../../base/time/time.ts";
import { meterOfBudget, periodsOf, sumByBudget } from "../../../core/ledger/limits/budget-limits.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { BUDGETS } from "../../sql/budget-rows.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";

/**
 * Adds costs to the sums of budgets: to daily sums, and to those that gateways lease from. Runs in the transaction that writes the records,
 * after it has locked the balances that are charged.
 */
export async function raiseBudgets(sql: SqlRunner, ended: readonly UsageRecord[]): Promise<void> {
  const accounts = [
    ...new Set(ended.flatMap(({ accountId, costNanodollars: cost }) => (cost > 0 ? (accountId ?? []) : []))),
  ];
  if (accounts.length === 0) return;
  const rows = await sql.run<object>(
    "SELECT * FROM budgets WHERE account_id = ANY ($1::text::text[]) ORDER BY id",
    [encodeList(accounts)],
  );
  const sums = sumByBudget(rows.map(BUDGETS.read), ended);
  if (sums.length === 0) return;
  const costs = encodeList(sums.map(({ cost }) => cost));
  await sql.run(RAISE_DAYS, [
    encodeList(sums.map(({ budget }) => budget.id)),
    encodeList(sums.map(({ value }) => value)),
    encodeList(sums.map(({ day }) => day)),
    costs,
  ]);
  const periods = sums.map(({ budget, day }) => periodsOf(budget, day * DAY_MS));
  await sql.run(RAISE_PERIODS, [
    encodeList(sums.map(({ budget, value }) => meterOfBudget(budget, value))),
    encodeList(periods.map(({ from }) => from)),
    encodeList(periods.map(({ to }) => to)),
    costs,
  ]);
}

const RAISE_DAYS = `INSERT INTO budget_days AS known (budget_id, value, day, spent)
  SELECT * FROM unnest($1::text::text[], $2::text::text[], $3::text::bigint[], $4::text::bigint[])
  ON CONFLICT (budget_id, value, day) DO UPDATE SET spent = known.spent + excluded.spent`;

/** A sum that does not exist yet begins with the sums of days. */
const RAISE_PERIODS = `WITH costs AS (
    SELECT s.meter, s.since, sum(c.cost) AS cost FROM spending s
    JOIN unnest($1::text::text[], $2::text::integer[], $3::text::integer[], $4::text::bigint[])
      AS c (meter, first, last, cost) ON s.meter = c.meter AND s.since BETWEEN c.first AND c.last
    GROUP BY s.meter, s.since
  )
  UPDATE spending s SET spent = s.spent + c.cost FROM costs c WHERE s.meter = c.meter AND s.since = c.since`;
