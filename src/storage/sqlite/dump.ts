import type { Database, SQLQueryBindings } from "bun:sqlite";
import { PLATFORM_ACCOUNT } from "../../core/ledger/records/records.ts";
import type { DumpKey, StorageDump, StorageSum } from "../../core/storage-copy/storage-dump.ts";
import {
  COPY_SETTING,
  type DumpRow,
  type DumpTable,
  type DumpValue,
  OWN_SETTINGS,
  type TableName,
} from "../../core/storage-copy/tables.ts";
import type { UsageRecord } from "../../core/usage/records/records.ts";
import { SqlSettingsStore } from "../sql/settings-store.ts";
import { createSqliteDatabase } from "./connection/sql-database.ts";
import { GenerationTags } from "./usage/generation-tags.ts";
import { columnsOf, GENERATION_COLUMNS } from "./usage/usage-store.ts";

/** How SQLite stores a table of a dump, as far as it differs. */
interface Mapping {
  readonly table?: string;
  /** Its names of columns. */
  readonly columns?: Readonly<Record<string, string>>;
  /** The rows that belong to the table. */
  readonly where?: string;
  /** Further columns of a row that is written. */
  readonly extra?: (row: DumpRow) => Readonly<Record<string, DumpValue>>;
  /** Rows never change, so an existing row is kept. */
  readonly isImmutable?: true;
}

const MAPPINGS: Readonly<Partial<Record<TableName, Mapping>>> = {
  settings: { where: `name NOT IN (${OWN_SETTINGS.map((name) => `'${name}'`).join(", ")})` },
  provider_keys: { columns: { ciphertext: "box", position: "place" } },
  audit_log: { isImmutable: true },
  budget_marks: { isImmutable: true },
  stored_responses: { table: "kept_answers" },
  generations: { extra: describeGeneration },
  charges: {
    table: "transfers",
    columns: { account_id: "from_account" },
    where: "kind = 'usage'",
    extra: () => ({ kind: "usage", to_account: PLATFORM_ACCOUNT }),
    isImmutable: true,
  },
  credits: { table: "transfers", where: "kind <> 'usage'", isImmutable: true },
};

function describeGeneration({ record }: DumpRow): Readonly<Record<string, DumpValue>> {
  const json = String(record);
  const values = columnsOf({ record: JSON.parse(json) as UsageRecord, json });
  return Object.fromEntries(GENERATION_COLUMNS.map((name, at) => [name, values[at] ?? null]));
}

/** The tables that are in the database of response objects. */
const IN_RESPONSES = /^response_/;

/** The inputs of a SQLite dump besides its tables. */
interface SqliteDumpOptions {
  readonly database: Database;
  /** The database of response objects. */
  readonly responses: Database;
  readonly location: string;
  /** Returns why the data directory cannot be copied now, as far as its files show; null if it can. */
  readonly findObstacle: () => string | null;
}

/** All rows of the databases of a data directory. */
export class SqliteDump implements StorageDump {
  readonly location: string;
  private readonly database: Database;
  private readonly settings;
  private readonly tags: GenerationTags;

  constructor(private readonly options: SqliteDumpOptions) {
    this.location = options.location;
    this.database = options.database;
    this.settings = new SqlSettingsStore(createSqliteDatabase(options.database));
    this.tags = new GenerationTags(options.database);
  }

  async findObstacle() {
    const obstacle = this.options.findObstacle();
    if (obstacle !== null) return obstacle;
    const count = (table: string): number =>
      this.database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0;
    if (count("announced_changes") > 0) return "a change of its last gateway has no audit entry yet";
    const running = this.options.responses.query<{ id: string }, []>(RUNNING).get();
    if (running !== null)
      return `the response ${running.id} has not ended. Start the gateway once and stop it`;
    return count("retention") === 0
      ? null
      : "the retention policy has deleted records (storage.retention_days)";
  }

  async readPage(table: DumpTable, after: DumpKey | null) {
    const { table: name = table.name, columns = {}, where = "1 = 1" } = MAPPINGS[table.name] ?? {};
    const physical = (column: string): string => columns[column] ?? column;
    const selected = Object.keys(table.columns).map((column) => `${physical(column)} AS ${column}`);
    const key = table.key.map(physical).join(", ");
    const later = after === null ? "" : `AND (${key}) > (${table.key.map(() => "?").join(", ")})`;
    const text = `SELECT ${selected.join(", ")} FROM ${name} WHERE ${where} ${later} ORDER BY ${key} LIMIT ?`;
    const values = [...(after ?? []), table.pageRows] as SQLQueryBindings[];
    const database = this.databaseOf(table);
    const rows = database.query<Record<string, DumpValue>, SQLQueryBindings[]>(text).all(...values);
    return rows.map((row) => readBooleans(table, row));
  }

