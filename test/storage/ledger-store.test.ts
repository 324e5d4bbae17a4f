import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SpendQuery } from "../../src/core/ledger/ledger-store.ts";
import { PLATFORM_ACCOUNT, type Transfer } from "../../src/core/ledger/records.ts";
import type { UsageRecord } from "../../src/core/usage/records.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqliteLedgerStore, describeSpending } from "../../src/storage/sqlite/ledger-store.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";

const DAY_MS = 86_400_000;

let dir: string;
let database: Database;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "gateway-ledger-"));
  database = openDatabase(dir);
});
afterEach(() => {
  database.close();
  rmSync(dir, { recursive: true, force: true });
});

const grant = (id: string, amount: number): Transfer => ({
  id,
  kind: "grant",
  from: PLATFORM_ACCOUNT,
  to: "user_a",
  amount,
  createdAt: 1,
  note: null,
  expiresAt: null,
});

function entryOf(fields: Partial<UsageRecord>) {
  const record = {
    id: "gen_1",
    createdAt: 1_000,
    finishedAt: 2_000,
    accountId: "user_a",
    keyId: "key_a",
    userId: "user_a",
    addressHash: null,
    costNanodollars: 30,
    outcome: "completed",
    ...fields,
  } as UsageRecord;
  return { record, json: JSON.stringify(record) };
}

describe("the ledger", () => {
  test("takes a transfer once, by its id", async () => {
    const ledger = createSqliteLedgerStore(database);
    expect(await ledger.addTransfer(grant("grant_1", 100))).toBe(true);
    expect(await ledger.addTransfer(grant("grant_1", 100))).toBe(false);
    expect((await ledger.findBalance("user_a")).balance).toBe(100);
    expect((await ledger.findBalance(PLATFORM_ACCOUNT)).balance).toBe(-100);
    expect(await ledger.findDifferences()).toEqual([]);
  });

  test("has a generation's cost once, however often its record is saved", async () => {
    const ledger = createSqliteLedgerStore(database);
    const usage = createSqliteUsageStore(database);
    await ledger.addTransfer(grant("grant_1", 100));
    await usage.saveUsage([entryOf({ outcome: "open", costNanodollars: 0, finishedAt: null })]);
    expect((await ledger.findBalance("user_a")).balance).toBe(100);
    await usage.saveUsage([entryOf({}), entryOf({ id: "gen_2", costNanodollars: 5 })]);
    await usage.saveUsage([entryOf({}), entryOf({ outcome: "interrupted", costNanodollars: 99 })]);
    expect((await ledger.findBalance("user_a")).balance).toBe(65);
    expect((await usage.findUsage("gen_1"))?.outcome).toBe("completed");
    expect(await ledger.findDifferences()).toEqual([]);
    expect(await ledger.sumSpending({ keyId: "key_a" })).toBe(35);
  });

  test("sums what was spent by the day that requests came on, whenever their answers ended", async () => {
    const ledger = createSqliteLedgerStore(database);
    const usage = createSqliteUsageStore(database);
    const createdAt = 7 * DAY_MS - 1;
    await usage.saveUsage([
      entryOf({ createdAt, finishedAt: 7 * DAY_MS + 1 }),
      entryOf({ id: "gen_2", createdAt: 7 * DAY_MS, costNanodollars: 5 }),
      entryOf({ id: "gen_3", createdAt, userId: "user_b", keyId: "key_b", costNanodollars: 700 }),
      entryOf({ id: "gen_4", createdAt, outcome: "open", costNanodollars: 9_000 }),
    ]);
    const spent = (query: SpendQuery) => ledger.sumSpending(query);
    const on = (day: number) => ({ days: { from: day, to: day } });
    expect(await spent({ accountId: "user_a", userId: "user_a", ...on(6) })).toBe(30);
    expect(await spent({ accountId: "user_a", userId: "user_a", ...on(7) })).toBe(5);
    expect(await spent({ accountId: "user_a", ...on(6) })).toBe(730);
    expect(await spent({ accountId: "user_a", days: { from: 0, to: 30 } })).toBe(735);
    expect([await spent({ keyId: "key_a" }), await spent({ keyId: "key_b" })]).toEqual([35, 700]);
    expect(await spent({ accountId: "user_b", days: { from: 0, to: 30 } })).toBe(0);
  });

  test.each<[string, SpendQuery]>([
    ["a key", { keyId: "key_a" }],
    ["a member's day", { accountId: "org_a", userId: "user_a", days: { from: 7, to: 7 } }],
    ["an organization's month", { accountId: "org_a", days: { from: 0, to: 30 } }],
  ])("finds what was spent by %s without reading everybody's", (_whose, query) => {
    const { text, values } = describeSpending(query);
    const plan = database.query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${text}`);
    for (const { detail } of plan.all(...values)) expect(detail).toStartWith("SEARCH usage_days USING");
  });

  test("lists an account's transfers, newest first, page by page, and the deposits of all", async () => {
    const ledger = createSqliteLedgerStore(database);
    for (let i = 1; i <= 5; i++) await ledger.addTransfer(grant(`grant_${i}`, i));
    await createSqliteUsageStore(database).saveUsage([entryOf({})]);
    const first = await ledger.listTransfers("user_a", Number.MAX_SAFE_INTEGER, 4);
    expect(first.map(({ id }) => id)).toEqual(["gen_1", "grant_5", "grant_4", "grant_3"]);
    const rest = await ledger.listTransfers("user_a", first.at(-1)!.place, 4);
    expect(rest.map(({ id }) => id)).toEqual(["grant_2", "grant_1"]);
    const deposits = await ledger.listDeposits(2, 10);
    expect(deposits.map(({ id }) => id)).toEqual(["grant_3", "grant_4", "grant_5"]);
  });

  test.each([
    ["changed", "UPDATE transfers SET amount = 1"],
    ["taken back", "DELETE FROM transfers"],
  ])("is never %s, not even by hand", async (_how, statement) => {
    await createSqliteLedgerStore(database).addTransfer(grant("grant_1", 100));
    expect(() => database.exec(statement)).toThrow(/never/);
  });
});
