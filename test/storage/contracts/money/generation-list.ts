import { describe, expect, test } from "bun:test";
import { lowestIdAt } from "../../../../src/base/secrets/ids.ts";
import type { KeyStore } from "../../../../src/core/accounts/stores/key-store.ts";
import type { TeamStore } from "../../../../src/core/accounts/stores/team-store.ts";
import {
  ANY_GENERATION,
  type CountQuery,
  type GenerationList,
  type GenerationQuery,
  RECORD_BOUNDS,
} from "../../../../src/core/usage/generations/generation-list.ts";
import type { UsageRecord } from "../../../../src/core/usage/records/records.ts";
import type { UsageStore } from "../../../../src/core/usage/reports/usage-store.ts";
import type { CreateStore } from "../create-store.ts";
import { keyOf, openUsageOf, teamOf, usageOf } from "../samples.ts";

const DAY_MS = 86_400_000;
const NEWEST: GenerationQuery = { ...ANY_GENERATION, before: null, limit: 2 };

/** Returns the id of a generation some milliseconds after the beginning of a day. */
const id = (ms: number): string => idAt(20_000 * DAY_MS + ms);
const idAt = (ms: number): string => `${lowestIdAt("gen", ms)}0000000000000000`;

/** The stores of the teams and keys by which generations are found. */
interface TeamStores {
  readonly keys: KeyStore;
  readonly teams: TeamStore;
}

/** Two keys of `team_1`, one of `team_2`, and one without a team, all of `org_a`. */
const KEYS = { key_1: "team_1", key_2: "team_1", key_3: "team_2", key_4: null } as const;

