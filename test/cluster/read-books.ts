import { SQL } from "bun";
import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records/records.ts";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import type { Books, TransferRow } from "../books/books.ts";

/** The books of a cluster, and what its gateways have borrowed. */
export interface ClusterBooks extends Books {
  /** Each row that has an amount leased: `table key: amount`. */
  readonly leased: readonly string[];
  /** Each row whose `leased` is not the sum of its leases, or exceeds what the account has. */
  readonly wrongLeases: readonly string[];
  /** The names of the steps of the schema, in order. */
  readonly steps: readonly string[];
  /** Records that the database rejected for their content. */
  readonly quarantined: readonly string[];
}

/** Reads everything, without a gateway. */
export async function readBooks(databaseUrl: string): Promise<ClusterBooks> {
  const sql = new SQL({ url: databaseUrl, max: 1 });
  try {
    return await readAll(sql);
  } finally {
    await sql.close();
  }
}

async function readAll(sql: SQL): Promise<ClusterBooks> {
  const generations = await sql.unsafe<{ id: string; outcome: string; record: string }[]>(
    "SELECT id, outcome, record FROM generations",
  );
  const rows = await sql.unsafe<TransferRow[]>(
    `
    SELECT id, 'usage' AS kind, account_id AS from_account, $1::text AS to_account, amount FROM charges
    UNION ALL SELECT id, kind, from_account, to_account, amount FROM credits`,
    [PLATFORM_ACCOUNT],
  );
  const transfers = rows.map((row) => ({ ...row, amount: Number(row.amount) }));
  const balances = await sql.unsafe<{ account_id: string; amount: string }[]>(
    "SELECT account_id, amount FROM balances",
  );
  const amounts = new Map(balances.map(({ account_id, amount }) => [account_id, Number(amount)]));
  // The platform's balance is derived: what all others together leave.
  amounts.set(PLATFORM_ACCOUNT, -[...amounts.values()].reduce((sum, amount) => sum + amount, 0));
  const damaged = await sql.unsafe<{ found: string }[]>(DAMAGED);
  return {
    integrity: damaged.length === 0 ? "ok" : damaged.map(({ found }) => found).join(", "),
    rows: generations.length,
    // The columns for queries and the JSON of the record are stored separately; they must agree.
    records: new Map(
      generations.map(({ id, outcome, record }) => [
        id,
        { ...JSON.parse(record), id, outcome } as UsageRecord,
      ]),
    ),
    transfers: new Map(transfers.map((transfer) => [transfer.id, transfer])),
    transferRows: transfers.length,
    balances: amounts,
    leased: await readLines(sql, LEASED),
    wrongLeases: await readLines(sql, WRONG_LEASES),
    steps: await readLines(sql, "SELECT name AS line FROM schema_migrations ORDER BY version"),
    quarantined: await readLines(sql, "SELECT id || ': ' || reason AS line FROM quarantined_records"),
  };
}

async function readLines(sql: SQL, query: string): Promise<string[]> {
  return (await sql.unsafe<{ line: string }[]>(query)).map(({ line }) => line);
}

/** A record without its columns' outcome, or a charge without its generation. */
const DAMAGED = `
  SELECT 'outcome of ' || id AS found FROM generations WHERE record::jsonb ->> 'outcome' <> outcome
  UNION ALL
  SELECT 'charge of ' || c.id FROM charges c WHERE NOT EXISTS
    (SELECT 1 FROM generations g WHERE g.day = c.day AND g.id = c.id AND g.cost = c.amount)`;

const LEASED = `
  SELECT 'balance of ' || account_id || ': ' || leased AS line FROM balances WHERE leased <> 0
  UNION ALL
  SELECT 'spending of ' || meter || ': ' || leased FROM spending WHERE leased <> 0`;

const WRONG_LEASES = `
  SELECT 'balance of ' || b.account_id || ': leased ' || b.leased || ', leases ' || coalesce(sum(l.amount), 0) AS line
    FROM balances b LEFT JOIN balance_leases l USING (account_id)
    GROUP BY b.account_id, b.leased HAVING b.leased <> coalesce(sum(l.amount), 0)
  UNION ALL
  SELECT 'spending of ' || s.meter || ': leased ' || s.leased || ', leases ' || coalesce(sum(l.amount), 0)
    FROM spending s LEFT JOIN spending_leases l USING (meter, since)
    GROUP BY s.meter, s.since, s.leased HAVING s.leased <> coalesce(sum(l.amount), 0)`;
