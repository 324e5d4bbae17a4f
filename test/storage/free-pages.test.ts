import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { lowestIdAt } from "../../src/base/secrets/ids.ts";
import { DAY_MS } from "../../src/base/time/time.ts";
import { openDatabase } from "../../src/storage/sqlite/connection/database.ts";
import { SqliteRetention } from "../../src/storage/sqlite/usage/retention.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage/usage-store.ts";
import { expectPromisedOutput } from "../support/gateway/promised-output.ts";
import { createWorkspace } from "../support/gateway/run-gateway.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { usageOf } from "./contracts/samples.ts";

const GENERATIONS = 6_000;

let dataDir: string;
beforeEach(() => {
  dataDir = makeTempFolder("gateway-pages-");
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const sizeOf = (dir: string): number => statSync(join(dir, "gateway.db")).size;

/** Saves generations of a day, and deletes them by the retention policy. Returns the size of the file before the deletion. */
async function saveAndDrop(dir: string): Promise<number> {
  const database = openDatabase(dir);
  const usage = new SqliteUsageStore(database);
  const records = Array.from({ length: GENERATIONS }, (_, n) =>
    usageOf(`${lowestIdAt("gen", 100 * DAY_MS + n)}0000000000000000`, {
      createdAt: 100 * DAY_MS + n,
      upstreamModel: "model ".repeat(300),
    }),
  );
  await usage.saveUsage(records);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const before = sizeOf(dir);
  const retention = new SqliteRetention(database);
  while ((await retention.dropUsage(101)).hasMore);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return before;
}

describe("the file of a SQLite database", () => {
  test("becomes shorter when the retention policy has deleted most of it", async () => {
    const before = await saveAndDrop(dataDir);
    expect(sizeOf(dataDir)).toBeLessThan(before / 2);
  });

  test("of an earlier version becomes shorter with `gateway storage compact`, and from then on by itself", async () => {
    mkdirSync(dataDir, { recursive: true });
    const { Database } = await import("bun:sqlite");
    const earlier = new Database(join(dataDir, "gateway.db"), { create: true });
    earlier.exec("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; CREATE TABLE x (y); DROP TABLE x");
    earlier.close();
    const before = await saveAndDrop(dataDir);
    expect(sizeOf(dataDir)).toBe(before);
    const workspace = createWorkspace();
    const compacted = await workspace.run(["storage", "compact", "--json"], { GATEWAY_DATA_DIR: dataDir });
    workspace.clear();
    expectPromisedOutput([{ command: "storage compact", json: JSON.parse(compacted.stdout) }]);
    expect(sizeOf(dataDir)).toBeLessThan(before / 2);
    const database = openDatabase(dataDir);
    expect(database.query("PRAGMA auto_vacuum").get()).toEqual({ auto_vacuum: 2 });
    database.close();
  });
});
