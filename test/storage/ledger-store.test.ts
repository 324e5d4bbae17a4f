import { describe, expect, test } from "bun:test";
import type { SpendQuery } from "../../src/core/ledger/records/ledger-store.ts";
import { describeSpending, SqliteLedgerStore } from "../../src/storage/sqlite/ledger/ledger-store.ts";
import { grantOf } from "./contracts/samples.ts";
import { useSqlite } from "./sqlite-connections.ts";

const connect = useSqlite();

describe("the ledger in SQLite", () => {
  test.each<[string, SpendQuery]>([
    ["a key", { keyId: "key_a" }],
    ["a member on a day", { accountId: "org_a", userId: "user_a", days: { from: 7, to: 7 } }],
    ["an organization in a month", { accountId: "org_a", days: { from: 0, to: 30 } }],
  ])("sums the spending of %s through an index", (_whose, query) => {
    const { text, values } = describeSpending(query);
    const plan = connect().query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${text}`);
    const reads = plan
      .all(...values)
      .filter(({ detail }) => !detail.startsWith("SCALAR") && detail !== "SCAN CONSTANT ROW");
    expect(reads.map(({ detail }) => detail.split(" USING")[0])).toEqual([
      "SEARCH usage_sums",
      "SEARCH usage_days",
    ]);
  });

  test.each([
    ["an update", "UPDATE transfers SET amount = 1"],
    ["a deletion", "DELETE FROM transfers"],
  ])("rejects %s of a transfer by SQL", async (_change, statement) => {
    const database = connect();
    await new SqliteLedgerStore(database).addTransfer(grantOf("grant_1", 100));
    expect(() => database.exec(statement)).toThrow(/never/);
  });
});
