import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { StoreError } from "../../src/base/failures/store-error.ts";
import { createIdSource } from "../../src/base/secrets/ids.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { DAY_MS, dayOf } from "../../src/base/time/time.ts";
import type { BudgetRecord } from "../../src/core/accounts/records/budget-records.ts";
import { BUDGET_SUMS_AT_ONCE, type BudgetStore } from "../../src/core/accounts/stores/budget-store.ts";
import type { GatewayEvent } from "../../src/core/events/event.ts";
import { BudgetWatch } from "../../src/core/extensions/budgets/budget-watch.ts";
import { createSqliteStores } from "../../src/storage/sqlite/stores.ts";
import { keyOf, usageOf } from "../storage/contracts/samples.ts";
import { useSqlite } from "../storage/sqlite-connections.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { createTestClock } from "../support/test-clock.ts";

const NOW = Date.parse("2027-01-27T12:00:00Z");
const TODAY = dayOf(NOW);
/** Rows that a store may read, merge or delete in one turn of the event loop. */
const SLICE = 2_000;

const BUDGET: BudgetRecord = {
  id: "budget_a",
  accountId: "user_a",
  name: "each tag",
  subject: "tag",
  subjectId: null,
  endUser: null,
  limit: 1_000,
  period: "day",
  days: null,
  action: "warn",
  warnAt: 800,
  setBy: "operator",
  createdAt: NOW,
};

