import {
  BALANCE_LEASE,
  type BorrowAnswer,
  type BorrowOrder,
  type LeaseRequest,
  type MeterPeriod,
  nameMeterLease,
  readMeterLease,
} from "../../core/ledger/money-leases.ts";
import { meterOfKey } from "../../core/ledger/spend-limits.ts";
import { encodeList, type SqlRunner } from "./client.ts";
import { sumSpending } from "./sum-spending.ts";
import { readInteger } from "./values.ts";

/** What an account has, or what was spent under a limit, and what gateways have leased of it. Nanodollars. */
interface Leased {
  readonly has: number;
  readonly leased: number;
}

/** What a gateway has of an account and its limits. */
export interface OwnLeases {
  /** Nanodollars by the name of the lease. */
  readonly amounts: ReadonlyMap<string, number>;
  /** The number of its last order; 0 before the first. */
  readonly ticket: number;
  /** The answer to it, as JSON; null if it had none. */
  readonly answer: string | null;
}

type Named = readonly { readonly name: string }[];
type Limits = readonly Pick<LeaseRequest, "name" | "query">[];

/** Locks the balance of an account and then limits, in the order of all transactions, and returns what they have by the names of their leases. */
export async function lockLeased(
  sql: SqlRunner,
  accountId: string,
  leases: Limits,
): Promise<ReadonlyMap<string, Leased>> {
  const locked = new Map<string, Leased>();
  locked.set(BALANCE_LEASE, await lockBalance(sql, accountId));
  const periods = periodsOf(leases);
  if (periods.length === 0) return locked;
  const names = [
    encodeList(periods.map(({ meter }) => meter)),
    encodeList(periods.map(({ since }) => since)),
  ];
  let rows = await sql.run<SpendingRow>(LOCK_SPENDING, names);
  if (rows.length < periods.length) {
    const known = new Set(rows.map(nameMeterLease));
    for (const lease of leases) if (!known.has(lease.name)) await beginLate(sql, lease);
    await sql.run(ADD_SPENDING, names);
    rows = await sql.run<SpendingRow>(LOCK_SPENDING, names);
  }
  for (const row of rows)
    locked.set(nameMeterLease(row), { has: readInteger(row.spent), leased: readInteger(row.leased) });
  return locked;
}

/** Reads what a gateway has of an account. The caller has locked it: a statement sees what was committed before it began. */
export async function readOwnLeases(
  sql: SqlRunner,
  gatewayId: string,
  { accountId, leases }: { readonly accountId: string; readonly leases: Named },
): Promise<OwnLeases> {
  const [row] = await sql.run<{ amount: string; ticket: string; answer: string | null }>(
    "SELECT amount, ticket, answer FROM balance_leases WHERE account_id = $1 AND gateway_id = $2",
    [accountId, gatewayId],
  );
  const amounts = new Map([[BALANCE_LEASE, readInteger(row?.amount ?? "0")]]);
  const periods = periodsOf(leases);
  if (periods.length > 0) {
    const rows = await sql.run<MeterPeriod & { amount: string }>(
      `SELECT meter, since, amount FROM spending_leases
       JOIN unnest($2::text::text[], $3::text::integer[]) AS wanted (meter, since) USING (meter, since)
       WHERE gateway_id = $1`,
      [
        gatewayId,
        encodeList(periods.map(({ meter }) => meter)),
        encodeList(periods.map(({ since }) => since)),
      ],
    );
    for (const lease of rows) amounts.set(nameMeterLease(lease), readInteger(lease.amount));
  }
  return { amounts, ticket: readInteger(row?.ticket ?? "0"), answer: row?.answer ?? null };
}

