import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOUSE_ACCOUNT, type Transfer } from "../../src/core/ledger/records.ts";
import type { UsageRecord } from "../../src/core/usage/records.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqliteLedgerStore } from "../../src/storage/sqlite/ledger-store.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";

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
  from: HOUSE_ACCOUNT,
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
    expect((await ledger.findBalance(HOUSE_ACCOUNT)).balance).toBe(-100);
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
    expect(await ledger.sumSpending({ keyId: "key_a", since: 0 })).toBe(35);
    expect(await ledger.sumSpending({ keyId: "key_a", since: 2_001 })).toBe(0);
    expect(await ledger.sumSpending({ accountId: "user_b", since: 0 })).toBe(0);
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
