import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import type { MIGRATIONS } from "../../src/storage/postgres/migrations/list.ts";
import { MIGRATIONS as SQLITE_MIGRATIONS } from "../../src/storage/sqlite/migrations/list.ts";
import { makeNextVersion } from "./next-version.ts";

test("the next version of the program has the steps of this one and one more", async () => {
  const next = makeNextVersion();
  try {
    const folder = join(dirname(next.command[0] as string), "..");
    const { MIGRATIONS: steps }: { MIGRATIONS: typeof MIGRATIONS } = await import(
      join(folder, "src/storage/postgres/migrations/list.ts")
    );
    expect(steps.map((step) => step?.name)).toEqual([...next.steps]);
    const { MIGRATIONS: ofSqlite }: { MIGRATIONS: typeof SQLITE_MIGRATIONS } = await import(
      join(folder, "src/storage/sqlite/migrations/list.ts")
    );
    expect(ofSqlite.slice(0, -1)).toEqual([...SQLITE_MIGRATIONS]);
    expect(ofSqlite.at(-1)?.oldestVersion).toBe(SQLITE_MIGRATIONS.length);
  } finally {
    next.remove();
  }
});
