import type { ReleasedLease } from "../../../core/gateways/gateway-registry.ts";
import { readInteger } from "../../sql/statements/values.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";

/** The number of accounts whose leases are released in one transaction. */
const ACCOUNTS = 500;

/** The leased amount of one spending limit. */
interface SpendingRow {
  readonly account_id: string;
  readonly meter: string;
  readonly amount: string;
}

/**
 * Gives a gateway's leases of some accounts back, in a transaction that has checked its epoch. Returns those of more than 0; null if the
 * gateway has no leases any more. Locks balances, then spending, then leases, each by primary key.
 */
export async function releaseLeases(
  sql: SqlRunner,
  gatewayId: string,
): Promise<readonly ReleasedLease[] | null> {
  const accounts = await sql.run<{ account_id: string }>(FIND_ACCOUNTS, [gatewayId, ACCOUNTS]);
  if (accounts.length === 0) return null;
  const page = [gatewayId, encodeList(accounts.map(({ account_id }) => account_id))];
  await sql.run(LOCK_BALANCES, page);
  await sql.run(LOCK_SPENDING, page);
  const balances = await sql.run<{ account_id: string; amount: string }>(RELEASE_BALANCES, page);
  const spending = await sql.run<SpendingRow>(RELEASE_SPENDING, page);
  return [
    ...balances.map(({ account_id, amount }) => ({
      accountId: account_id,
      limit: null,
      amount: readInteger(amount),
    })),
    ...spending.map(({ account_id, meter, amount }) => ({
      accountId: account_id,
      limit: meter,
      amount: readInteger(amount),
    })),
  ].filter(({ amount }) => amount > 0);
}

const FIND_ACCOUNTS = `SELECT account_id FROM balance_leases WHERE gateway_id = $1
  UNION SELECT account_id FROM spending_leases WHERE gateway_id = $1
  ORDER BY account_id LIMIT $2`;

const LOCK_BALANCES = `SELECT 1 FROM balances b
  WHERE b.account_id = ANY ($2::text::text[])
    AND EXISTS (SELECT FROM balance_leases l WHERE l.gateway_id = $1 AND l.account_id = b.account_id)
  ORDER BY b.account_id FOR UPDATE`;

const LOCK_SPENDING = `SELECT 1 FROM spending s
  WHERE (s.meter, s.since) IN (SELECT l.meter, l.since FROM spending_leases l
    WHERE l.gateway_id = $1 AND l.account_id = ANY ($2::text::text[]))
  ORDER BY s.meter, s.since FOR UPDATE`;

const RELEASE_BALANCES = `WITH released AS (
    DELETE FROM balance_leases WHERE gateway_id = $1 AND account_id = ANY ($2::text::text[])
    RETURNING account_id, amount
  ), returned AS (
    UPDATE balances b SET leased = b.leased - r.amount FROM released r WHERE b.account_id = r.account_id
  )
  SELECT account_id, amount FROM released ORDER BY account_id`;

const RELEASE_SPENDING = `WITH released AS (
    DELETE FROM spending_leases WHERE gateway_id = $1 AND account_id = ANY ($2::text::text[])
    RETURNING account_id, meter, since, amount
  ), returned AS (
    UPDATE spending s SET leased = s.leased - r.amount
    FROM released r WHERE s.meter = r.meter AND s.since = r.since
  )
  SELECT account_id, meter, amount FROM released ORDER BY meter, since`;