  async writePage(table: DumpTable, rows: readonly DumpRow[], progress: string) {
    const database = this.databaseOf(table);
    const writeRows = () => {
      for (const row of rows) this.write(table, row);
    };
    // A page that is in the other database without its progress is written again by the next copy.
    if (database !== this.database) database.transaction(writeRows).immediate();
    this.database
      .transaction(() => {
        if (database === this.database) writeRows();
        void this.settings.putSetting(COPY_SETTING, progress);
      })
      .immediate();
  }

  async readProgress() {
    return this.settings.findSetting(COPY_SETTING);
  }

  async finish() {
    this.database.query("DELETE FROM settings WHERE name = ?").run(COPY_SETTING);
  }

  async sum() {
    return [
      ...this.database.query<StorageSum, []>(SUMS).all(),
      ...this.options.responses.query<StorageSum, []>(RESPONSE_SUMS).all(),
    ];
  }

  private databaseOf({ name }: DumpTable): Database {
    return IN_RESPONSES.test(name) ? this.options.responses : this.database;
  }

  private write(table: DumpTable, row: DumpRow): void {
    const { table: name = table.name, columns = {}, extra, isImmutable } = MAPPINGS[table.name] ?? {};
    const values: Record<string, DumpValue> = { ...extra?.(row) };
    for (const column of Object.keys(table.columns)) values[columns[column] ?? column] = row[column] ?? null;
    const names = Object.keys(values);
    const onConflict = isImmutable ? "ON CONFLICT DO NOTHING" : "";
    const text = `INSERT ${isImmutable ? "" : "OR REPLACE"} INTO ${name} (${names.join(", ")})
      VALUES (${names.map(() => "?").join(", ")}) ${onConflict}`;
    this.databaseOf(table)
      .query(text)
      .run(...(Object.values(values) as SQLQueryBindings[]));
    if (table.name === "generations") this.tags.add(JSON.parse(String(row["record"])) as UsageRecord);
  }
}

/** SQLite has no booleans. */
function readBooleans({ columns }: DumpTable, row: Record<string, DumpValue>): DumpRow {
  for (const [name, type] of Object.entries(columns)) if (type === "boolean") row[name] = row[name] === 1;
  return row;
}

const RUNNING = "SELECT id FROM response_objects WHERE status IN ('queued', 'in_progress') LIMIT 1";

const RESPONSE_SUMS = `
  SELECT 'response objects' AS "of", count(*) AS count, NULL AS amount FROM response_objects
  UNION ALL SELECT 'bytes of response objects', coalesce(sum(bytes), 0), NULL FROM response_objects
  UNION ALL SELECT 'bytes of accounts', coalesce(sum(bytes), 0), NULL FROM response_accounts`;

const SUMS = `
  SELECT 'generations' AS "of", count(*) AS count, coalesce(sum(cost), 0) AS amount FROM generations
  UNION ALL SELECT 'transfers: ' || kind, count(*), coalesce(sum(amount), 0) FROM transfers GROUP BY kind
  UNION ALL SELECT 'balances', count(*), coalesce(sum(amount), 0) FROM balances
  UNION ALL SELECT 'usage days', count(*), coalesce(sum(cost), 0) FROM usage_days
  UNION ALL SELECT 'requests in usage days', coalesce(sum(requests), 0), NULL FROM usage_days
  UNION ALL SELECT 'usage sums', count(*), coalesce(sum(cost), 0) FROM usage_sums
  UNION ALL SELECT 'requests in usage sums', coalesce(sum(requests), 0), NULL FROM usage_sums
  UNION ALL SELECT 'usage by tag', count(*), coalesce(sum(cost), 0) FROM usage_tags
  UNION ALL SELECT 'usage by client', count(*), coalesce(sum(cost), 0) FROM usage_clients
  UNION ALL SELECT 'tags of generations', count(*), NULL FROM generation_tags
  UNION ALL SELECT 'usage times', count(*), NULL FROM usage_times
  UNION ALL SELECT 'audit entries', count(*), NULL FROM audit_log
  UNION ALL SELECT 'API keys', count(*), NULL FROM api_keys`;
