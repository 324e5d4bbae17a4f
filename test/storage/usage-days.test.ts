import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatCsv } from "../../src/core/usage/format-csv.ts";
import type { UsageRecord } from "../../src/core/usage/records.ts";
import type { UsageQuery } from "../../src/core/usage/report.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { describeReport } from "../../src/storage/sqlite/usage-days.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import { NO_TOKENS } from "../../src/wire/conversation/usage.ts";

let dir: string;
let database: Database;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "gateway-days-"));
  database = openDatabase(dir);
});
afterEach(() => {
  database.close();
  rmSync(dir, { recursive: true, force: true });
});

const DAY_MS = 86_400_000;
const ALL: UsageQuery = { groupBy: "day", fromDay: 0, toDay: 10, accountId: null, userId: null, keyId: null };

function entryOf(id: string, fields: Partial<UsageRecord>) {
  const record = {
    ...NO_TOKENS,
    id,
    createdAt: DAY_MS,
    finishedAt: DAY_MS + 1_000,
    accountId: "user_a",
    keyId: "key_a",
    userId: null,
    addressHash: null,
    model: "author/model",
    requestedModel: "author/model",
    provider: "somebody",
    promptTokens: 10,
    costNanodollars: 30,
    upstreamCostNanodollars: 30,
    outcome: "completed",
    ...fields,
  } as UsageRecord;
  return { record, json: JSON.stringify(record) };
}

describe("the usage of a day", () => {
  test("counts each generation once, when it has ended, by the day of its request, however often its record is saved", async () => {
    const store = createSqliteUsageStore(database);
    await store.saveUsage([entryOf("gen_1", { outcome: "open" })]);
    expect(await store.sumUsage(ALL)).toEqual([]);
    await store.saveUsage([
      entryOf("gen_1", {}),
      entryOf("gen_2", { outcome: "failed", costNanodollars: 0 }),
    ]);
    await store.saveUsage([entryOf("gen_1", {}), entryOf("gen_1", { outcome: "interrupted" })]);
    await store.saveUsage([entryOf("gen_3", { createdAt: 2 * DAY_MS, finishedAt: 3 * DAY_MS + 1 })]);
    expect(await store.sumUsage(ALL)).toMatchObject([
      { group: "1970-01-02", requests: 2, errors: 1, promptTokens: 20, cost: 30 },
      { group: "1970-01-03", requests: 1, errors: 0, promptTokens: 10, cost: 30 },
    ]);
    expect(await store.sumUsage({ ...ALL, toDay: 1 })).toHaveLength(1);
  });

  test("takes a record of an earlier version that lacks a counter", async () => {
    const store = createSqliteUsageStore(database);
    const { provider: _, cachedTokens: __, model: ___, ...old } = entryOf("gen_1", {}).record;
    const record = old as UsageRecord;
    await store.saveUsage([{ record, json: JSON.stringify(record) }]);
    expect(await store.sumUsage({ ...ALL, groupBy: "provider" })).toMatchObject([
      { group: null, cachedTokens: 0 },
    ]);
  });

  test.each<[string, Partial<UsageQuery>, RegExp]>([
    ["of all", {}, /SEARCH usage_days USING INDEX usage_days_day \(day>\? AND day<\?\)/],
    [
      "of an account",
      { accountId: "user_a" },
      /SEARCH usage_days USING PRIMARY KEY \(account_id=\? AND day>\? AND day<\?\)/,
    ],
    [
      "of a key",
      { keyId: "key_a" },
      /SEARCH usage_days USING INDEX usage_days_key \(key_id=\? AND day>\? AND day<\?\)/,
    ],
  ])("is found without a look at other days: %s", (_what, whose, plan) => {
    const { text, values } = describeReport({ ...ALL, groupBy: "model", ...whose });
    const rows = database
      .query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values);
    expect(rows.map(({ detail }) => detail).join("\n")).toMatch(plan);
    expect(rows.some(({ detail }) => detail.startsWith("SCAN"))).toBe(false);
  });
});

test("CSV quotes what must be quoted, and no cell is a formula", () => {
  const rows = [
    ["plain", 'a "word"', "a,b", "two\nlines", -5],
    ["=1+1", "+x", "-x", "@x", "\tx"],
    ['=HYPERLINK("x","y")', "", "a=b", "a-b", 0],
  ];
  expect(formatCsv(rows)).toBe(
    `plain,"a ""word""","a,b","two\nlines",-5\r\n'=1+1,'+x,'-x,'@x,'\tx\r\n"'=HYPERLINK(""x"",""y"")",,a=b,a-b,0\r\n`,
  );
});
