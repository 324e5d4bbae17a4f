import { describe, expect, test } from "bun:test";
import type { KeyStore } from "../../../../src/core/accounts/stores/key-store.ts";
import type { LedgerStore } from "../../../../src/core/ledger/records/ledger-store.ts";
import {
  type AdvisorRecord,
  marginOf,
  type UsageRecord,
} from "../../../../src/core/usage/records/records.ts";
import type { UsageRollUp } from "../../../../src/core/usage/records/retention.ts";
import { addPercentiles } from "../../../../src/core/usage/reports/add-percentiles.ts";
import { hoursOfDays, takeLines, type UsageQuery } from "../../../../src/core/usage/reports/report.ts";
import { TAGS_PER_HOUR } from "../../../../src/core/usage/reports/tag-names.ts";
import { TimesRecorder } from "../../../../src/core/usage/reports/times-recorder.ts";
import type {
  UsageReports,
  UsageStore,
  UsageTimeStore,
} from "../../../../src/core/usage/reports/usage-store.ts";
import { marginOfSum } from "../../../../src/core/usage/reports/usage-sums.ts";
import { createTestClock } from "../../../support/test-clock.ts";
import type { CreateStore } from "../create-store.ts";
import { keyOf, usageOf } from "../samples.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The stores of usage by hour. */
export interface HourlyStores {
  readonly usage: UsageStore & UsageReports & UsageTimeStore;
  readonly ledger: Pick<LedgerStore, "sumSpending">;
  readonly rollUp: UsageRollUp;
  readonly keys: KeyStore;
  /** Returns another store of the same usage, as after a restart. */
  reopen(): HourlyStores["usage"];
  /** Runs a statement, such as an earlier version would. */
  run(text: string): Promise<void>;
}

const ALL: UsageQuery = {
  groups: ["hour"],
  ...hoursOfDays(0, 99),
  accountId: null,
  userId: null,
  keyId: null,
};

/** A day as an earlier version has saved it: 7 requests of `user_a`, 2 of which failed. */
const FORMER_DAY = `INSERT INTO usage_days
  (day, account_id, key_id, user_id, model, provider, requests, errors, prompt_tokens, completion_tokens,
   cached_tokens, cache_write_tokens, reasoning_tokens, cost, upstream_cost)
  VALUES (5, 'user_a', 'key_a', 'user_a', 'author/model', 'provider', 7, 2, 70, 0, 0, 0, 0, 210, 210)`;

/** A consulted model, apart from what it costs. */
const ADVISOR: Omit<AdvisorRecord, "costNanodollars" | "upstreamCostNanodollars"> = {
  model: "advisor",
  modelId: "author/advisor",
  prices: null,
  promptTokens: 5,
  completionTokens: 2,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
};

