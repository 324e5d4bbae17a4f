import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  connectPostgres,
  type Postgres,
  sqlStateOf,
} from "../../../src/storage/postgres/connection/client.ts";
import { MIGRATIONS } from "../../../src/storage/postgres/migrations/list.ts";
import { migratePostgres, NewerSchemaError } from "../../../src/storage/postgres/migrations/migrate.ts";
import type { Migration } from "../../../src/storage/postgres/migrations/migration.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { createTestClock } from "../../support/test-clock.ts";

const FIRST: Migration = {
  name: "0001-first",
  oldestVersion: 1,
  sql: "CREATE TABLE first (id int); CREATE TABLE other (id int)",
};
const SECOND: Migration = {
  name: "0002-second",
  oldestVersion: 1,
  sql: "ALTER TABLE first ADD COLUMN note text",
};
const BREAKING: Migration = { name: "0003-third", oldestVersion: 3, sql: "DROP TABLE other" };

describe.skipIf(POSTGRES_BIN === null)("migrations of PostgreSQL", () => {
  let server: TestPostgres;
  let url: string;
  let database: Postgres;
  const opened: Postgres[] = [];

  const connect = (): Postgres => {
    const connection = connectPostgres({ url, maxConnections: 2, isPooled: false, clock: createTestClock() });
    opened.push(connection);
    return connection;
  };

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    url = await server.createDatabase();
    database = connect();
  });
  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
  });

  const namesOf = async () =>
    (await database.run<{ name: string }>("SELECT name FROM schema_migrations ORDER BY version")).map(
      ({ name }) => name,
    );

  test("an empty database gets all steps in order, and nothing the second time", async () => {
    const first = await migratePostgres(database);
    expect(first.applied).toEqual(MIGRATIONS.map(({ name }) => name));
    expect(first).toMatchObject({ version: MIGRATIONS.length, known: MIGRATIONS.length });
    expect((await migratePostgres(database)).applied).toEqual([]);
    expect(await namesOf()).toEqual(MIGRATIONS.map(({ name }) => name));
  });

  test("the name of each step begins with its version", () => {
    for (const [index, { name }] of MIGRATIONS.entries())
      expect(name).toStartWith(`${String(index + 1).padStart(4, "0")}-`);
  });

  test("no step is usable by code that its predecessor has excluded", () => {
    for (const [index, { oldestVersion }] of MIGRATIONS.entries()) {
      expect(oldestVersion).toBeGreaterThanOrEqual(MIGRATIONS[index - 1]?.oldestVersion ?? 1);
      expect(oldestVersion).toBeLessThanOrEqual(index + 1);
    }
  });

  test("a database gets only the steps that it lacks", async () => {
    await migratePostgres(database, [FIRST]);
    const report = await migratePostgres(database, [FIRST, SECOND]);
    expect(report).toEqual({ applied: ["0002-second"], version: 2, known: 2 });
    expect(await database.run("SELECT note FROM first")).toHaveLength(0);
  });

  test("each step is applied once when many processes start at the same time", async () => {
    const reports = await Promise.all(
      Array.from({ length: 8 }, () => migratePostgres(connect(), [FIRST, SECOND])),
    );
    expect(reports.flatMap(({ applied }) => applied)).toEqual(["0001-first", "0002-second"]);
    expect(reports.every(({ version }) => version === 2)).toBe(true);
  });

  test("a step that fails leaves the database as it was before all steps of the call", async () => {
    const broken: Migration = { ...SECOND, sql: "ALTER TABLE first ADD COLUMN note text; SELECT 1 / 0" };
    const error = await migratePostgres(database, [FIRST, broken]).catch((reason) => reason);
    expect(sqlStateOf(error)).toBe("22012");
    const [row] = await database.run<{ found: unknown }>("SELECT to_regclass('first') AS found");
    expect(row?.found).toBeNull();
    expect((await migratePostgres(database, [FIRST, SECOND])).applied).toHaveLength(2);
  });

  test("a program uses a newer schema that still allows its version", async () => {
    await migratePostgres(database, [FIRST, SECOND]);
    expect(await migratePostgres(database, [FIRST])).toEqual({ applied: [], version: 2, known: 1 });
  });

  test("a program rejects a newer schema that does not allow its version, and names both versions", async () => {
    await migratePostgres(database, [FIRST, SECOND, BREAKING]);
    const error = await migratePostgres(database, [FIRST, SECOND]).catch((reason) => reason);
    expect(error).toBeInstanceOf(NewerSchemaError);
    expect(error.message).toContain("schema 3, usable from schema 3 on");
    expect(error.message).toContain("this version has schema 2");
  });

  test("a schema that excluded a version earlier excludes it also after steps that exclude none", async () => {
    const last: Migration = { name: "0004-last", oldestVersion: 3, sql: "CREATE TABLE last (id int)" };
    await migratePostgres(database, [FIRST, SECOND, BREAKING, last]);
    await expect(migratePostgres(database, [FIRST, SECOND])).rejects.toBeInstanceOf(NewerSchemaError);
    expect((await migratePostgres(database, [FIRST, SECOND, BREAKING])).version).toBe(4);
  });

  test("a copy of the template database has all steps", async () => {
    url = await server.createMigratedDatabase();
    expect((await migratePostgres(connect())).applied).toEqual([]);
  });
});
