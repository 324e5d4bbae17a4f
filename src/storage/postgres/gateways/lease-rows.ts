import {
  type MeterPeriod,
  type MoneyLeaseRequest,
  nameMeterLease,
  readMeterLease,
} from "../../../core/ledger/leases/money-leases.ts";
import { meterOfKey } from "../../../core/ledger/limits/spend-limits.ts";
import { readInteger } from "../../sql/statements/values.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";
import { sumSpending } from "../ledger/sum-spending.ts";

/** The balance of an account or the spending under a limit, and the amount that gateways have leased of it. Nanodollars. */
interface Leased {
  readonly has: number;
  readonly leased: number;
}

type Named = readonly { readonly name: string }[];
type Limits = readonly Pick<MoneyLeaseRequest, "name" | "query">[];

/** Creates the rows of limits of an account that have none, in a transaction. */
export async function beginLimits(sql: SqlRunner, accountId: string, leases: Limits): Promise<void> {
  await lockBalance(sql, accountId);
  const names = encodePeriods(leases);
  const known = new Set((await sql.run<MeterPeriod>(FIND_SPENDING, names)).map(nameMeterLease));
  for (const lease of leases) if (!known.has(lease.name)) await beginLate(sql, lease);
  await sql.run(ADD_SPENDING, names);
}

/**
 * Begins the sum of a limit that counts only from its first use with the earlier spending. The caller has locked the account's balance.
 * Each save of a cost locks it too, and the total of the key. So a cost is either in the usage sums already, or is added to the new sum
 * when it is saved.
 */
async function beginLate(sql: SqlRunner, { name, query }: Limits[number]): Promise<void> {
  const period = readMeterLease(name);
  if (query === undefined || period === null) return;
  if (query.keyId !== undefined) await sql.run(LOCK_TOTAL, [meterOfKey(query.keyId)]);
  const spent = await sumSpending(sql, query);
  await sql.run("INSERT INTO spending (meter, since, spent) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", [
    period.meter,
    period.since,
    spent,
  ]);
}

interface BalanceRow {
  readonly amount: string;
  readonly leased: string;
}

/** Locks the balance of an account before all rows of its limits and budgets. Creates the balance if there is none. */
async function lockBalance(sql: SqlRunner, accountId: string): Promise<Leased> {
  const find = () => sql.run<BalanceRow>(LOCK_BALANCE, [accountId]);
  let [row] = await find();
  if (row === undefined) {
    // An account without a transfer has a balance of 0, of which an overdraft can be lent.
    await sql.run("INSERT INTO balances (account_id) VALUES ($1) ON CONFLICT DO NOTHING", [accountId]);
    [row] = await find();
  }
  return { has: readInteger(row?.amount ?? "0"), leased: readInteger(row?.leased ?? "0") };
}

function encodePeriods(leases: Named): string[] {
  const periods = leases.flatMap(({ name }) => readMeterLease(name) ?? []);
  return [encodeList(periods.map(({ meter }) => meter)), encodeList(periods.map(({ since }) => since))];
}

const LOCK_BALANCE = "SELECT amount, leased FROM balances WHERE account_id = $1 FOR UPDATE";

const FIND_SPENDING = `SELECT s.meter, s.since
  FROM spending s JOIN unnest($1::text::text[], $2::text::integer[]) AS wanted (meter, since) USING (meter, since)
  ORDER BY s.meter, s.since FOR UPDATE OF s`;

const LOCK_TOTAL = `INSERT INTO spending (meter, since) VALUES ($1, 0)
  ON CONFLICT (meter, since) DO UPDATE SET spent = spending.spent`;

const ADD_SPENDING = `INSERT INTO spending (meter, since)
  SELECT meter, since FROM unnest($1::text::text[], $2::text::integer[]) AS wanted (meter, since)
  ORDER BY meter COLLATE "C", since ON CONFLICT DO NOTHING`;
