import {
  connectPostgres,
  type Postgres,
  type PostgresOptions,
  type SqlRunner,
} from "../connection/client.ts";
import { MIGRATIONS } from "./list.ts";
import type { Migration } from "./migration.ts";

/** The result of `migratePostgres`. */
interface MigrationReport {
  /** The names of the steps that this call has applied, in order. */
  readonly applied: readonly string[];
  /** The schema version of the database afterwards. Higher than `known` if a newer version of the gateway has migrated it. */
  readonly version: number;
  /** The schema version of this program. */
  readonly known: number;
}

/** Thrown when the database lacks steps of this program. */
class OlderSchemaError extends Error {}

/** Thrown when a version of the gateway has migrated the database and this version cannot share it. */
export class NewerSchemaError extends Error {}

/** The id of the lock, which only migrations take: the letters "gatewaym" as a number. */
const LOCK = "7449363237790906733";

/** The longest wait for a lock on a table. Statements of running gateways wait behind it. Milliseconds. */
const TABLE_LOCK_MS = 4_000;

/** The time limit for one statement of a step, and for waiting for another process that migrates. Milliseconds. */
const STATEMENT_MS = 600_000;

/** Like `migratePostgres`, over a connection of its own whose statements may take minutes. */
export async function migrateDatabase(
  options: Omit<PostgresOptions, "maxConnections" | "statementMs">,
): Promise<MigrationReport> {
  const database = connectPostgres({ ...options, maxConnections: 1, statementMs: STATEMENT_MS });
  try {
    return await migratePostgres(database);
  } finally {
    await database.close();
  }
}

/**
 * Applies the steps that the database lacks, in one transaction. Several processes may call it at the same time: one applies them, and the
 * others wait. `steps` are all steps of this program.
 * @throws NewerSchemaError; StoreError, and nothing is applied, if a statement fails.
 */
export async function migratePostgres(
  database: Postgres,
  steps: readonly Migration[] = MIGRATIONS,
): Promise<MigrationReport> {
  // First without a lock or the right to create tables, because nearly every start finds nothing to apply.
  const found = await readSchema(database);
  const isCurrent = found.version >= steps.length;
  const applied = isCurrent ? [] : await database.transaction((sql) => applyMissing(sql, steps));
  const schema = isCurrent ? found : await readSchema(database);
  rejectNewer(schema, steps.length);
  return { applied, version: schema.version, known: steps.length };
}

function rejectNewer({ version, oldestVersion }: PostgresSchema, known: number): void {
  if (oldestVersion <= known) return;
  throw new NewerSchemaError(
    `the database was migrated by a newer version of the gateway (schema ${version}, usable from schema ${oldestVersion} on); this version has schema ${known}. Install the newer version.`,
  );
}

/**
 * Rejects unless the database has the tables that this program needs.
 * @throws OlderSchemaError, NewerSchemaError; StoreError.
 */
export async function requireSchema(sql: SqlRunner, known = MIGRATIONS.length): Promise<void> {
  const schema = await readSchema(sql);
  if (schema.version < known)
    throw new OlderSchemaError(
      `the database has schema ${schema.version} and this version of the gateway needs schema ${known}; run \`gateway migrate\``,
    );
  rejectNewer(schema, known);
}

/** The steps that a database has. */
export interface PostgresSchema {
  readonly version: number;
  /** The lowest schema version whose code works on the database. */
  readonly oldestVersion: number;
}

/** Returns which steps a database has; version 0 if it was never migrated. Rejects with a StoreError. */
export async function readSchema(sql: SqlRunner): Promise<PostgresSchema> {
  const [table] = await sql.run<{ exists: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS exists",
  );
  if (table?.exists !== true) return { version: 0, oldestVersion: 0 };
  const [row] = await sql.run<{ version: number; oldest_version: number }>(
    "SELECT coalesce(max(version), 0) AS version, coalesce(max(oldest_version), 0) AS oldest_version FROM schema_migrations",
  );
  return { version: row?.version ?? 0, oldestVersion: row?.oldest_version ?? 0 };
}

async function applyMissing(sql: SqlRunner, steps: readonly Migration[]): Promise<readonly string[]> {
  await sql.run(`SELECT pg_advisory_xact_lock(${LOCK})`);
  await sql.run(`SET LOCAL lock_timeout = ${TABLE_LOCK_MS}`);
  await sql.run(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       version integer PRIMARY KEY, name text NOT NULL, oldest_version integer NOT NULL,
       applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  const { version } = await readSchema(sql);
  const missing = steps.slice(version);
  for (const [index, step] of missing.entries()) {
    await sql.run(step.sql);
    await sql.run("INSERT INTO schema_migrations (version, name, oldest_version) VALUES ($1, $2, $3)", [
      version + index + 1,
      step.name,
      step.oldestVersion,
    ]);
  }
  return missing.map(({ name }) => name);
}