/** The contract of a `GenerationList`. `createTeams` connects to the same data. */
export function testGenerationList(
  createStore: CreateStore<GenerationList & UsageStore>,
  createTeams: CreateStore<TeamStores>,
): void {
  describe("a list of generations", () => {
    async function listAll(store: GenerationList, query: Partial<GenerationQuery> = {}) {
      const pages: string[][] = [];
      let before: string | null = null;
      do {
        const page = await store.listGenerations({ ...NEWEST, ...query, before });
        pages.push(page.records.map(({ id }) => id));
        before = page.next;
      } while (before !== null);
      return pages;
    }

    test("has all generations, newest first and in pages, over the limits of days", async () => {
      const store = await createStore();
      const ids = [0, 1, 2, 3, 4].map((i) => idAt(20_000 * DAY_MS + i * 0.6 * DAY_MS));
      await store.saveUsage(ids.map((id) => usageOf(id)));
      expect(await listAll(store)).toEqual([[ids[4]!, ids[3]!], [ids[2]!, ids[1]!], [ids[0]!]]);
      expect(await listAll(store, { limit: 5 })).toEqual([[...ids].reverse()]);
    });

    test("has only the generations with a tag, with other conditions too", async () => {
      const store = await createStore();
      await store.saveUsage([openUsageOf(id(2), { tags: ["a"] })]);
      await store.saveUsage([
        usageOf(id(1), { tags: ["a", "b"] }),
        usageOf(id(2), { tags: ["a"], outcome: "failed", error: "upstream_error" }),
        usageOf(id(3)),
        usageOf(id(4), { tags: ["b"], accountId: "org_a", sessionId: "s_1" }),
        openUsageOf(id(DAY_MS), { tags: ["a"] }),
      ]);
      const list = async (query: Partial<GenerationQuery>) => (await listAll(store, query)).flat();
      expect(await listAll(store, { tag: "a" })).toEqual([[id(DAY_MS), id(2)], [id(1)]]);
      expect(await list({ tag: "b" })).toEqual([id(4), id(1)]);
      expect(await list({ tag: "b", accountId: "user_a" })).toEqual([id(1)]);
      expect(await list({ tag: "b", sessionId: "s_1" })).toEqual([id(4)]);
      expect(await list({ tag: "a", outcome: "failed" })).toEqual([id(2)]);
      expect(await list({ tag: "a", outcome: "open" })).toEqual([id(DAY_MS)]);
      expect(await list({ tag: "a", errorType: "upstream_error" })).toEqual([id(2)]);
      expect(await list({ tag: "a", provider: "provider", model: "author/model" })).toHaveLength(3);
      expect(await list({ tag: "a", toMs: 20_000 * DAY_MS + 2 })).toEqual([id(1)]);
      expect(await list({ tag: "a", fromMs: 20_001 * DAY_MS })).toEqual([id(DAY_MS)]);
      expect(await list({ tag: "A" })).toEqual([]);
      const period = { fromMs: 20_000 * DAY_MS, toMs: 20_001 * DAY_MS, bucketMs: DAY_MS };
      const counts = await store.countGenerations({ ...ANY_GENERATION, ...period, tag: "a" });
      expect(counts).toEqual({
        buckets: [{ cached: 0, completed: 1, failed: 1, cancelled: 0, open: 0 }],
        isExact: true,
      });
    });

    test("has only the generations of an account, API key, model and outcome", async () => {
      const store = await createStore();
      await store.saveUsage([
        usageOf(id(1)),
        usageOf(id(2), { accountId: "org_a" }),
        usageOf(id(3), { accountId: "org_a", keyId: "key_b" }),
        usageOf(id(4), { accountId: "org_a", model: "author/other" }),
        usageOf(id(5), { outcome: "failed", model: null, requestedModel: "author/other" }),
        openUsageOf(id(6), { accountId: "org_a" }),
      ]);
      const list = async (query: Partial<GenerationQuery>) =>
        (await listAll(store, query)).flat().map((found) => [1, 2, 3, 4, 5, 6].find((n) => id(n) === found));
      expect(await list({})).toEqual([6, 5, 4, 3, 2, 1]);
      expect(await list({ accountId: "org_a" })).toEqual([6, 4, 3, 2]);
      expect(await list({ keyId: "key_b" })).toEqual([3]);
      expect(await list({ model: "author/other" })).toEqual([5, 4]);
      expect(await list({ accountId: "org_a", model: "author/other" })).toEqual([4]);
      expect(await list({ modelContains: "/oth" })).toEqual([5, 4]);
      expect(await list({ modelContains: "author", accountId: "org_a" })).toEqual([6, 4, 3, 2]);
      expect(await list({ modelContains: "%" })).toEqual([]);
      expect(await list({ outcome: "failed" })).toEqual([5]);
      expect(await list({ outcome: "open" })).toEqual([6]);
      expect(await list({ accountId: "org_a", keyId: "key_a", outcome: "completed" })).toEqual([4, 2]);
      expect(await list({ accountId: "user_none" })).toEqual([]);
    });

    test("has only the generations of a user, provider and type of error", async () => {
      const store = await createStore();
      await store.saveUsage([
        usageOf(id(1), { userId: "user_b" }),
        usageOf(id(2), { provider: "other" }),
        usageOf(id(3), { outcome: "failed", error: "provider_error", userId: "user_b" }),
        usageOf(id(4), { outcome: "cancelled", error: "client_timeout" }),
        usageOf(id(5), { outcome: "failed", error: "rate_limit_exceeded" }),
      ]);
      const list = async (query: Partial<GenerationQuery>) => (await listAll(store, query)).flat();
      expect(await list({ userId: "user_b" })).toEqual([id(3), id(1)]);
      expect(await list({ provider: "other" })).toEqual([id(2)]);
      expect(await list({ errorType: "provider_error" })).toEqual([id(3)]);
      expect(await list({ errorType: "client_timeout" })).toEqual([id(4)]);
      expect(await list({ errorType: "client_timeout", outcome: "failed" })).toEqual([]);
      expect(await list({ errorType: "rate_limit_exceeded", provider: "provider" })).toEqual([id(5)]);
    });

    async function addTeams(): Promise<void> {
      const { keys, teams } = await createTeams();
      for (const id of ["team_1", "team_2"]) await teams.insertTeam(teamOf(id));
      for (const [id, teamId] of Object.entries(KEYS))
        await keys.insertKey(keyOf(id, { accountId: "org_a", teamId }));
    }
    const ofKey = (keyId: keyof typeof KEYS, more: Partial<UsageRecord> = {}) => ({
      ...{ accountId: "org_a", keyId, teamId: KEYS[keyId] ?? undefined, ...more },
    });

    test("has only the generations of the keys of a team, with other conditions too", async () => {
      const store = await createStore();
      await addTeams();
      await store.saveUsage([
        usageOf(id(1), ofKey("key_1", { userId: "user_b", tags: ["a"] })),
        usageOf(id(2), ofKey("key_3", { tags: ["a"] })),
        usageOf(id(3), ofKey("key_2", { outcome: "failed", error: "unavailable", sessionId: "s_a" })),
        usageOf(id(4), ofKey("key_4", { sessionId: "s_a" })),
        usageOf(id(5)),
        openUsageOf(id(6), ofKey("key_1")),
        usageOf(id(DAY_MS), ofKey("key_1", { client: "curl", model: "author/other" })),
      ]);
      const list = async (query: Partial<GenerationQuery>) =>
        (await listAll(store, { teamId: "team_1", ...query })).flat();
      expect(await list({})).toEqual([id(DAY_MS), id(6), id(3), id(1)]);
      expect(await list({ teamId: "team_2" })).toEqual([id(2)]);
      expect(await list({ teamId: "team_none" })).toEqual([]);
      expect(await list({ accountId: "org_a", limit: 9 })).toEqual([id(DAY_MS), id(6), id(3), id(1)]);
      expect(await list({ accountId: "user_a" })).toEqual([]);
      expect(await list({ keyId: "key_1" })).toEqual([id(DAY_MS), id(6), id(1)]);
      expect(await list({ keyId: "key_3" })).toEqual([]);
      expect(await list({ userId: "user_b" })).toEqual([id(1)]);
      expect(await list({ tag: "a" })).toEqual([id(1)]);
      expect(await list({ sessionId: "s_a" })).toEqual([id(3)]);
      expect(await list({ client: "curl", model: "author/other" })).toEqual([id(DAY_MS)]);
      expect(await list({ outcome: "failed" })).toEqual([id(3)]);
      expect(await list({ errorType: "unavailable" })).toEqual([id(3)]);
      expect(await list({ outcome: "open" })).toEqual([id(6)]);
      expect(await list({ toMs: 20_000 * DAY_MS + 3 })).toEqual([id(1)]);
      const period = { fromMs: 20_000 * DAY_MS, toMs: 20_001 * DAY_MS, bucketMs: DAY_MS };
      const counts = await store.countGenerations({ ...ANY_GENERATION, ...period, teamId: "team_1" });
      expect(counts.buckets).toEqual([{ cached: 0, completed: 1, failed: 1, cancelled: 0, open: 1 }]);
    });

    test("has the generations of a team behind days without one, and open ones there", async () => {
      const store = await createStore();
      await addTeams();
      const at = (day: number, n: number) => idAt((20_000 + day) * DAY_MS + n);
      const number = RECORD_BOUNDS.scanned + 10;
      const entries = Array.from({ length: number }, (_, n) => usageOf(at(9, n), ofKey("key_4")));
      for (let n = 0; n < number; n += 1_000) await store.saveUsage(entries.slice(n, n + 1_000));
      await store.saveUsage([
        usageOf(at(0, 0), ofKey("key_1")),
        usageOf(at(3, DAY_MS - 1), ofKey("key_2", { provider: "other" })),
        openUsageOf(at(5, 7), ofKey("key_1")),
        usageOf(at(6, 7), ofKey("key_3")),
        usageOf(at(9, 2 * number), ofKey("key_2")),
      ]);
      const expected = [at(9, 2 * number), at(5, 7), at(3, DAY_MS - 1), at(0, 0)];
      for (const limit of [1, 2, 10])
        expect((await listAll(store, { teamId: "team_1", limit })).flat()).toEqual(expected);
      const ofOther = await listAll(store, { teamId: "team_1", provider: "other", limit: 10 });
      expect(ofOther.flat()).toEqual([at(3, DAY_MS - 1)]);
      expect((await listAll(store, { teamId: "team_none", limit: 10 })).flat()).toEqual([]);
    });

    test("has only the generations of a client and its version, with other conditions too", async () => {
      const store = await createStore();
      await store.saveUsage([
        usageOf(id(1), { client: "claude-code", clientVersion: "2.0.14" }),
        usageOf(id(2), { client: "claude-code" }),
        usageOf(id(3), { client: "curl", clientVersion: "8.5.0" }),
        usageOf(id(4)),
        usageOf(id(5), { client: "claude-code", clientVersion: "2.0.14", accountId: "org_a" }),
      ]);
      const list = async (query: Partial<GenerationQuery>) => (await listAll(store, query)).flat();
      expect(await list({ client: "claude-code" })).toEqual([id(5), id(2), id(1)]);
      expect(await list({ client: "claude-code", clientVersion: "2.0.14" })).toEqual([id(5), id(1)]);
      expect(await list({ client: "claude-code", accountId: "org_a" })).toEqual([id(5)]);
      expect(await list({ clientVersion: "8.5.0" })).toEqual([id(3)]);
      expect(await list({ client: "aider" })).toEqual([]);
      const period = { fromMs: 20_000 * DAY_MS, toMs: 20_001 * DAY_MS, bucketMs: DAY_MS };
      const { buckets } = await store.countGenerations({ ...ANY_GENERATION, ...period, client: "curl" });
      expect(buckets).toEqual([{ cached: 0, completed: 1, failed: 0, cancelled: 0, open: 0 }]);
    });

    test("distinguishes repeated answers from completed ones", async () => {
      const store = await createStore();
      const repeated = { replayOf: id(1), replayBy: "answer_cache", tags: ["a"] } as const;
      const warning = { field: "x", message: 'He said "replayBy": "no".' };
      await store.saveUsage([
        usageOf(id(1), { tags: ["a"], work: { warnings: [warning] } }),
        usageOf(id(2), repeated),
        usageOf(id(3), { ...repeated, accountId: "org_a" }),
        usageOf(id(4), { ...repeated, outcome: "failed", error: "unavailable" }),
        // As version 0.2 has saved it.
        usageOf(id(5), { replayOf: id(1) }),
      ]);
      const list = async (query: Partial<GenerationQuery>) => (await listAll(store, query)).flat();
      expect(await list({ outcome: "cached" })).toEqual([id(3), id(2)]);
      expect(await list({ outcome: "cached", accountId: "org_a" })).toEqual([id(3)]);
      expect(await list({ outcome: "cached", tag: "a" })).toEqual([id(3), id(2)]);
      expect(await list({ outcome: "completed" })).toEqual([id(5), id(1)]);
      expect(await list({ outcome: "failed" })).toEqual([id(4)]);
      const period = { fromMs: 20_000 * DAY_MS, toMs: 20_001 * DAY_MS, bucketMs: DAY_MS };
      const { buckets } = await store.countGenerations({ ...ANY_GENERATION, ...period });
      expect(buckets).toEqual([{ cached: 2, completed: 2, failed: 1, cancelled: 0, open: 0 }]);
    });

    test("has only the generations of a session, also with other conditions", async () => {
      const store = await createStore();
      await store.saveUsage([
        usageOf(id(1), { sessionId: "s_a" }),
        usageOf(id(2)),
        usageOf(id(3), { sessionId: "s_b" }),
        usageOf(id(4), { sessionId: "s_a", outcome: "failed", error: "unavailable" }),
        openUsageOf(id(5), { sessionId: "s_a" }),
        usageOf(idAt(20_003 * DAY_MS), { sessionId: "s_a", model: "author/other" }),
      ]);
      const list = async (query: Partial<GenerationQuery>) => (await listAll(store, query)).flat();
      const sessionId = "s_a";
      expect(await list({ sessionId })).toEqual([idAt(20_003 * DAY_MS), id(5), id(4), id(1)]);
      expect(await list({ sessionId, outcome: "failed" })).toEqual([id(4)]);
      expect(await list({ sessionId, outcome: "open" })).toEqual([id(5)]);
      expect(await list({ sessionId, errorType: "unavailable" })).toEqual([id(4)]);
      expect(await list({ sessionId, model: "author/other" })).toEqual([idAt(20_003 * DAY_MS)]);
      expect(await list({ sessionId, accountId: "user_none" })).toEqual([]);
      expect(await list({ sessionId, toMs: 20_001 * DAY_MS, limit: 9 })).toEqual([id(5), id(4), id(1)]);
      expect(await list({ sessionId: "s_none" })).toEqual([]);
      const range = { fromMs: 20_000 * DAY_MS, toMs: 20_001 * DAY_MS, bucketMs: DAY_MS };
      expect((await store.countGenerations({ ...ANY_GENERATION, ...range, sessionId })).buckets).toEqual([
        { cached: 0, completed: 1, failed: 1, cancelled: 0, open: 1 },
      ]);
    });

    test("has only the generations of a range of time", async () => {
      const store = await createStore();
      const times = [0, 1, 2, 3].map((n) => 20_000 * DAY_MS + n * 0.7 * DAY_MS);
      await store.saveUsage(times.map((ms) => usageOf(idAt(ms))));
      const [, second, , last] = times as [number, number, number, number];
      const range = { fromMs: second, toMs: last };
      expect(await listAll(store, range)).toEqual([[idAt(times[2] ?? 0), idAt(second)]]);
      expect(await listAll(store, { ...range, accountId: "user_a", limit: 1 })).toEqual([
        [idAt(times[2] ?? 0)],
        [idAt(second)],
      ]);
      expect(await listAll(store, { fromMs: last + 1 })).toEqual([[]]);
    });

    test("is found by ids, and by the id of a request", async () => {
      const store = await createStore();
      const requestId = `${lowestIdAt("req", 20_000 * DAY_MS)}abcdefgh12345678`;
      await store.saveUsage([
        usageOf(id(1)),
        usageOf(id(4), { requestId }),
        usageOf(id(5), { requestedModel: requestId }),
      ]);
      const found = await store.findGenerations([id(4), id(9), id(1)]);
      expect(found.map((record) => record.id).sort()).toEqual([id(1), id(4)]);
      expect(await store.findGenerations([])).toEqual([]);
      expect((await store.findByRequest(requestId))?.id).toBe(id(4));
      expect(await store.findByRequest(`${lowestIdAt("req", 20_000 * DAY_MS)}zzzzzzzz12345678`)).toBeNull();
      expect(await store.findByRequest("req_?")).toBeNull();
    });

    test("shows the states of the newest generations since a time", async () => {
      const store = await createStore();
      await store.saveUsage([usageOf(id(1)), usageOf(id(2)), openUsageOf(id(3)), usageOf(id(4))]);
      const since = 20_000 * DAY_MS + 2;
      expect(await store.listStates(since, 2)).toEqual([
        { id: id(4), outcome: "completed" },
        { id: id(3), outcome: "open" },
      ]);
      expect((await store.listStates(since, 9)).map((state) => state.id)).toEqual([id(4), id(3), id(2)]);
    });

    test("has a rare match behind more generations than are read for a page", async () => {
      const store = await createStore();
      const number = 2 * RECORD_BOUNDS.scanned + 10;
      const entries = Array.from({ length: number }, (_, n) => usageOf(id(n)));
      entries[3] = usageOf(id(3), { model: "author/rare" });
      for (let at = 0; at < number; at += 1_000) await store.saveUsage(entries.slice(at, at + 1_000));
      const rare = { ...NEWEST, accountId: "user_a", keyId: "key_a", model: "author/rare" };
      const first = await store.listGenerations(rare);
      expect(first.records).toEqual([]);
      // Otherwise nothing would show that reading is bounded.
      expect(first.next).not.toBeNull();
      expect((await listAll(store, rare)).flat()).toEqual([id(3)]);
    });

    test("has matches of other days behind days without one, and open generations there", async () => {
      const store = await createStore();
      const at = (day: number, n: number) => idAt((20_000 + day) * DAY_MS + n);
      const number = RECORD_BOUNDS.scanned + 10;
      const entries = Array.from({ length: number }, (_, n) => usageOf(at(9, n)));
      for (let n = 0; n < number; n += 1_000) await store.saveUsage(entries.slice(n, n + 1_000));
      await store.saveUsage([
        usageOf(at(0, 0), { userId: "user_b" }),
        usageOf(at(3, DAY_MS - 1), { userId: "user_b" }),
        openUsageOf(at(5, 7), { userId: "user_b" }),
        usageOf(at(6, 7)),
        usageOf(at(9, 2 * number), { userId: "user_b" }),
      ]);
      const expected = [at(9, 2 * number), at(5, 7), at(3, DAY_MS - 1), at(0, 0)];
      for (const limit of [1, 2, 10])
        expect((await listAll(store, { userId: "user_b", limit })).flat()).toEqual(expected);
      expect((await listAll(store, { provider: "none", limit: 10 })).flat()).toEqual([]);
    });

    test("has matches of several conditions that have no day, or another day, in common", async () => {
      const store = await createStore();
      const at = (day: number, n: number) => idAt((20_000 + day) * DAY_MS + n);
      const number = RECORD_BOUNDS.scanned + 10;
      const entries = Array.from({ length: number }, (_, n) => usageOf(at(9, n)));
      for (let n = 0; n < number; n += 1_000) await store.saveUsage(entries.slice(n, n + 1_000));
      const both = { userId: "user_b", provider: "other" };
      const midnight = (20_000 + 4) * DAY_MS;
      await store.saveUsage([
        usageOf(at(1, 5), both),
        // It has got its id after midnight, and is counted for the day of its request.
        usageOf(idAt(midnight + 20), { ...both, createdAt: midnight - 10 }),
        usageOf(at(6, 5), { userId: "user_b" }),
        usageOf(at(7, 5), { provider: "other" }),
      ]);
      const list = async (query: Partial<GenerationQuery>) => (await listAll(store, query)).flat();
      expect(await list(both)).toEqual([idAt(midnight + 20), at(1, 5)]);
      expect(await list({ ...both, toMs: midnight })).toEqual([at(1, 5)]);
      expect(await list({ ...both, fromMs: midnight })).toEqual([idAt(midnight + 20)]);
      expect(await list({ provider: "other" })).toEqual([at(7, 5), idAt(midnight + 20), at(1, 5)]);
      expect(await list({ userId: "user_b", provider: "none" })).toEqual([]);
    });

    test("is counted by outcome in periods", async () => {
      const store = await createStore();
      await store.saveUsage([
        usageOf(id(0)),
        usageOf(id(9), { model: "author/other" }),
        usageOf(id(10), { outcome: "failed" }),
        usageOf(id(11), { outcome: "interrupted" }),
        usageOf(id(19), { outcome: "cancelled" }),
        openUsageOf(id(29)),
        usageOf(id(30)),
      ]);
      const none = { cached: 0, completed: 0, failed: 0, cancelled: 0, open: 0 };
      const day = 20_000 * DAY_MS;
      const query: CountQuery = { ...ANY_GENERATION, fromMs: day, toMs: day + 30, bucketMs: 10 };
      expect(await store.countGenerations(query)).toEqual({
        isExact: true,
        buckets: [
          { ...none, completed: 2 },
          { ...none, failed: 2, cancelled: 1 },
          { ...none, open: 1 },
        ],
      });
      const other = await store.countGenerations({ ...query, model: "author/other" });
      expect(other.buckets).toEqual([{ ...none, completed: 1 }, none, none]);
      const failed = await store.countGenerations({ ...query, outcome: "failed" });
      expect(failed.buckets).toEqual([none, { ...none, failed: 1 }, none]);
      const elsewhere = { model: "author/other", userId: "user_none", provider: "none" };
      expect((await store.countGenerations({ ...query, ...elsewhere })).buckets).toEqual([none, none, none]);
    });

    test("is estimated in periods with more generations than are counted", async () => {
      const store = await createStore();
      const number = 2 * RECORD_BOUNDS.counted;
      const entries = Array.from({ length: number }, (_, n) =>
        usageOf(id(n), { outcome: n % 10 === 0 ? "failed" : "completed" }),
      );
      for (let at = 0; at < number; at += 1_000) await store.saveUsage(entries.slice(at, at + 1_000));
      const day = 20_000 * DAY_MS;
      const query = { ...ANY_GENERATION, fromMs: day, toMs: day + 2 * number, bucketMs: number / 4 };
      const { buckets, isExact } = await store.countGenerations(query);
      expect(isExact).toBe(false);
      expect(buckets.map(({ completed, failed }) => [completed, failed])).toEqual([
        ...Array.from({ length: 4 }, () => [0.9, 0.1].map((share) => (share * number) / 4)),
        ...Array.from({ length: 4 }, () => [0, 0]),
      ]);
    }, 60_000);
  });
}
