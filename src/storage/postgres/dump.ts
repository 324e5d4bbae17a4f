import type { DumpKey, StorageDump } from "../../core/storage-copy/storage-dump.ts";
import {
  COPY_SETTING,
  type DumpRow,
  type DumpTable,
  type DumpValue,
  OWN_SETTINGS,
} from "../../core/storage-copy/tables.ts";
import { dayOfId } from "../sql/statements/day-of-id.ts";
import { cleanText, readInteger, readNullableInteger } from "../sql/statements/values.ts";
import { encodeList, type Postgres, type PostgresValue, type SqlRunner } from "./connection/client.ts";
import { CopiedCredits } from "./ledger/copied-credits.ts";
import { RESPONSE_TABLES } from "./responses/response-store.ts";
import { LEDGER_TABLES, Partitions } from "./tables/partitions.ts";
import { copyRecords } from "./usage/save-usage.ts";

/** The dependencies of a PostgreSQL dump. Its statements may take minutes. */
interface PostgresDumpOptions {
  readonly database: Postgres;
  readonly location: string;
}

/** The types of columns in PostgreSQL. */
const TYPES = { text: "text", integer: "bigint", boolean: "boolean", bytes: "bytea" } as const;

/** The tables whose rows never change. An existing row is kept. */
const IMMUTABLE: readonly string[] = ["audit_log", "charges", "budget_marks"];

/** The tables that are partitioned by the day in the id, which is no column of a dump. */
const DATED: readonly string[] = LEDGER_TABLES.tables;

/** All rows of a PostgreSQL database. */
export class PostgresDump implements StorageDump {
  readonly location: string;
  private readonly database: Postgres;
  private readonly partitions: Partitions;
  private readonly responsePartitions: Partitions;
  private readonly credits = new CopiedCredits();

  constructor({ database, location }: PostgresDumpOptions) {
    this.location = location;
    this.database = database;
    this.partitions = new Partitions(database, LEDGER_TABLES);
    this.responsePartitions = new Partitions(database, RESPONSE_TABLES);
  }

  async findObstacle() {
    for (const { text, describe } of OBSTACLES) {
      const [row] = await this.database.run<{ name: string }>(text);
      if (row !== undefined) return describe(row.name);
    }
    return null;
  }

  async readPage(table: DumpTable, after: DumpKey | null) {
    const isDated = DATED.includes(table.name);
    const key = isDated ? ["day", ...table.key] : table.key;
    const from = after !== null && isDated ? [dayOfId(String(after[0])), ...after] : (after ?? []);
    const values = from as readonly PostgresValue[];
    const conditions = ["true"];
    if (values.length > 0)
      conditions.push(`(${key.join(", ")}) > (${key.map((_, at) => `$${at + 1}`).join(", ")})`);
    // A condition of its own, so that earlier partitions are not read.
    if (values.length > 0 && key[0] === "day") conditions.push("day >= $1");
    if (table.name === "settings") conditions.push(`name <> ALL ('${encodeList(OWN_SETTINGS)}'::text[])`);
    const rows = await this.database.run<Record<string, unknown>>(
      `SELECT ${Object.keys(table.columns).join(", ")} FROM ${table.name}
       WHERE ${conditions.join(" AND ")} ORDER BY ${key.map(orderByBytes(table)).join(", ")} LIMIT ${table.pageRows}`,
      values,
    );
    return rows.map((row) => readRow(table, row));
  }

  async writePage(table: DumpTable, rows: readonly DumpRow[], progress: string) {
    if (DATED.includes(table.name))
      await this.partitions.ensure([...new Set(rows.map(({ id }) => dayOfId(String(id))))]);
    if (RESPONSE_TABLES.tables.includes(table.name))
      await this.responsePartitions.ensure([...new Set(rows.map(({ day }) => Number(day)))]);
    await this.database.transaction(async (sql) => {
      if (rows.length > 0) await this.write(sql, table, rows);
      await sql.run(PUT_PROGRESS, [COPY_SETTING, progress]);
    });
  }

  async readProgress() {
    const [row] = await this.database.run<{ value: string }>("SELECT value FROM settings WHERE name = $1", [
      COPY_SETTING,
    ]);
    return row?.value ?? null;
  }

  async finish() {
    await this.database.transaction(async (sql) => {
      await sql.run(
        `SELECT setval('transfer_places', max(place)) FROM (
           SELECT max(place) AS place FROM charges UNION ALL SELECT max(place) FROM credits) AS places
         HAVING max(place) IS NOT NULL`,
      );
      await sql.run("UPDATE revisions SET revision = revision + 1");
      await sql.run("DELETE FROM settings WHERE name = $1", [COPY_SETTING]);
    });
  }

  async sum() {
    const rows = await this.database.run<{ of: string; count: string; amount: string | null }>(SUMS);
    return rows.map(({ of, count, amount }) => ({
      of,
      count: readInteger(count),
      amount: readNullableInteger(amount),
    }));
  }

  private async write(sql: SqlRunner, table: DumpTable, rows: readonly DumpRow[]): Promise<void> {
    if (table.name === "generations") return copyRecords(sql, rows.map(readEntry));
    const cleaned = rows.map((row) => cleanRow(table, row));
    if (table.name === "credits") return this.credits.write(sql, cleaned);
    const isDated = DATED.includes(table.name);
    const dated = isDated ? cleaned.map((row) => ({ ...row, day: dayOfId(String(row["id"])) })) : cleaned;
    const columns = isDated ? { ...table.columns, day: "integer" as const } : table.columns;
    const key = isDated ? ["day", ...table.key] : table.key;
    await insertRows(sql, { ...table, columns, key }, dated);
  }
}