/** Adds what an order lends to the leases of a gateway and to what is leased of the balance and the limits, and records the order. */
export async function raiseLeases(
  sql: SqlRunner,
  gatewayId: string,
  { order, answer }: { readonly order: BorrowOrder; readonly answer: BorrowAnswer },
): Promise<void> {
  const lent = order.leases.map(({ name }, at) => ({ name, amount: answer.leases[at]?.lent ?? 0 }));
  const ofBalance = lent.find(({ name }) => name === BALANCE_LEASE)?.amount ?? 0;
  await sql.run(RAISE_BALANCE, [order.accountId, gatewayId, ofBalance, order.ticket, JSON.stringify(answer)]);
  const ofMeters = lent.flatMap(({ name, amount }) => {
    const period = readMeterLease(name);
    return period === null || amount === 0 ? [] : [{ ...period, amount }];
  });
  if (ofMeters.length === 0) return;
  await sql.run(RAISE_SPENDING, [
    order.accountId,
    gatewayId,
    encodeList(ofMeters.map(({ meter }) => meter)),
    encodeList(ofMeters.map(({ since }) => since)),
    encodeList(ofMeters.map(({ amount }) => amount)),
  ]);
}

/**
 * Begins the sum of a limit that counts only from its first use with what was spent before. The caller has locked the account's
 * balance. Each save of a cost locks it too, and the total of the key: so a cost is either in the usage sums by now, or is added to
 * the new sum when it is saved.
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

interface SpendingRow {
  readonly meter: string;
  readonly since: number;
  readonly spent: string;
  readonly leased: string;
}

/** Locks the balance of an account, which is created if it has none, before all rows of its limits and budgets. */
export async function lockBalance(sql: SqlRunner, accountId: string): Promise<Leased> {
  const find = () => sql.run<BalanceRow>(LOCK_BALANCE, [accountId]);
  let [row] = await find();
  if (row === undefined) {
    // An account without a transfer has a balance of 0, of which an overdraft can be lent.
    await sql.run("INSERT INTO balances (account_id) VALUES ($1) ON CONFLICT DO NOTHING", [accountId]);
    [row] = await find();
  }
  return { has: readInteger(row?.amount ?? "0"), leased: readInteger(row?.leased ?? "0") };
}

function periodsOf(leases: Named): MeterPeriod[] {
  return leases.flatMap(({ name }) => readMeterLease(name) ?? []);
}

const LOCK_BALANCE = "SELECT amount, leased FROM balances WHERE account_id = $1 FOR UPDATE";

const LOCK_SPENDING = `SELECT s.meter, s.since, s.spent, s.leased
  FROM spending s JOIN unnest($1::text::text[], $2::text::integer[]) AS wanted (meter, since) USING (meter, since)
  ORDER BY s.meter, s.since FOR UPDATE OF s`;

const LOCK_TOTAL = `INSERT INTO spending (meter, since) VALUES ($1, 0)
  ON CONFLICT (meter, since) DO UPDATE SET spent = spending.spent`;

const ADD_SPENDING = `INSERT INTO spending (meter, since)
  SELECT meter, since FROM unnest($1::text::text[], $2::text::integer[]) AS wanted (meter, since)
  ORDER BY meter COLLATE "C", since ON CONFLICT DO NOTHING`;

const RAISE_BALANCE = `WITH raised AS (
    UPDATE balances SET leased = leased + $3::bigint WHERE account_id = $1 AND $3::bigint > 0
  )
  INSERT INTO balance_leases AS known (account_id, gateway_id, amount, ticket, answer)
  VALUES ($1, $2, $3::bigint, $4, $5)
  ON CONFLICT (account_id, gateway_id) DO UPDATE SET
    amount = known.amount + excluded.amount, ticket = excluded.ticket, answer = excluded.answer`;

const RAISE_SPENDING = `WITH loans AS (
    SELECT * FROM unnest($3::text::text[], $4::text::integer[], $5::text::bigint[]) AS loans (meter, since, amount)
  ), raised AS (
    UPDATE spending s SET leased = s.leased + l.amount
    FROM loans l WHERE s.meter = l.meter AND s.since = l.since
  )
  INSERT INTO spending_leases AS known (meter, since, gateway_id, account_id, amount)
  SELECT meter, since, $2, $1, amount FROM loans
  ON CONFLICT (meter, since, gateway_id) DO UPDATE SET amount = known.amount + excluded.amount`;
