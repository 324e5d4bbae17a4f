import type { UnmatchedUsage } from "../../../core/ledger/records/ledger-store.ts";
import { PLATFORM_ACCOUNT } from "../../../core/ledger/records/records.ts";
import { readInteger } from "../../sql/statements/values.ts";
import type { Postgres, SqlRunner } from "../connection/client.ts";

/** Returns the accounts whose balance is not the sum of their transfers. Transfers that retention has deleted count with their sums. */
export async function findDifferences(sql: SqlRunner) {
  const rows = await sql.run<{ account_id: string; difference: string }>(DIFFERENCES, [PLATFORM_ACCOUNT]);
  return rows.map((row) => ({ accountId: row.account_id, difference: readInteger(row.difference) }));
}

const DIFFERENCES = `SELECT account_id, sum(amount) AS difference FROM (
    SELECT account_id, -sum(amount) AS amount FROM charges GROUP BY account_id
    UNION ALL SELECT account_id, -amount FROM dropped_charges
    UNION ALL SELECT to_account, amount FROM credits
    UNION ALL SELECT from_account, -amount FROM credits
    UNION ALL SELECT account_id, -amount FROM balances
  ) AS sums WHERE account_id <> $1 GROUP BY account_id HAVING sum(amount) <> 0 ORDER BY account_id`;

/** Returns generations whose record and transfer differ. */
export async function findUnmatchedUsage(
  database: Postgres,
  limit: number,
): Promise<readonly UnmatchedUsage[]> {
  const rows = await database.transaction(async (sql) => {
    // Joins day by day, instead of all generations with all charges.
    await sql.run("SET LOCAL enable_partitionwise_join = on");
    return sql.run<{ id: string; recorded: string; transferred: string }>(UNMATCHED, [limit]);
  });
  return rows.map(({ id, recorded, transferred }) => ({
    generationId: id,
    recorded: readInteger(recorded),
    transferred: readInteger(transferred),
  }));
}

const UNMATCHED = `SELECT id, coalesce(g.cost, 0) AS recorded, coalesce(c.amount, 0) AS transferred
  FROM (SELECT day, id, account_id, cost FROM generations WHERE account_id IS NOT NULL AND cost > 0) AS g
  FULL JOIN charges c USING (day, id)
  WHERE g.cost IS DISTINCT FROM c.amount OR g.account_id IS DISTINCT FROM c.account_id
  LIMIT $1`;
