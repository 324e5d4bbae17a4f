import { DAY_MS } from "../../src/base/time/time.ts";
import type { Postgres } from "../../src/storage/postgres/connection/client.ts";
import { LEDGER_TABLES, partitionOf } from "../../src/storage/postgres/tables/partitions.ts";

/** What to fill a database with. */
export interface Filling {
  readonly firstDay: number;
  readonly days: number;
  readonly rowsPerDay: number;
  readonly accounts: number;
  /** The size of a record's JSON. */
  readonly recordBytes: number;
  /** Whether each completed generation has a charge. */
  readonly hasCharges: boolean;
}

const KEYS_PER_ACCOUNT = 3;
const MODELS = 200;
const PROVIDERS = 8;
/** Of so many generations one is at the rare provider. */
const RARE_EVERY = 500_000;

/** A function that encodes milliseconds as the ten digits of an id. */
const ENCODE_TIME = `CREATE FUNCTION bench_time(ms bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ${Array.from({ length: 10 }, (_, i) => `substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> ${45 - 5 * i}) & 31)::integer + 1, 1)`).join(" || ")}
$$`;

/**
 * Fills a migrated database with generations, evenly over days. A few accounts and models have most of them, 3 of 100 have failed or
 * were cancelled. A partition is attached after it was filled, which builds its indexes at once.
 */
export async function fill(database: Postgres, filling: Filling): Promise<void> {
  await database.run(ENCODE_TIME);
  for (let day = filling.firstDay; day < filling.firstDay + filling.days; day++)
    await database.transaction(async (sql) => {
      await sql.run("SET LOCAL maintenance_work_mem = '512MB'");
      for (const table of LEDGER_TABLES.tables)
        await sql.run(
          `CREATE TABLE ${partitionOf(table, day)} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMPRESSION)`,
        );
      await sql.run(describeGenerations(day, filling));
      await sql.run(describeSums(day));
      if (filling.hasCharges) await sql.run(describeCharges(day));
      for (const table of LEDGER_TABLES.tables)
        await sql.run(
          `ALTER TABLE ${table} ATTACH PARTITION ${partitionOf(table, day)} FOR VALUES FROM (${day}) TO (${day + 1})`,
        );
    });
}

function describeGenerations(day: number, { rowsPerDay, accounts, recordBytes }: Filling): string {
  const step = DAY_MS / rowsPerDay;
  return `INSERT INTO ${partitionOf("generations", day)}
      (day, id, created_at, account_id, key_id, model, outcome, cost, is_free, record)
    SELECT ${day}, id, ms, 'user_' || account, 'key_' || account || '_' || n % ${KEYS_PER_ACCOUNT}, 'author/model-' || model,
      outcome, CASE WHEN outcome = 'completed' THEN 1000 + n % 100000 ELSE 0 END, false,
      rpad('{"id":"' || id || '","userId":"user_' || account || '","model":"author/model-' || model || '","provider":"' || provider
        || '","outcome":"' || outcome || '","rest":"', ${recordBytes - 2}, md5(n::text)) || '"}'
    FROM (
      SELECT *, CASE WHEN (n + ${day * rowsPerDay}::bigint) % ${RARE_EVERY} = 11 THEN 'rare' ELSE 'provider-' || model % ${PROVIDERS} END AS provider FROM (
      SELECT n, ms, 'gen_' || bench_time(ms) || substr(md5(n::text), 1, 16) AS id,
        floor(${accounts} * power(random(), 3))::integer AS account,
        floor(${MODELS} * power(random(), 3))::integer AS model,
        CASE WHEN random() < 0.97 THEN 'completed' WHEN random() < 0.67 THEN 'failed' ELSE 'cancelled' END AS outcome
      FROM (SELECT n, ${day * DAY_MS} + floor(n * ${step})::bigint AS ms FROM generate_series(0, ${rowsPerDay - 1}) AS n) AS times
    ) AS drawn) AS routed`;
}

/** The sums that saving the generations would have raised, with their numbers only. */
function describeSums(day: number): string {
  return `INSERT INTO usage_days
    SELECT day, account_id, key_id, account_id, model, record::json ->> 'provider', count(*), 0, 0, 0, 0, 0, 0, sum(cost), 0
    FROM ${partitionOf("generations", day)} GROUP BY 1, 2, 3, 4, 5, 6`;
}

function describeCharges(day: number): string {
  return `INSERT INTO ${partitionOf("charges", day)} (day, id, account_id, amount, created_at)
    SELECT day, id, account_id, cost, created_at FROM ${partitionOf("generations", day)} WHERE cost > 0`;
}