/** The contract of sums by hour, of times, and of their roll-up. */
export function testHourlyUsage(createStores: CreateStore<HourlyStores>): void {
  describe("usage by hour", () => {
    let made = 0;
    const save = async (stores: HourlyStores, atMs: number, fields: Partial<UsageRecord> = {}) => {
      const entry = usageOf(`gen_${++made}`, { createdAt: atMs, finishedAt: atMs + 1, ...fields });
      await stores.usage.saveUsage([entry]);
      const times = new TimesRecorder({ store: stores.usage, clock: createTestClock() });
      times.add([entry.record]);
      await times.flush();
    };
    const linesOf = async ({ usage }: HourlyStores, query: Partial<UsageQuery>) =>
      (await usage.sumUsage({ ...ALL, ...query })).map(({ groups, requests }) => [...groups, requests]);
    const rollUp = async ({ rollUp: store }: HourlyStores, day: number) => {
      while ((await store.rollUpHours(day)).hasMore);
    };

    test("is summed by the hour in which requests came, in the order of time", async () => {
      const stores = await createStores();
      await save(stores, 6 * DAY_MS + 2 * HOUR_MS);
      await save(stores, 5 * DAY_MS + 23 * HOUR_MS + 3_599_999);
      await save(stores, 6 * DAY_MS + 2 * HOUR_MS + 3_599_999);
      expect(await linesOf(stores, {})).toEqual([
        ["1970-01-06T23:00:00.000Z", 1],
        ["1970-01-07T02:00:00.000Z", 2],
      ]);
      const from = { fromHour: 5 * 24 + 23, toHour: 6 * 24 + 1 };
      expect(await linesOf(stores, from)).toEqual([["1970-01-06T23:00:00.000Z", 1]]);
      expect(await linesOf(stores, { groups: ["day"], ...from })).toEqual([["1970-01-06", 1]]);
      expect(await linesOf(stores, { fromHour: 6 * 24 + 3, toHour: 6 * 24 + 9 })).toEqual([]);
    });

    test("is summed by the team of its keys, beside other dimensions and by days that are rolled up", async () => {
      const stores = await createStores();
      for (const [id, teamId] of Object.entries({
        key_1: "team_1",
        key_2: "team_1",
        key_3: "team_2",
        key_4: null,
      }))
        await stores.keys.insertKey(keyOf(id, { teamId }));
      const times = (atMs: number) => ({ firstTokenAt: atMs + 5, finishedAt: atMs + 90 });
      for (const day of [6, 7])
        for (const keyId of ["key_1", "key_2", "key_2", "key_3", "key_4", "key_gone"])
          await save(stores, day * DAY_MS, { keyId, tags: ["a"], client: "curl", ...times(day * DAY_MS) });
      await save(stores, 7 * DAY_MS, { keyId: null, accountId: null, userId: null, addressHash: "ab" });
      await rollUp(stores, 7);
      await stores.run(FORMER_DAY);
      const sorted = async (query: Partial<UsageQuery>) =>
        (await linesOf(stores, query)).toSorted((a, b) => String(a).localeCompare(String(b)));
      const teamId = "team_1";
      expect(await sorted({ groups: ["team"] })).toEqual([
        [null, 12],
        ["team_1", 6],
        ["team_2", 2],
      ]);
      expect(await sorted({ groups: ["day", "team"], teamId })).toEqual([
        ["1970-01-07", "team_1", 3],
        ["1970-01-08", "team_1", 3],
      ]);
      expect(await sorted({ groups: ["team", "key"], teamId })).toEqual([
        ["team_1", "key_1", 2],
        ["team_1", "key_2", 4],
      ]);
      expect(await sorted({ groups: ["tag", "team"] })).toEqual([
        [null, null, 8],
        ["a", null, 4],
        ["a", "team_1", 6],
        ["a", "team_2", 2],
      ]);
      expect(await sorted({ groups: ["client"], teamId })).toEqual([["curl", 6]]);
      expect(await sorted({ groups: ["team"], tag: "a", keyId: "key_3" })).toEqual([["team_2", 2]]);
      const query: UsageQuery = { ...ALL, groups: ["team"] };
      const lines = await stores.usage.readTimes(query, null);
      const found = lines.map(({ groups: [team], latency }) => [String(team), latency?.p50]);
      expect(Object.fromEntries(found)).toEqual({ null: 5, team_1: 5, team_2: 5 });
      const some = await stores.usage.readTimes(query, ["team_2", null]);
      expect(some.map(({ groups: [team] }) => String(team)).toSorted()).toEqual(["null", "team_2"]);
    });

    test("is summed by how requests ended, failures by their error", async () => {
      const stores = await createStores();
      const ends: Partial<UsageRecord>[] = [
        {},
        { outcome: "failed", error: "rate_limit_exceeded" },
        { outcome: "failed", error: "upstream_error" },
        { outcome: "failed", error: "of another version" },
        { outcome: "cancelled" },
        { outcome: "interrupted" },
      ];
      for (const end of [...ends, ...ends.slice(0, 2)]) await save(stores, DAY_MS, end);
      const lines = await linesOf(stores, { groups: ["outcome"] });
      expect(Object.fromEntries(lines)).toEqual({
        completed: 2,
        rate_limit_exceeded: 2,
        upstream_error: 1,
        internal: 1,
        cancelled: 1,
        interrupted: 1,
      });
      expect(await stores.usage.sumUsage({ ...ALL, groups: ["day"] })).toMatchObject([
        { requests: 8, errors: 5 },
      ]);
    });

    test("has percentiles of times, which are merged over keys, hours and models", async () => {
      const stores = await createStores();
      for (let n = 0; n < 100; n++) {
        const atMs = DAY_MS + (n % 3) * HOUR_MS;
        const times = { firstTokenAt: atMs + 100 * (n + 1), finishedAt: atMs + 20_000 };
        await save(stores, atMs, { ...times, keyId: `key_${n % 7}` });
      }
      await save(stores, DAY_MS, { outcome: "failed", error: "upstream_error", finishedAt: DAY_MS + 1 });
      const query = { ...ALL, groups: ["day"] as const };
      const [line] = await addPercentiles(
        stores.usage,
        query,
        takeLines(await stores.usage.sumUsage(query), query),
      );
      expect(line?.requests).toBe(101);
      const isNear = (found: number | undefined, ms: number) => {
        expect(found).toBeGreaterThan(ms / 1.2);
        expect(found).toBeLessThan(ms * 1.2);
      };
      isNear(line?.latency?.p50, 5_000);
      isNear(line?.latency?.p90, 9_000);
      isNear(line?.latency?.p99, 9_900);
      isNear(line?.duration?.p50, 20_000);
    });

    test("reads the times of some keys only where these are asked for", async () => {
      const stores = await createStores();
      for (const keyId of ["key_a", "key_b", "key_c"])
        await save(stores, DAY_MS, { keyId, firstTokenAt: DAY_MS + 100 });
      const query = { ...ALL, groups: ["key"] as const };
      const keysOf = async (only: readonly (string | null)[] | null) =>
        (await stores.usage.readTimes(query, only)).map(({ groups }) => groups[0]).sort();
      expect(await keysOf(["key_a", null, "key_c"])).toEqual(["key_a", "key_c"]);
      expect(await keysOf(null)).toEqual(["key_a", "key_b", "key_c"]);
    });

    test("gives times only to the account, user or key whose they are", async () => {
      const stores = await createStores();
      const slow = { accountId: "org_b", userId: "user_b", keyId: "key_b" };
      await save(stores, DAY_MS, { firstTokenAt: DAY_MS + 100 });
      await save(stores, DAY_MS, { ...slow, firstTokenAt: DAY_MS + 60_000 });
      await save(stores, DAY_MS, { ...slow, userId: "user_c", keyId: "key_c" });
      const latencyOf = async (query: Partial<UsageQuery>) => {
        const asked = { ...ALL, groups: ["model"] as const, ...query };
        const lines = await addPercentiles(
          stores.usage,
          asked,
          takeLines(await stores.usage.sumUsage(asked), asked),
        );
        return lines.map(({ latency }) => latency && latency.p99 > 30_000);
      };
      expect(await latencyOf({})).toEqual([true]);
      expect(await latencyOf({ accountId: "user_a" })).toEqual([false]);
      expect(await latencyOf({ accountId: "org_b" })).toEqual([true]);
      expect(await latencyOf({ accountId: "org_b", userId: "user_c" })).toEqual([null]);
      expect(await latencyOf({ keyId: "key_a" })).toEqual([false]);
      expect(await latencyOf({ provider: "other" })).toEqual([]);
    });

    test("is summed by tag: for each tag of a request, and for requests without tags", async () => {
      const stores = await createStores();
      await save(stores, DAY_MS, { tags: ["a", "b"], costNanodollars: 100 });
      await save(stores, DAY_MS + HOUR_MS, { tags: ["a"], costNanodollars: 30, model: "author/other" });
      await save(stores, DAY_MS, { costNanodollars: 7 });
      await save(stores, 2 * DAY_MS, { outcome: "failed", error: "rate_limit_exceeded", tags: ["b"] });
      const costs = async (query: Partial<UsageQuery>) =>
        (await stores.usage.sumUsage({ ...ALL, ...query })).map(({ groups, requests, cost }) => [
          ...groups,
          requests,
          cost,
        ]);
      const [failed] = await costs({ groups: ["outcome"], fromHour: 48 });
      const failedCost = failed?.[2] as number;
      expect(await costs({ groups: ["tag"] })).toEqual([
        ["a", 2, 130],
        ["b", 2, 100 + failedCost],
        [null, 1, 7],
      ]);
      expect(await costs({ groups: ["tag"], toHour: 24 })).toEqual([
        ["a", 1, 100],
        ["b", 1, 100],
        [null, 1, 7],
      ]);
      expect(await costs({ groups: ["tag"], model: "author/other" })).toEqual([["a", 1, 30]]);
      expect(await costs({ groups: ["tag", "model"], tag: "a" })).toEqual([
        ["a", "author/model", 1, 100],
        ["a", "author/other", 1, 30],
      ]);
      expect(await costs({ groups: ["hour"], tag: "a" })).toEqual([
        ["1970-01-02T00:00:00.000Z", 1, 100],
        ["1970-01-02T01:00:00.000Z", 1, 30],
      ]);
      expect(await costs({ groups: ["outcome"], tag: "b" })).toEqual(
        expect.arrayContaining([
          ["completed", 1, 100],
          ["rate_limit_exceeded", 1, failedCost],
        ]),
      );
      expect(await costs({ groups: ["tag"], accountId: "org_b" })).toEqual([]);
      expect(await costs({ groups: ["model"] })).toHaveLength(2);
    });

    test("counts the days of an earlier version as usage without tags", async () => {
      const stores = await createStores();
      await stores.run(FORMER_DAY);
      await save(stores, 5 * DAY_MS, { tags: ["a"] });
      expect(await linesOf(stores, { groups: ["tag"] })).toEqual([
        [null, 7],
        ["a", 1],
      ]);
    });

    test("counts tags beyond the bound of an account and hour as one, also after a restart", async () => {
      const stores = await createStores();
      const tags = Array.from({ length: TAGS_PER_HOUR + 5 }, (_, at) => `job-${at}`);
      const recordsOf = (from: number, to: number) =>
        tags
          .slice(from, to)
          .map((tag) => usageOf(`gen_${++made}`, { createdAt: DAY_MS, tags: ["team", tag] }));
      await stores.usage.saveUsage(recordsOf(0, 150));
      const restarted = stores.reopen();
      await restarted.saveUsage(recordsOf(150, TAGS_PER_HOUR + 5));
      await restarted.saveUsage([
        usageOf(`gen_${++made}`, { createdAt: DAY_MS, tags: ["job-3", "new-1", "new-2"] }),
        usageOf(`gen_${++made}`, { createdAt: DAY_MS, accountId: "org_b", tags: ["new-1"] }),
        usageOf(`gen_${++made}`, { createdAt: DAY_MS + HOUR_MS, tags: ["new-2"] }),
      ]);
      const lines = Object.fromEntries(await linesOf(stores, { groups: ["tag"] }));
      expect(Object.keys(lines)).toHaveLength(TAGS_PER_HOUR + 3);
      expect(lines).toMatchObject({ team: TAGS_PER_HOUR + 5, "job-3": 2, "new-1": 1, "new-2": 1 });
      // Six jobs, because the team has a place too, and the request with two new tags once.
      expect(lines["(other)"]).toBe(7);
    });

    test("by tag is rolled up into days with the same sums", async () => {
      const stores = await createStores();
      for (let n = 0; n < 60; n++)
        await save(
          stores,
          5 * DAY_MS + (n % 24) * HOUR_MS,
          n % 3 === 0 ? {} : { tags: ["a", `job-${n % 4}`] },
        );
      const before = await linesOf(stores, { groups: ["tag", "model"] });
      expect(before).toHaveLength(6);
      await rollUp(stores, 6);
      expect(await linesOf(stores, { groups: ["tag", "model"] })).toEqual(before);
      expect(await linesOf(stores, { groups: ["hour", "tag"], tag: "a" })).toEqual([[null, "a", 40]]);
    });

    test("is summed by client, also after its hours are rolled up, and requests of unknown clients are the others", async () => {
      const stores = await createStores();
      await stores.run(FORMER_DAY);
      await save(stores, 5 * DAY_MS, { client: "claude-code", costNanodollars: 100 });
      await save(stores, 5 * DAY_MS + HOUR_MS, { client: "curl", model: "author/other" });
      await save(stores, 6 * DAY_MS, { client: "claude-code", accountId: "org_b" });
      await save(stores, 6 * DAY_MS);
      const expectSums = async () => {
        const lines = await linesOf(stores, { groups: ["client"] });
        expect(lines.toSorted((a, b) => String(a[0]).localeCompare(String(b[0])))).toEqual([
          ["claude-code", 2],
          ["curl", 1],
          [null, 8],
        ]);
        expect(await linesOf(stores, { groups: ["day"], client: "claude-code" })).toEqual([
          ["1970-01-06", 1],
          ["1970-01-07", 1],
        ]);
        const [curl] = await stores.usage.sumUsage({ ...ALL, groups: ["model"], client: "curl" });
        expect(curl?.groups).toEqual(["author/other"]);
        expect(await linesOf(stores, { groups: ["client"], accountId: "org_b" })).toEqual([
          ["claude-code", 1],
        ]);
      };
      await expectSums();
      await rollUp(stores, 9);
      await expectSums();
    });

    test("is summed by the days of a time zone, through a change of its offset", async () => {
      const stores = await createStores();
      for (let hour = 0; hour < 5 * 24; hour++)
        await save(stores, 10 * DAY_MS + hour * HOUR_MS, { firstTokenAt: 0 });
      const query = {
        groups: ["day"],
        // Days begin an hour before those of UTC, and from noon of the 12th day on two hours before.
        dayOffsets: [
          { fromHour: 0, minutes: 60 },
          { fromHour: 12 * 24 + 12, minutes: 120 },
        ],
        fromHour: 11 * 24 - 1,
        toHour: 14 * 24 - 3,
        wholeDays: { from: 11, to: 13 },
      } as const;
      expect(await linesOf(stores, query)).toEqual([
        ["1970-01-12", 24],
        ["1970-01-13", 23],
        ["1970-01-14", 24],
      ]);
      const times = await stores.usage.readTimes({ ...ALL, ...query }, null);
      expect(times.map(({ groups }) => groups[0]).sort()).toEqual(["1970-01-12", "1970-01-13", "1970-01-14"]);
      expect(await stores.usage.hasWholeDays({ from: 10, to: 15 })).toBe(false);
      await rollUp(stores, 12);
      expect(await linesOf(stores, query)).toEqual([
        ["1970-01-12", 24],
        ["1970-01-13", 22],
        ["1970-01-14", 24],
      ]);
      expect(await stores.usage.hasWholeDays({ from: 10, to: 15 })).toBe(true);
      expect(await stores.usage.hasWholeDays({ from: 12, to: 15 })).toBe(false);
      await stores.run(FORMER_DAY);
      expect(await stores.usage.hasWholeDays({ from: 0, to: 5 })).toBe(true);
    });

    test("has what repeated answers had cost, as an outcome of its own", async () => {
      const stores = await createStores();
      const cached = { replayOf: "gen_0", replayBy: "answer_cache", replaySavedNanodollars: 30 } as const;
      await save(stores, DAY_MS, { ...cached, costNanodollars: 0 });
      await save(stores, DAY_MS, { ...cached, costNanodollars: 0, client: "curl", tags: ["a"] });
      await save(stores, DAY_MS, { costNanodollars: 30 });
      for (const query of [{}, { client: "curl" }, { tag: "a" }]) {
        const lines = await stores.usage.sumUsage({ ...ALL, groups: ["outcome"], ...query });
        const saved = lines.find(({ groups }) => groups[0] === "cached");
        expect(saved?.answersSaved).toBe("client" in query || "tag" in query ? 30 : 60);
      }
    });

    test("has the margin of its records, with those of BYOK keys and advisors, and by tag", async () => {
      const stores = await createStores();
      const advisor = { ...ADVISOR, costNanodollars: 40, upstreamCostNanodollars: 25 };
      const made: UsageRecord[] = [];
      const add = async (fields: Partial<UsageRecord>) => {
        const entry = usageOf(`gen_margin_${made.length}`, { createdAt: DAY_MS, tags: ["a"], ...fields });
        made.push(entry.record);
        await stores.usage.saveUsage([entry]);
      };
      await add({ costNanodollars: 112, upstreamCostNanodollars: 100 });
      await add({ costNanodollars: 60, upstreamCostNanodollars: 100 });
      await add({ costNanodollars: 3, upstreamCostNanodollars: 200, isByok: true });
      await add({ costNanodollars: 240, upstreamCostNanodollars: 125, advisors: [advisor] });
      await add({ costNanodollars: 41, upstreamCostNanodollars: 125, advisors: [advisor], isByok: true });
      const expected = made.reduce((sum, record) => sum + marginOf(record), 0);
      expect(expected).toBe(12 - 40 + 3 + 115 + 41);
      for (const query of [{}, { groups: ["tag"] }, { groups: ["model"] }, { tag: "a" }] as const) {
        const lines = await stores.usage.sumUsage({ ...ALL, ...query });
        expect(lines.reduce((sum, line) => sum + marginOfSum(line), 0)).toBe(expected);
      }
      const [, consulted] = await stores.usage.sumUsage({ ...ALL, groups: ["model"] });
      expect(consulted).toMatchObject({
        groups: ["author/advisor"],
        requests: 0,
        cost: 80,
        upstreamCost: 50,
      });
      expect(consulted && marginOfSum(consulted)).toBe(40 - 25 + 40);
      await rollUp(stores, 2);
      const [day] = await stores.usage.sumUsage({ ...ALL, groups: ["day"] });
      expect(day && marginOfSum(day)).toBe(expected);
    });

    test("is rolled up into days, which keeps sums, spending, outcomes and times", async () => {
      const stores = await createStores();
      const from = 5 * DAY_MS;
      for (let n = 0; n < 300; n++)
        await save(stores, from + (n % 48) * HOUR_MS, {
          ...(n % 10 === 0
            ? { outcome: "failed", error: "upstream_error" }
            : { firstTokenAt: from + n * HOUR_MS }),
          keyId: `key_${n % 5}`,
        });
      const read = async () => {
        const reports = [];
        for (const groups of [["day"], ["outcome", "key"], ["day", "key", "model"]] as const) {
          const query = { ...ALL, groups };
          const lines = await addPercentiles(
            stores.usage,
            query,
            takeLines(await stores.usage.sumUsage(query), query),
          );
          reports.push(lines.map((line) => JSON.stringify(line)).sort());
        }
        const days = { from: 5, to: 5 };
        const spent = await stores.ledger.sumSpending({ accountId: "user_a", userId: "user_a", days });
        return [reports, spent, await stores.ledger.sumSpending({ keyId: "key_1" })];
      };
      const before = await read();
      await rollUp(stores, 6);
      expect(await read()).toEqual(before);
      const hours = await linesOf(stores, {});
      expect(hours).toHaveLength(25);
      expect(hours[0]).toEqual([null, 156]);
      await rollUp(stores, 7);
      expect(await read()).toEqual(before);
      expect(await linesOf(stores, {})).toEqual([[null, 300]]);
    });

    test("belongs to a report by hours as a whole day once it is rolled up", async () => {
      const stores = await createStores();
      await save(stores, 5 * DAY_MS + 3 * HOUR_MS);
      await save(stores, 6 * DAY_MS + 3 * HOUR_MS);
      await rollUp(stores, 6);
      const requestsIn = async (fromHour: number, toHour: number) =>
        (await linesOf(stores, { groups: ["model"], fromHour, toHour }))[0]?.[1] ?? 0;
      expect(await requestsIn(5 * 24, 6 * 24 + 3)).toBe(2);
      expect(await requestsIn(5 * 24 + 1, 6 * 24 + 3)).toBe(1);
      expect(await requestsIn(5 * 24, 5 * 24 + 22)).toBe(0);
      expect(await requestsIn(5 * 24, 5 * 24 + 23)).toBe(1);
    });

    test("that is saved after its day was rolled up is counted, and rolled up later", async () => {
      const stores = await createStores();
      await save(stores, 5 * DAY_MS);
      await rollUp(stores, 6);
      await save(stores, 5 * DAY_MS);
      expect(await linesOf(stores, { groups: ["day"] })).toEqual([["1970-01-06", 2]]);
      await rollUp(stores, 6);
      expect(await linesOf(stores, {})).toEqual([[null, 2]]);
    });

    test("is added to the days that an earlier version has saved", async () => {
      const stores = await createStores();
      await stores.run(FORMER_DAY);
      await save(stores, 5 * DAY_MS + HOUR_MS, { costNanodollars: 5 });
      await save(stores, 6 * DAY_MS);
      expect(await linesOf(stores, { groups: ["day"] })).toEqual([
        ["1970-01-06", 8],
        ["1970-01-07", 1],
      ]);
      expect(await linesOf(stores, {})).toEqual([
        [null, 7],
        ["1970-01-06T01:00:00.000Z", 1],
        ["1970-01-07T00:00:00.000Z", 1],
      ]);
      expect(Object.fromEntries(await linesOf(stores, { groups: ["outcome"] }))).toEqual({
        completed: 2,
        null: 7,
      });
      const noon = 5 * 24 + 12;
      expect(await linesOf(stores, { groups: ["key"], fromHour: noon, toHour: 6 * 24 })).toEqual([
        ["key_a", 1],
      ]);
      const spent = (days: { from: number; to: number }) =>
        stores.ledger.sumSpending({ accountId: "user_a", userId: "user_a", days });
      expect([await spent({ from: 5, to: 5 }), await spent({ from: 0, to: 30 })]).toEqual([215, 245]);
      expect(await stores.ledger.sumSpending({ keyId: "key_a" })).toBe(245);
      await rollUp(stores, 9);
      expect(await stores.ledger.sumSpending({ keyId: "key_a" })).toBe(245);
      const lines = await stores.usage.sumUsage({ ...ALL, groups: ["day"] });
      expect(lines).toMatchObject([
        { requests: 8, errors: 2, cost: 215 },
        { requests: 1, errors: 0, cost: 30 },
      ]);
    });
  });
}
