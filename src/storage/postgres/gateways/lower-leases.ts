import { BALANCE_LEASE, readMeterLease } from "../../../core/ledger/leases/money-leases.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";

type EndedRecord = Pick<UsageRecord, "accountId" | "costNanodollars" | "leasedFrom">;

/**
 * Lowers the leases of a gateway, and the leased amounts of balances and limits, by the costs of its records. Runs in the transaction that
 * writes the records, only for records that had not ended before, and after the transaction has changed, and so locked, their rows of
 * `balances` and `spending`.
 */
export async function lowerLeases(
  sql: SqlRunner,
  gatewayId: string,
  records: readonly EndedRecord[],
): Promise<void> {
  const { balances, meters } = sumCosts(records);
  if (balances.size > 0)
    await sql.run(LOWER_BALANCES, [
      gatewayId,
      encodeList([...balances.keys()]),
      encodeList([...balances.values()]),
    ]);
  if (meters.size === 0) return;
  const periods = [...meters.keys()].map(readMeterLease).filter((period) => period !== null);
  await sql.run(LOWER_SPENDING, [
    gatewayId,
    encodeList(periods.map(({ meter }) => meter)),
    encodeList(periods.map(({ since }) => since)),
    encodeList([...meters.values()]),
  ]);
}

/** Sums the costs by the leases that cover them. */
function sumCosts(records: readonly EndedRecord[]) {
  const balances = new Map<string, number>();
  const meters = new Map<string, number>();
  for (const { accountId, costNanodollars: cost, leasedFrom = [] } of records) {
    if (accountId === null || cost === 0) continue;
    for (const name of leasedFrom) {
      const [sums, key] = name === BALANCE_LEASE ? [balances, accountId] : [meters, name];
      sums.set(key, (sums.get(key) ?? 0) + cost);
    }
  }
  return { balances, meters };
}

// A cost beyond the lease, as of a generation that outlived its hold, lowers the balance and not the leases of others.
const LOWER_BALANCES = `WITH costs AS (
    SELECT * FROM unnest($2::text::text[], $3::text::bigint[]) AS costs (account_id, cost)
  ), covered AS (
    SELECT l.account_id, least(l.amount, c.cost) AS amount
    FROM balance_leases l JOIN costs c USING (account_id) WHERE l.gateway_id = $1 FOR UPDATE OF l
  ), lowered AS (
    UPDATE balance_leases l SET amount = l.amount - covered.amount
    FROM covered WHERE l.account_id = covered.account_id AND l.gateway_id = $1
  )
  UPDATE balances b SET leased = b.leased - covered.amount FROM covered WHERE b.account_id = covered.account_id`;

const LOWER_SPENDING = `WITH costs AS (
    SELECT * FROM unnest($2::text::text[], $3::text::integer[], $4::text::bigint[]) AS costs (meter, since, cost)
  ), covered AS (
    SELECT l.meter, l.since, least(l.amount, c.cost) AS amount
    FROM spending_leases l JOIN costs c USING (meter, since) WHERE l.gateway_id = $1 FOR UPDATE OF l
  ), lowered AS (
    UPDATE spending_leases l SET amount = l.amount - covered.amount
    FROM covered WHERE l.meter = covered.meter AND l.since = covered.since AND l.gateway_id = $1
  )
  UPDATE spending s SET leased = s.leased - covered.amount
  FROM covered WHERE s.meter = covered.meter AND s.since = covered.since`;
