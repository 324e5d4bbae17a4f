import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ANY_GENERATION, type GenerationFilter } from "../../src/core/usage/generations/generation-list.ts";
import { recoverUsage } from "../../src/core/usage/journal/recover-usage.ts";
import type { RecordEntry } from "../../src/core/usage/records/records.ts";
import { openDatabase } from "../../src/storage/sqlite/connection/database.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger/ledger-store.ts";
import { MIGRATIONS } from "../../src/storage/sqlite/migrations/list.ts";
import { compareSchema, migrate, readSchema } from "../../src/storage/sqlite/migrations/migrate.ts";
import type { SqliteMigration } from "../../src/storage/sqlite/migrations/migration.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage/usage-store.ts";
import { createMemoryJournal } from "../support/databases/memory-journal.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { openUsageOf, usageOf } from "./contracts/samples.ts";

/** Version 0.1 had the tables of these migrations. */
const VERSION_0_1 = 8;
/** The last version without columns for the model and the provider of a generation. */
const FILTERED_BY_RECORD = MIGRATIONS.findIndex(({ sql }) => sql.includes("generations_facts"));

let dir: string;
beforeEach(() => {
  dir = makeTempFolder("gateway-migrations-");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Creates a database as an earlier version of the gateway has left it. */
function createAt(version: number): Database {
  const database = new Database(join(dir, "gateway.db"), { create: true, strict: true });
  for (const { sql } of MIGRATIONS.slice(0, version)) database.exec(sql);
  database.exec(`PRAGMA user_version = ${version}`);
  return database;
}

function schemaOf(database: Database): unknown {
  return database.query("SELECT type, name, sql FROM sqlite_schema ORDER BY name").all();
}

test.each(MIGRATIONS.map((_, version) => version))(
  "a database with the tables of migration %i opens and gets the tables of the newest",
  (version) => {
    createAt(version).close();
    const migrated = openDatabase(dir);
    const fresh = new Database(":memory:");
    for (const { sql } of MIGRATIONS) fresh.exec(sql);
    expect(schemaOf(migrated)).toEqual(schemaOf(fresh));
    migrated.close();
  },
);

test("a database of a newer version is not opened", () => {
  createAt(MIGRATIONS.length).exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  expect(() => openDatabase(dir)).toThrow("newer version");
});

const KNOWN = MIGRATIONS.length;
/** A step that only adds, as the next version's may. */
const ADDING: SqliteMigration = {
  sql: "ALTER TABLE accounts ADD COLUMN next_note TEXT; CREATE TABLE next (id TEXT PRIMARY KEY) STRICT",
  oldestVersion: KNOWN,
};
const BREAKING: SqliteMigration = { sql: "DROP TABLE next", oldestVersion: KNOWN + 2 };

/** Migrates the database of the test with steps of a later version. */
function migrateFurther(...more: readonly SqliteMigration[]): void {
  openDatabase(dir).close();
  const database = new Database(join(dir, "gateway.db"));
  migrate(database, [...MIGRATIONS, ...more]);
  database.close();
}

test("a step never works with an older version than the step before it, and needs at most itself", () => {
  for (const [index, { oldestVersion }] of MIGRATIONS.entries()) {
    expect(oldestVersion).toBeGreaterThanOrEqual(MIGRATIONS[index - 1]?.oldestVersion ?? 1);
    expect(oldestVersion).toBeLessThanOrEqual(index + 1);
  }
});

test("a database of a newer version that names this version's schema as one that works opens, and its tables stay", () => {
  migrateFurther(ADDING);
  const database = openDatabase(dir);
  expect(readSchema(database)).toEqual({ version: KNOWN + 1, oldestVersion: KNOWN });
  expect(database.query("SELECT next_note FROM accounts").all()).toHaveLength(1);
  expect(migrate(database)).toEqual({ before: KNOWN + 1, after: KNOWN + 1 });
  database.close();
});

test("a database is not opened by the versions before the oldest that it names, nor by one before a later step that changes more", () => {
  migrateFurther(ADDING);
  const database = new Database(join(dir, "gateway.db"));
  expect(() => migrate(database, MIGRATIONS.slice(0, -1))).toThrow("newer version");
  migrate(database, [...MIGRATIONS, ADDING, BREAKING]);
  expect(readSchema(database)).toEqual({ version: KNOWN + 2, oldestVersion: KNOWN + 2 });
  database.close();
  expect(() => openDatabase(dir)).toThrow("newer version");
});

test("tables are shared if they name this schema as one that works, and else only if they are its own or older ones", () => {
  expect(compareSchema({ version: KNOWN + 1, oldestVersion: KNOWN })).toBe("newer");
  expect(compareSchema({ version: KNOWN + 1, oldestVersion: KNOWN + 1 })).toBe("incompatible");
  expect(compareSchema({ version: KNOWN, oldestVersion: KNOWN })).toBe("same");
  expect(compareSchema({ version: 0, oldestVersion: 0 })).toBe("older");
});

test("a generation that version 0.1 left open is interrupted by the first recovery after the migration", async () => {
  const { record, json } = openUsageOf("gen_1");
  const before = createAt(VERSION_0_1);
  before
    .query(
      "INSERT INTO generations (id, created_at, account_id, outcome, record) VALUES (?, ?, ?, 'open', ?)",
    )
    .run(record.id, record.createdAt, record.accountId, json);
  before.close();
  const database = openDatabase(dir);
  const store = new SqliteUsageStore(database);
  const journal = createMemoryJournal();
  const recovery = await recoverUsage({ journal, store, gatewayId: "gateway_a", now: 5_000 });
  expect(recovery.interrupted).toBe(1);
  expect((await store.findUsage("gen_1"))?.outcome).toBe("interrupted");
  database.close();
});

test("a generation of an earlier version is listed by its model, provider and error", async () => {
  const before = createAt(FILTERED_BY_RECORD);
  const insert = before.query(
    "INSERT INTO generations (id, created_at, account_id, outcome, record) VALUES (?, ?, ?, ?, ?)",
  );
  const entries = [
    usageOf("gen_1"),
    usageOf("gen_2", { outcome: "failed", error: "unavailable", model: null, provider: null }),
  ];
  for (const { record, json } of entries)
    insert.run(record.id, record.createdAt, record.accountId, record.outcome, json);
  before.close();
  const database = openDatabase(dir);
  const store = new SqliteUsageStore(database);
  const list = async (filter: Partial<GenerationFilter>) =>
    (await store.listGenerations({ ...ANY_GENERATION, ...filter, before: null, limit: 9 })).records.map(
      ({ id }) => id,
    );
  const [{ record: first }, { record: second }] = entries as [RecordEntry, RecordEntry];
  expect(await list({ model: first.model })).toContain("gen_1");
  expect(await list({ model: second.requestedModel, outcome: "failed" })).toEqual(["gen_2"]);
  expect(await list({ provider: first.provider })).toEqual(["gen_1"]);
  expect(await list({ errorType: "unavailable" })).toEqual(["gen_2"]);
  database.close();
});

test("the credits of an account are summed by the migration that adds their sum", async () => {
  const before = createAt(VERSION_0_1);
  before.exec(`
    INSERT INTO transfers (id, kind, from_account, to_account, amount, created_at) VALUES
      ('grant_1', 'grant', 'house', 'user_a', 100, 1), ('gen_1', 'usage', 'user_a', 'house', 30, 1),
      ('correction_1', 'correction', 'user_a', 'house', 5, 1), ('gen_2', 'usage', 'user_b', 'house', 7, 1);
    INSERT INTO balances (account_id, amount) VALUES ('user_a', 65), ('user_b', -7), ('house', -58);
  `);
  before.close();
  const database = openDatabase(dir);
  const ledger = new SqliteLedgerStore(database);
  expect(await ledger.findBalance("user_a")).toEqual({
    accountId: "user_a",
    balance: 65,
    credited: 95,
    version: 2,
  });
  expect(await ledger.findBalance("user_b")).toEqual({
    accountId: "user_b",
    balance: -7,
    credited: 0,
    version: 0,
  });
  database.close();
});