/** Texts are compared as bytes, as in SQLite, whatever the collation of the database is. */
function orderByBytes({ columns }: DumpTable): (name: string) => string {
  return (name) => (columns[name] === "text" ? `${name} COLLATE "C"` : name);
}

function readRow({ columns }: DumpTable, row: Readonly<Record<string, unknown>>): DumpRow {
  const read: Record<string, DumpValue> = {};
  for (const [name, type] of Object.entries(columns)) {
    const value = row[name] as DumpValue;
    // An integer column of 32 bits arrives as a number.
    read[name] = type === "integer" && typeof value === "string" ? readInteger(value) : value;
  }
  return read;
}

function cleanRow({ columns }: DumpTable, row: DumpRow): DumpRow {
  const cleaned: Record<string, DumpValue> = {};
  for (const name of Object.keys(columns)) {
    const value = row[name] ?? null;
    cleaned[name] = typeof value === "string" ? cleanText(value) : value;
  }
  return cleaned;
}

function readEntry({ id, record }: DumpRow) {
  const json = String(record);
  return { record: JSON.parse(json), json, day: dayOfId(String(id)) };
}

/** Inserts rows, with the same statement for any number of them. */
async function insertRows(sql: SqlRunner, table: DumpTable, rows: readonly DumpRow[]): Promise<void> {
  const names = Object.keys(table.columns);
  const lists = Object.entries(table.columns).map(([, type], at) => `$${at + 1}::text::${TYPES[type]}[]`);
  const changes = names.filter((name) => !table.key.includes(name));
  const onConflict = IMMUTABLE.includes(table.name)
    ? "NOTHING"
    : `UPDATE SET ${changes.map((name) => `${name} = excluded.${name}`).join(", ")}`;
  await sql.run(
    `INSERT INTO ${table.name} (${names.join(", ")}) SELECT * FROM unnest(${lists.join(", ")})
     ON CONFLICT (${table.key.join(", ")}) DO ${onConflict}`,
    names.map((name) => encodeList(rows.map((row) => encodeValue(row[name] ?? null)))),
  );
}

function encodeValue(value: DumpValue): string | number | boolean | null {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value;
}

const PUT_PROGRESS = `INSERT INTO settings (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

interface Obstacle {
  /** Returns a row with a `name` if there is an obstacle. */
  readonly text: string;
  readonly describe: (name: string) => string;
}

const OBSTACLES: readonly Obstacle[] = [
  {
    text: "SELECT id AS name FROM gateways WHERE ends_at > clock_timestamp() LIMIT 1",
    describe: (name) =>
      `the gateway ${name} runs on it. Stop all gateways; one that was killed counts as running for half a minute`,
  },
  {
    text: `SELECT gateway_id AS name FROM balance_leases WHERE amount > 0
      UNION ALL SELECT gateway_id FROM spending_leases WHERE amount > 0 LIMIT 1`,
    describe: (name) =>
      `the gateway ${name} has leases of money, so its journal may have records that are not saved. Start it once and stop it, or run \`gateway leases release ${name}\``,
  },
  {
    text: "SELECT owner AS name FROM begun_changes LIMIT 1",
    describe: (name) => `a change of ${name} has no audit entry yet. Start a gateway once and stop it`,
  },
  {
    text: "SELECT id AS name FROM response_objects WHERE status IN ('queued', 'in_progress') LIMIT 1",
    describe: (name) => `the response ${name} has not ended. Start its gateway once and stop it`,
  },
  {
    text: "SELECT day::text AS name FROM dropped_days LIMIT 1",
    describe: () => "the retention policy has deleted records (storage.retention_days)",
  },
];

const SUMS = `
  SELECT 'generations' AS of, count(*) AS count, coalesce(sum(cost), 0) AS amount FROM generations
  UNION ALL SELECT 'transfers: usage', count(*), sum(amount) FROM charges HAVING count(*) > 0
  UNION ALL SELECT 'transfers: ' || kind, count(*), sum(amount) FROM credits GROUP BY kind
  UNION ALL SELECT 'balances', count(*), coalesce(sum(amount), 0) FROM balances
  UNION ALL SELECT 'usage days', count(*), coalesce(sum(cost), 0) FROM usage_days
  UNION ALL SELECT 'requests in usage days', coalesce(sum(requests), 0)::bigint, NULL FROM usage_days
  UNION ALL SELECT 'usage sums', count(*), coalesce(sum(cost), 0) FROM usage_sums
  UNION ALL SELECT 'requests in usage sums', coalesce(sum(requests), 0)::bigint, NULL FROM usage_sums
  UNION ALL SELECT 'usage by tag', count(*), coalesce(sum(cost), 0) FROM usage_tags
  UNION ALL SELECT 'usage by client', count(*), coalesce(sum(cost), 0) FROM usage_clients
  UNION ALL SELECT 'tags of generations', count(*), NULL FROM generation_tags
  UNION ALL SELECT 'usage times', count(*), NULL FROM usage_times
  UNION ALL SELECT 'audit entries', count(*), NULL FROM audit_log
  UNION ALL SELECT 'API keys', count(*), NULL FROM api_keys
  UNION ALL SELECT 'response objects', count(*), NULL FROM response_objects
  UNION ALL SELECT 'bytes of response objects', coalesce(sum(bytes), 0)::bigint, NULL FROM response_objects
  UNION ALL SELECT 'bytes of accounts', coalesce(sum(bytes), 0)::bigint, NULL FROM response_accounts`;
