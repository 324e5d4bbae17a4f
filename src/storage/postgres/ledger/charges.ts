import type { Transfer } from "../../../core/ledger/records/records.ts";
import { dayOfId } from "../../sql/statements/day-of-id.ts";
import { readInteger } from "../../sql/statements/values.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";

/**
 * Writes the transfers of generations whose ids are new, and lowers the balances of their accounts. The transfers must be ordered by day
 * and id, and their partitions must exist. Returns how many were new.
 */
export async function writeCharges(sql: SqlRunner, transfers: readonly Transfer[]): Promise<number> {
  const written = await sql.run<{ account_id: string; amount: string }>(WRITE, [
    encodeList(transfers.map(({ id }) => dayOfId(id))),
    encodeList(transfers.map(({ id }) => id)),
    encodeList(transfers.map(({ from }) => from)),
    encodeList(transfers.map(({ amount }) => amount)),
    encodeList(transfers.map(({ createdAt }) => createdAt)),
  ]);
  const sums = new Map<string, number>();
  for (const row of written)
    sums.set(row.account_id, (sums.get(row.account_id) ?? 0) + readInteger(row.amount));
  if (sums.size > 0) await lowerBalances(sql, sums);
  return written.length;
}

const WRITE = `INSERT INTO charges (day, id, account_id, amount, created_at)
  SELECT * FROM unnest($1::text::integer[], $2::text::text[], $3::text::text[], $4::text::bigint[], $5::text::bigint[])
  ON CONFLICT (day, id) DO NOTHING
  RETURNING account_id, amount`;

async function lowerBalances(sql: SqlRunner, costs: ReadonlyMap<string, number>): Promise<void> {
  // All transactions lock accounts in this order, so that they cannot deadlock.
  const accounts = [...costs.keys()].sort();
  const changed = await sql.run(LOWER, [
    encodeList(accounts),
    encodeList(accounts.map((account) => -(costs.get(account) ?? 0))),
  ]);
  if (changed.length !== accounts.length)
    throw new Error(`${changed.length} of ${accounts.length} balances were changed`);
}

const LOWER = `INSERT INTO balances AS known (account_id, amount)
  SELECT * FROM unnest($1::text::text[], $2::text::bigint[])
  ON CONFLICT (account_id) DO UPDATE SET amount = known.amount + excluded.amount
  RETURNING account_id`;