/** Returns what `work` resolves to, and in how many turns of the event loop. */
async function countTurns<Result>(work: () => Promise<Result>): Promise<{ result: Result; turns: number }> {
  let turns = 0;
  let isOver = false;
  const tick = () => {
    turns += 1;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const result = await work();
  isOver = true;
  return { result, turns };
}

describe("a budget for each tag with many tags in SQLite", () => {
  const connect = useSqlite();
  const ROWS = 20_000;
  const day = { from: TODAY, to: TODAY };

  async function createBudget(fields: Partial<BudgetRecord> = {}) {
    const database = connect();
    const store = createSqliteStores(database).budgets;
    const budget = { ...BUDGET, ...fields };
    await store.insertBudget(budget);
    return { database, store, budget };
  }

  /** Gives each of `count` tags a sum: of tag n, n nanodollars on each of the days. */
  function addSums(database: ReturnType<typeof connect>, count: number, days: readonly number[]): void {
    const insert = database.query("INSERT INTO budget_days VALUES ('budget_a', ?, ?, ?)");
    database.transaction(() => {
      for (let n = 1; n <= count; n++) for (const one of days) insert.run(`tag-${n}`, one, n);
    })();
  }

  test("lists the largest sums in slices, and counts a tag once whose days are in two slices", async () => {
    const { database, store } = await createBudget();
    const days = Array.from({ length: 7 }, (_, ago) => TODAY - ago);
    addSums(database, ROWS / 5, days);
    const query = { budgetId: "budget_a", days: { from: TODAY - 6, to: TODAY }, limit: 3 };
    const { result, turns } = await countTurns(() => store.listTopSums(query));
    expect(result).toEqual([
      { value: "tag-4000", spent: 28_000 },
      { value: "tag-3999", spent: 27_993 },
      { value: "tag-3998", spent: 27_986 },
    ]);
    const all = await store.listTopSums({ ...query, limit: ROWS });
    expect(all.length).toBe(ROWS / 5);
    expect(new Set(all.map(({ value, spent }) => Number(value.slice(4)) * 7 === spent))).toEqual(
      new Set([true]),
    );
    expect(turns).toBeGreaterThanOrEqual(Math.floor(((ROWS / 5) * 7) / SLICE));
  });

  test("reads no more than a slice in a turn for a period in which few tags have spent", async () => {
    const { database, store } = await createBudget();
    addSums(database, ROWS, [TODAY - 40]);
    database.query("INSERT INTO budget_days VALUES ('budget_a', 'tag-7', ?, 5)").run(TODAY);
    const query = { budgetId: "budget_a", days: day, limit: 10 };
    const { result, turns } = await countTurns(() => store.listTopSums(query));
    expect(result).toEqual([{ value: "tag-7", spent: 5 }]);
    expect(turns).toBeGreaterThanOrEqual(ROWS / SLICE);
  });

  test("merges and deletes old days in slices, and what a deleted budget has left behind", async () => {
    const { database, store } = await createBudget({ period: "total" });
    addSums(database, ROWS, [TODAY - 400]);
    database.exec("INSERT INTO budget_days SELECT 'budget_gone', value, 0, spent FROM budget_days");
    database.exec("INSERT INTO budget_marks SELECT budget_id, value, day, 'warning' FROM budget_days");
    const { turns } = await countTurns(() => store.mergeDays(TODAY - 366));
    expect(turns).toBeGreaterThanOrEqual((2 * ROWS) / SLICE);
    const count = (table: string) => database.query(`SELECT budget_id, count(*) AS rows FROM ${table}`).all();
    expect(count("budget_days")).toEqual([{ budget_id: "budget_a", rows: ROWS }]);
    expect(count("budget_marks")).toEqual([{ budget_id: null, rows: 0 }]);
    const query = { budgetId: "budget_a", days: { from: 0, to: TODAY }, limit: 1 };
    expect(await store.listTopSums(query)).toEqual([{ value: `tag-${ROWS}`, spent: ROWS }]);
  });

  test("is deleted in slices", async () => {
    const { database, store } = await createBudget();
    addSums(database, ROWS, [TODAY]);
    const { result, turns } = await countTurns(() => store.deleteBudget("budget_a"));
    expect(result).toBe(true);
    expect(turns).toBeGreaterThanOrEqual(ROWS / SLICE);
    expect(database.query("SELECT count(*) AS rows FROM budget_days").get()).toEqual({ rows: 0 });
  });

  test("is compared in slices of a few calls, and each state is reported once", async () => {
    const { database, store, budget } = await createBudget();
    const count = 5_000;
    addSums(database, count, [TODAY]);
    let calls = 0;
    const counted = {
      ...{ listTopSums: store.listTopSums.bind(store), mergeDays: store.mergeDays.bind(store) },
      sumBudgets: (...args: Parameters<typeof store.sumBudgets>) => {
        calls += 1;
        return store.sumBudgets(...args);
      },
      claimMarks: (...args: Parameters<typeof store.claimMarks>) => {
        calls += 1;
        return store.claimMarks(...args);
      },
    };
    const { teams } = createSqliteStores(database);
    const watch = new BudgetWatch({ store: counted, teams, clock: createTestClock(NOW) });
    const spend = () => {
      for (let n = 1; n <= count; n++) {
        const spender = {
          accountId: "user_a",
          keyId: "key_a",
          userId: null,
          createdAt: NOW,
          tags: [`tag-${n}`],
        };
        const points = watch.attach({
          call: { principal: { kind: "key", account: { id: "user_a", budgets: [budget] } } },
          spender,
        } as never);
        points?.onSettled?.({ ...usageOf(`gen_${n}`).record, ...spender, costNanodollars: 1 }, null);
      }
    };
    const sent: GatewayEvent[] = [];
    const check = () => watch.check({ send: (event) => sent.push(event), drain: async () => {} });
    spend();
    const { turns } = await countTurns(check);
    expect(turns).toBeGreaterThanOrEqual(count / BUDGET_SUMS_AT_ONCE);
    // A call for each slice of sums, and one or two for its marks.
    expect(calls).toBeLessThanOrEqual((3 * count) / BUDGET_SUMS_AT_ONCE + 100);
    const warned = sent.filter(({ type }) => type === "budget.warning").map(({ data }) => data["value"]);
    const reached = sent.filter(({ type }) => type === "budget.reached").map(({ data }) => data["value"]);
    expect([warned.length, reached.length]).toEqual([count - 799, count - 999]);
    expect(watch.count()).toEqual({ warning: 200, reached: count - 999 });
    sent.length = 0;
    spend();
    await check();
    expect(sent).toEqual([]);
  });
});

describe("the watch of budgets", () => {
  const connect = useSqlite();

  test.each(["sumBudgets", "claimMarks"] as const)(
    "reports a state with the next check if the store has failed: %s",
    async (name) => {
      const { budgets, teams } = createSqliteStores(connect());
      await budgets.insertBudget({ ...BUDGET, subject: "account" });
      let failures = 1;
      const store: BudgetStore = Object.assign(Object.create(budgets), {
        async [name](...args: readonly unknown[]) {
          if (failures-- > 0) throw new StoreError("it is away");
          return Reflect.apply(budgets[name], budgets, args);
        },
      });
      const watch = new BudgetWatch({ store, teams, clock: createTestClock(NOW) });
      const spender = { accountId: "user_a", keyId: "key_a", userId: null, createdAt: NOW, tags: [] };
      watch.refused([{ ...BUDGET, subject: "account" }], BUDGET.id, spender);
      const sent: GatewayEvent[] = [];
      const check = () => watch.check({ send: (event) => sent.push(event), drain: async () => {} });
      await expect(check()).rejects.toBeInstanceOf(StoreError);
      expect(sent).toEqual([]);
      await check();
      // The budget rejects a request before its warning share is spent.
      expect(sent.map(({ type }) => type)).toEqual(["budget.reached"]);
    },
  );
});

test("a search for expiring keys goes through all keys in slices, and finds the first to expire", async () => {
  const { key, keys, rows } = await createKeys();
  const { result, turns } = await countTurns(() => keys.listExpiringKeys(NOW, NOW + DAY_MS, 3));
  expect(result.map(({ id }) => id)).toEqual(["key_00001", "key_00002", "key_00003"]);
  expect(result[0]).toEqual(key);
  expect(turns).toBeGreaterThanOrEqual(rows / SLICE);
});

const connectKeys = useSqlite();

async function createKeys() {
  const database = connectKeys();
  const keys = createSqliteStores(database).keys;
  const rows = 10_000;
  const key = keyOf("key_00001", { expiresAt: NOW + 1 });
  await keys.insertKey(key);
  const columns = database
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('api_keys')")
    .all()
    .map(({ name }) => name);
  const own: Readonly<Record<string, string>> = {
    id: "printf('key_%05d', n.value)",
    hash: "'hash ' || n.value",
    expires_at: `${NOW} + n.value`,
  };
  database.exec(
    `WITH RECURSIVE n (value) AS (SELECT 2 UNION ALL SELECT value + 1 FROM n WHERE value < ${rows})
     INSERT INTO api_keys (${columns.join(", ")})
     SELECT ${columns.map((name) => own[name] ?? name).join(", ")} FROM api_keys, n WHERE id = 'key_00001'`,
  );
  return { key, keys, rows };
}

describe("the management API with budgets of many tags", () => {
  let gateway: TestGateway;
  const TAGS = 3_000;

  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.stop());

  test("lists the tags that have spent the most, among budgets of other kinds in one list", async () => {
    const account_id = await createAccountTools(gateway).organization();
    const manage = (method: string, path: string, body?: object) =>
      callAdmin(gateway, gateway.adminKey, method, path, body);
    const create = async (fields: object) =>
      (await manage("POST", "/budgets", { account_id, limit: 1, ...fields })).data.id;
    const ids = [await create({ tag: "*" }), await create({}), await create({ tag: "tag-8" })];
    const stores = await openTestStores(gateway.dataDir);
    const nextId = createIdSource(systemClock, createSystemRandom());
    const records = Array.from({ length: TAGS }, (_, n) => ({
      ...usageOf(nextId.next("gen")).record,
      ...{ accountId: account_id, createdAt: Date.now(), tags: [`tag-${n}`], costNanodollars: n * 1_000 },
    }));
    await stores.usage.saveUsage(records.map((record) => ({ record, json: JSON.stringify(record) })));
    await stores.close();
    const { rows } = await manage("GET", `/budgets?account_id=${account_id}`);
    const views = rows as unknown as readonly { id: string; spent: number; top: { value: string }[] }[];
    const [each, whole, one] = ids.map((id) => views.find((view) => view.id === id));
    expect(each?.top.map(({ value }) => value)).toEqual(
      Array.from({ length: 10 }, (_, at) => `tag-${TAGS - 1 - at}`),
    );
    expect(whole?.spent).toBeCloseTo(((TAGS - 1) * TAGS) / 2 / 1e6, 9);
    expect([one?.spent, one?.top]).toEqual([0.000008, []]);
  });
});
