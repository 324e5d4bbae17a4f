import { describe, expect, test } from "bun:test";
import { lowestIdAt } from "../../src/base/secrets/ids.ts";
import { DAY_MS, HOUR_MS } from "../../src/base/time/time.ts";
import { ANY_GENERATION } from "../../src/core/usage/generations/generation-list.ts";
import {
  describePage,
  listGenerations,
  type Values,
} from "../../src/storage/sqlite/usage/generation-list.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage/usage-store.ts";
import { openUsageOf, usageOf } from "./contracts/samples.ts";
import { useSqlite } from "./sqlite-connections.ts";

const connect = useSqlite();

describe("a usage record in SQLite", () => {
  test("has columns for its account, key, address, time and outcome, which follow its latest version", async () => {
    const database = connect();
    const store = new SqliteUsageStore(database);
    const keyed = { accountId: "acct_1", keyId: "key_1", createdAt: 2_000 };
    const anonymous = { accountId: null, keyId: null, userId: null, addressHash: "ab" };
    await store.saveUsage([
      openUsageOf("gen_1", keyed),
      usageOf("gen_2", { ...anonymous, outcome: "failed", costNanodollars: 0 }),
    ]);
    await store.saveUsage([usageOf("gen_1", keyed)]);
    const rows = database
      .query("SELECT id, account_id, key_id, address_hash, created_at, outcome FROM generations ORDER BY id")
      .values();
    expect(rows).toEqual([
      ["gen_1", "acct_1", "key_1", null, 2_000, "completed"],
      ["gen_2", null, null, "ab", 1_000, "failed"],
    ]);
  });

  test.each([
    ["anonymous", "address_hash IS NOT NULL AND created_at > 1", "generations_anonymous"],
    ["open", "outcome = 'open'", "generations_open"],
  ])("is found through an index when it is %s", (_which, where, index) => {
    const [plan] = connect()
      .query(`EXPLAIN QUERY PLAN SELECT record FROM generations WHERE ${where} ORDER BY created_at`)
      .all() as { detail: string }[];
    expect(plan?.detail).toContain(`USING INDEX ${index}`);
  });

  test("is found through an index by its session", () => {
    const filter = { ...ANY_GENERATION, sessionId: "s_a", before: null, limit: 1 };
    const { text, values } = describePage(filter, 1_000);
    const [, plan] = connect()
      .query<{ detail: string }, Values>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values);
    expect(plan?.detail).toContain("INDEX generations_session (session_id=?)");
  });

  test.each([
    ["accountId", "generations_facts"],
    ["model", "generations_facts"],
    ["provider", "generations_facts"],
    ["errorType", "generations_not_completed"],
  ])("is compared with a filter by %s in an index, without its record", (name, index) => {
    const filter = { ...ANY_GENERATION, [name]: "value", fromMs: 0, toMs: 1 };
    const { text, values } = describePage({ ...filter, before: null, limit: 1 }, 1_000);
    const plan = connect()
      .query<{ detail: string }, Values>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values)
      .map(({ detail }) => detail);
    expect(plan).toContain(`SEARCH generations USING COVERING INDEX ${index} (id>? AND id<?)`);
    expect(plan.join("\n")).not.toContain("TEMP B-TREE");
  });
});

test("a list of generations in SQLite goes on at the end of the day of the next match, not at that of a later day", async () => {
  const database = connect();
  const store = new SqliteUsageStore(database);
  const idAt = (day: number, ms: number) =>
    `${lowestIdAt("gen", (20_000 + day) * DAY_MS + ms)}0000000000000000`;
  const many = (day: number) => Array.from({ length: 30 }, (_, n) => usageOf(idAt(day, 12 * HOUR_MS + n)));
  const match = idAt(3, DAY_MS - 1);
  await store.saveUsage([usageOf(match, { userId: "user_b" }), ...many(4), ...many(9)]);
  const bounds = { scanned: 20, counted: 20 };
  const query = { ...ANY_GENERATION, userId: "user_b", before: null, limit: 1 };
  const { records } = listGenerations({ database, bounds }, query);
  expect(records.map(({ id }) => id)).toEqual([match]);
});
