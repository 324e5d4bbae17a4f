import { expect, test } from "bun:test";
import type { SqlDatabase } from "../../src/storage/sql/statements/database.ts";
import { join, sql, where } from "../../src/storage/sql/statements/statement.ts";
import { createSqliteDatabase } from "../../src/storage/sqlite/connection/sql-database.ts";
import { useSqlite } from "./sqlite-connections.ts";

const connect = useSqlite();

function addSetting(name: string) {
  return sql`INSERT INTO settings (name, value) VALUES (${name}, ${name}::text)`;
}

async function listSettings(database: SqlDatabase): Promise<string[]> {
  const rows = await database.run(
    sql<{ name: string }>`SELECT name FROM settings WHERE name LIKE 'a%' ORDER BY name FOR UPDATE`,
  );
  return rows.map(({ name }) => name).filter((name) => name.length === 2);
}

test("a statement numbers its values in the order of its text, with those of its parts", () => {
  const conditions = where(sql`a = ${1}`, null, sql`b IN (${join([2, 3], ", ")})`);
  expect(sql`SELECT ${0} FROM t ${conditions} LIMIT ${4}`.render()).toEqual({
    text: "SELECT $1 FROM t WHERE a = $2 AND b IN ($3, $4) LIMIT $5",
    values: [0, 1, 2, 3, 4],
  });
  expect(sql`SELECT 1 ${where(null)}`.render()).toEqual({ text: "SELECT 1 ", values: [] });
});

test("a transaction of SQLite has run to its end before another statement of its thread begins", async () => {
  const database = createSqliteDatabase(connect());
  const other = createSqliteDatabase(connect());
  const found: Promise<string[]>[] = [];
  await Promise.all([
    database.transaction(function* () {
      yield* addSetting("a1");
      found.push(listSettings(other));
      yield* addSetting("a2");
    }),
    listSettings(database).then((names) => expect(names).toEqual(["a1", "a2"])),
  ]);
  // Another connection sees nothing of a transaction under way.
  expect(await found[0]).toEqual([]);
});

test("a transaction of SQLite whose work throws leaves nothing", async () => {
  const database = createSqliteDatabase(connect());
  const failing = database.transaction(function* () {
    yield* addSetting("a1");
    throw new Error("a reason");
  });
  await expect(failing).rejects.toThrow("a reason");
  expect(await listSettings(database)).toEqual([]);
});
