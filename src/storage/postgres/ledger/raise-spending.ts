import type { MeterPeriod } from "../../../core/ledger/leases/money-leases.ts";
import { LATE_METERS } from "../../../core/ledger/limits/budget-limits.ts";
import { lateMetersOf, metersOf } from "../../../core/ledger/limits/spend-limits.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";

/**
 * Adds costs to the spending under the limits of their keys, members and organizations. Runs in the transaction that writes the records,
 * after it has locked the balances that are charged. Returns whether there are budgets that may count the costs.
 */
export async function raiseSpending(sql: SqlRunner, ended: readonly UsageRecord[]): Promise<boolean> {
  const always = sumCosts(ended, metersOf);
  if (always.length === 0) return false;
  await sql.run(RAISE_SPENDING, encodeCosts(always));
  // The rows are locked, so no sum can begin unnoticed: a statement sees what was committed before it began.
  const [found] = await sql.run<{ has_late: boolean; has_budgets: boolean }>(FIND_LATE);
  if (found?.has_late === true) await sql.run(RAISE_LATE, encodeCosts(sumCosts(ended, lateMetersOf)));
  return found?.has_budgets === true;
}

interface MeterCost extends MeterPeriod {
  cost: number;
}

/** Sums costs by what they count for, in the order in which the rows are locked. */
function sumCosts(
  ended: readonly UsageRecord[],
  listMeters: (record: UsageRecord) => readonly MeterPeriod[],
): readonly MeterCost[] {
  const costs = new Map<string, MeterCost>();
  for (const record of ended) {
    const { costNanodollars: cost } = record;
    if (cost === 0) continue;
    for (const { meter, since } of listMeters(record)) {
      const name = `${meter}\n${since}`;
      costs.set(name, { meter, since, cost: (costs.get(name)?.cost ?? 0) + cost });
    }
  }
  return [...costs.values()].sort((a, b) =>
    a.meter === b.meter ? a.since - b.since : a.meter < b.meter ? -1 : 1,
  );
}

function encodeCosts(costs: readonly MeterCost[]): string[] {
  return [
    encodeList(costs.map(({ meter }) => meter)),
    encodeList(costs.map(({ since }) => since)),
    encodeList(costs.map(({ cost }) => cost)),
  ];
}

const COSTS =
  "SELECT * FROM unnest($1::text::text[], $2::text::integer[], $3::text::bigint[]) AS costs (meter, since, cost)";

const RAISE_SPENDING = `INSERT INTO spending AS known (meter, since, spent) ${COSTS}
  ON CONFLICT (meter, since) DO UPDATE SET spent = known.spent + excluded.spent`;

const FIND_LATE = `SELECT EXISTS (SELECT FROM budgets) AS has_budgets,
  EXISTS (SELECT FROM spending WHERE meter >= '${LATE_METERS}' AND meter < '${nextTo(LATE_METERS)}') AS has_late`;

/** A new sum begins with everything that is saved so far (`SpendLimit.covers`). */
const RAISE_LATE = `WITH costs AS (${COSTS}), locked AS (
    SELECT s.meter, s.since, c.cost FROM spending s JOIN costs c USING (meter, since)
    ORDER BY s.meter, s.since FOR UPDATE OF s
  )
  UPDATE spending s SET spent = s.spent + l.cost FROM locked l WHERE s.meter = l.meter AND s.since = l.since`;

/** Returns the first text after all texts with a prefix. */
function nextTo(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
