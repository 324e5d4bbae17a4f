import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UsageRecord } from "../../src/core/usage/records.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";

let dir: string;
let database: Database;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "gateway-store-"));
  database = openDatabase(dir);
});
afterEach(() => {
  database.close();
  rmSync(dir, { recursive: true, force: true });
});

function entryOf(fields: Partial<UsageRecord>) {
  const record = {
    id: "gen_1",
    createdAt: 1_000,
    accountId: null,
    keyId: null,
    addressHash: null,
    userId: null,
    costNanodollars: 0,
    finishedAt: null,
    outcome: "completed",
    ...fields,
  } as UsageRecord;
  return { record, json: JSON.stringify(record) };
}

describe("what records are searched by has a column beside the JSON", () => {
  test("who made them, when, and how they ended", async () => {
    const store = createSqliteUsageStore(database);
    const open = { accountId: "acct_1", keyId: "key_1", createdAt: 2_000 };
    await store.saveUsage([
      entryOf({ ...open, outcome: "open" }),
      entryOf({ id: "gen_2", addressHash: "ab", outcome: "failed" }),
    ]);
    await store.saveUsage([entryOf(open)]);
    const rows = database
      .query("SELECT id, account_id, key_id, address_hash, created_at, outcome FROM generations ORDER BY id")
      .values();
    expect(rows).toEqual([
      ["gen_1", "acct_1", "key_1", null, 2_000, "completed"],
      ["gen_2", null, null, "ab", 1_000, "failed"],
    ]);
  });

  test.each([
    ["nobody, lately", "address_hash IS NOT NULL AND created_at > 1", "generations_anonymous"],
    ["whom its gateway died under", "outcome = 'open'", "generations_open"],
  ])("those of %s are found without reading them all", (_who, where, index) => {
    const [plan] = database
      .query(`EXPLAIN QUERY PLAN SELECT record FROM generations WHERE ${where} ORDER BY created_at`)
      .all() as { detail: string }[];
    expect(plan?.detail).toContain(`USING INDEX ${index}`);
  });
});
