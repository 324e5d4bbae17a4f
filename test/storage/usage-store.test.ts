import { describe, expect, test } from "bun:test";
import { lowestIdAt } from "../../src/base/secrets/ids.ts";
import { DAY_MS, HOUR_MS } from "../../src/base/time/time.ts";
import { ANY_GENERATION } from "../../src/core/usage/generations/generation-list.ts";
import { countGenerations } from "../../src/storage/sqlite/usage/generation-counts.ts";
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
    ["teamId", "generations_facts"],
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

test.each([[999], [1_001], [5_001]])(
  "a list of a team with %p keys in SQLite has the generations of these keys alone",
  async (count) => {
    const database = connect();
    const store = new SqliteUsageStore(database);
    database.exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      INSERT INTO api_keys (id, kind, account_id, team_id, name, hash, hint, created_at)
      SELECT 'key_' || n, 'inference', 'org_a', 'team_a', 'k', 'hash ' || n, 'gw_…', 1 FROM numbers`);
    const idAt = (day: number, n: number) =>
      `${lowestIdAt("gen", (20_000 + day) * DAY_MS + n)}0000000000000000`;
    const others = Array.from({ length: 60 }, (_, n) => usageOf(idAt(9, n), { keyId: "key_other" }));
    const own = [idAt(9, 99), idAt(3, 7), idAt(0, 7)];
    await store.saveUsage([...others, ...own.map((id, n) => usageOf(id, { keyId: `key_${count - n}` }))]);
    const source = { database, bounds: { scanned: 20, counted: 100 } };
    const found: string[] = [];
    let before: string | null = null;
    do {
      const page = listGenerations(source, { ...ANY_GENERATION, teamId: "team_a", before, limit: 2 });
      found.push(...page.records.map(({ id }) => id));
      before = page.next;
    } while (before !== null);
    expect(found).toEqual(own);
    const range = { fromMs: 20_000 * DAY_MS, toMs: 20_010 * DAY_MS, bucketMs: 10 * DAY_MS };
    const { buckets } = countGenerations(source, { ...ANY_GENERATION, ...range, teamId: "team_a" });
    expect(buckets).toMatchObject([{ completed: 3 }]);
  },
);

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
