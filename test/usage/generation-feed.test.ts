import { describe, expect, test } from "bun:test";
import { lowestIdAt } from "../../src/base/secrets/ids.ts";
import { nextTurn } from "../../src/base/time/next-turn.ts";
import { FEED_PLACES, type FeedOwner } from "../../src/core/usage/generations/feed-places.ts";
import { type FeedBatch, GenerationFeed } from "../../src/core/usage/generations/generation-feed.ts";
import { ANY_GENERATION, type GenerationFilter } from "../../src/core/usage/generations/generation-list.ts";
import type { Rejection } from "../../src/core/usage/rejections/rejection.ts";
import { ANY_REJECTION, type RejectionFilter } from "../../src/core/usage/rejections/rejection-store.ts";
import { createSqliteStores } from "../../src/storage/sqlite/stores.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage/usage-store.ts";
import { rejectionAt } from "../storage/contracts/rejection-store.ts";
import { keyOf, openUsageOf, usageOf } from "../storage/contracts/samples.ts";
import { useSqlite } from "../storage/sqlite-connections.ts";
import { createTestClock } from "../support/test-clock.ts";

const connect = useSqlite();

/** A feed over a new store, and a subscriber that keeps what it gets. */
function createSite() {
  const database = connect();
  const clock = createTestClock();
  const usage = new SqliteUsageStore(database);
  const { keys, accounts, teams, rejections } = createSqliteStores(database);
  const failures: unknown[] = [];
  let successes = 0;
  const feed = new GenerationFeed({
    clock,
    usage,
    rejections: { list: (query) => rejections.listRejections(query) },
    names: { keys, accounts, teams },
    onSuccess: () => {
      successes += 1;
    },
    onFailure: (error) => failures.push(error),
  });
  const subscribe = async (
    filter: Partial<GenerationFilter> = {},
    seenAt: number | null = null,
    owner: FeedOwner | null = null,
    rejectionFilter: RejectionFilter | null = null,
  ) => {
    const batches: FeedBatch[] = [];
    const reader = { batches, takes: true, isClosed: false };
    const begun = await feed.subscribe(
      {
        owner,
        filter: { ...ANY_GENERATION, ...filter },
        rejectionFilter,
        onBatch: (batch) => reader.takes && batches.push(batch) > 0,
        onClose: () => {
          reader.isClosed = true;
        },
      },
      seenAt,
    );
    const subscription = "full" in begun ? null : begun;
    return { batches, reader, begun, subscription, states: () => statesOf(batches) };
  };
  /** Lets half a second pass, and the reading of the store end. A reading that is under way ends before. */
  const pass = async () => {
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    const before = successes + failures.length;
    clock.advance(500);
    for (let turn = 0; turn < 20 && successes + failures.length === before; turn++) await nextTurn();
  };
  const idNow = (n = 0) => `${lowestIdAt("gen", clock.now())}000000000000${String(n).padStart(4, "0")}`;
  return { clock, usage, rejections, keys, feed, failures, subscribe, pass, idNow };
}

const statesOf = (batches: readonly FeedBatch[]) =>
  batches.flatMap(({ entries }) =>
    entries.flatMap((entry) =>
      entry.kind === "generation" ? [[entry.record.id, entry.record.outcome]] : [],
    ),
  );

/** Returns the ids and numbers of the rejected requests in batches. */
const rejectedOf = (batches: readonly FeedBatch[]) =>
  batches.flatMap(({ entries }) =>
    entries.flatMap((entry) =>
      entry.kind === "rejection" ? [[entry.rejection.id, entry.rejection.count]] : [],
    ),
  );

describe("a feed of generations", () => {
  test("tells of a rejected request once, to subscribers whose filter it matches", async () => {
    const { clock, rejections, subscribe, pass } = createSite();
    const idAt = (ms: number) => `${lowestIdAt("req", ms)}00aaaaaaaaaaaaaa`;
    const add = (ms: number, more: Partial<Rejection> = {}) =>
      rejections.addRejections([rejectionAt(0, { id: idAt(ms), at: ms, ...more })]);
    await add(clock.now() - 1_000);
    const all = await subscribe({}, null, null, ANY_REJECTION);
    const other = await subscribe({}, null, null, { ...ANY_REJECTION, accountId: "user_2" });
    const none = await subscribe();
    const [at, sumAt] = [clock.now(), clock.now() - 50_000];
    await add(at);
    await pass();
    // A sum is written some time after its last request.
    await add(sumAt, { accountId: "user_2", count: 40 });
    await pass();
    await pass();
    expect(rejectedOf(all.batches)).toEqual([
      [idAt(at), 1],
      [idAt(sumAt), 40],
    ]);
    expect(rejectedOf(other.batches)).toEqual([[idAt(sumAt), 40]]);
    expect(none.batches).toEqual([]);
  });

  test("tells of a generation when it begins and when it ends, and only once of each", async () => {
    const { usage, subscribe, pass, idNow } = createSite();
    const { states } = await subscribe();
    const id = idNow();
    await usage.saveUsage([openUsageOf(id)]);
    await pass();
    await pass();
    expect(states()).toEqual([[id, "open"]]);
    await usage.saveUsage([usageOf(id)]);
    await pass();
    await pass();
    expect(states()).toEqual([
      [id, "open"],
      [id, "completed"],
    ]);
  });

  test("does not tell of generations that had ended before, and follows open ones however long they last", async () => {
    const { usage, subscribe, pass, clock, idNow } = createSite();
    const [long, ended] = [idNow(1), idNow(2)];
    await usage.saveUsage([openUsageOf(long), usageOf(ended)]);
    clock.advance(60_000);
    const { states } = await subscribe();
    await pass();
    expect(states()).toEqual([]);
    clock.advance(60_000);
    await usage.saveUsage([usageOf(long, { outcome: "failed" })]);
    await pass();
    expect(states()).toEqual([[long, "failed"]]);
  });

  test("tells of a record that is saved some seconds after its id was made", async () => {
    const { usage, subscribe, pass, clock, idNow } = createSite();
    const { states } = await subscribe();
    const id = idNow();
    clock.advance(4_000);
    await usage.saveUsage([usageOf(id)]);
    await pass();
    expect(states()).toEqual([[id, "completed"]]);
  });

  test("gives each subscriber only what matches its filter, with names", async () => {
    const { usage, keys, subscribe, pass, idNow } = createSite();
    await keys.insertKey(keyOf("key_b"));
    const all = await subscribe();
    const one = await subscribe({ keyId: "key_b", outcome: "completed" });
    await usage.saveUsage([
      usageOf(idNow(1)),
      usageOf(idNow(2), { keyId: "key_b" }),
      openUsageOf(idNow(3), { keyId: "key_b" }),
    ]);
    await pass();
    expect(all.states().length).toBe(3);
    expect(one.states().map(([, outcome]) => outcome)).toEqual(["completed"]);
    const [entry] = one.batches.flatMap(({ entries }) => entries);
    expect(JSON.parse(entry?.json ?? "")).toMatchObject({ key_id: "key_b", key_name: "name of key_b" });
  });

  test("counts what a subscriber does not take, and tells it with the next batch", async () => {
    const { usage, subscribe, pass, idNow } = createSite();
    const { reader, batches } = await subscribe();
    reader.takes = false;
    await usage.saveUsage([usageOf(idNow(1)), usageOf(idNow(2))]);
    await pass();
    reader.takes = true;
    await usage.saveUsage([usageOf(idNow(3))]);
    await pass();
    expect(batches.map(({ entries, dropped }) => [entries.length, dropped])).toEqual([[1, 2]]);
  });

  test("gives at most 250 generations at once, the newest, and counts the others as dropped", async () => {
    const { usage, subscribe, pass, idNow } = createSite();
    const { batches } = await subscribe();
    const ids = Array.from({ length: 1_200 }, (_, n) => idNow(n));
    await usage.saveUsage(ids.map((id) => usageOf(id)));
    await pass();
    await pass();
    expect(batches.map(({ entries, dropped }) => [entries.length, dropped])).toEqual([[250, 950]]);
    expect(statesOf(batches).map(([id]) => id)).toEqual(ids.slice(-250));
  });

  test("sends again what a subscriber has missed that comes back within the ring", async () => {
    const { usage, subscribe, pass, idNow } = createSite();
    const first = await subscribe();
    const id = idNow(1);
    await usage.saveUsage([usageOf(id)]);
    await pass();
    const seenAt = first.batches[0]?.at ?? 0;
    first.subscription?.close();
    const missed = idNow(2);
    await usage.saveUsage([usageOf(missed)]);
    await pass();
    const second = await subscribe({}, seenAt);
    expect(second.subscription?.isResumed).toBe(true);
    expect(second.states()).toEqual([[missed, "completed"]]);
    expect(first.states()).toEqual([[id, "completed"]]);
  });

  test("does not resume after more changes than the ring has, nor from a time before it began", async () => {
    const { usage, subscribe, pass, idNow, clock } = createSite();
    const { subscription } = await subscribe();
    const since = subscription?.since ?? 0;
    expect((await subscribe({}, since)).subscription?.isResumed).toBe(true);
    expect((await subscribe({}, since - 1)).subscription?.isResumed).toBe(false);
    expect((await subscribe({}, clock.now() + 60_000)).subscription?.isResumed).toBe(false);
    for (let round = 0; round < 3; round++) {
      await usage.saveUsage(Array.from({ length: 500 }, (_, n) => usageOf(idNow(n))));
      await pass();
    }
    expect((await subscribe({}, since)).subscription?.isResumed).toBe(false);
  });

  test("rejects more of the operator's subscribers than its bound until one leaves", async () => {
    const { subscribe } = createSite();
    const all = await Promise.all(Array.from({ length: FEED_PLACES.operator }, () => subscribe()));
    expect(all.every(({ subscription }) => subscription !== null)).toBe(true);
    expect((await subscribe()).begun).toEqual({ full: "operator" });
    all[0]?.subscription?.close();
    expect((await subscribe()).subscription).not.toBeNull();
  });

  test("gives one caller a few places, and the operator places that no account can take", async () => {
    const { subscribe } = createSite();
    const of = (accountId: string, callerId: string) => subscribe({}, null, { accountId, callerId });
    for (let count = 0; count < FEED_PLACES.caller; count++)
      expect((await of("org_a", "user_a")).subscription).not.toBeNull();
    expect((await of("org_a", "user_a")).begun).toEqual({ full: "caller" });
    for (let count = FEED_PLACES.caller; count < FEED_PLACES.accounts; count++)
      expect((await of("org_a", `user_${count}`)).subscription).not.toBeNull();
    expect((await of("org_a", "user_more")).begun).toEqual({ full: "accounts" });
    expect((await subscribe()).subscription).not.toBeNull();
  });

  test("an account that holds most places gives them to accounts with fewer, the newest first", async () => {
    const { subscribe, feed } = createSite();
    const of = (accountId: string, callerId: string) => subscribe({}, null, { accountId, callerId });
    const large = [];
    for (let count = 0; count < FEED_PLACES.accounts; count++) large.push(await of("org_a", `user_${count}`));
    for (let count = 0; count < FEED_PLACES.accounts / 2; count++)
      expect((await of("org_b", `user_${count}`)).subscription).not.toBeNull();
    expect((await of("org_b", "user_more")).begun).toEqual({ full: "accounts" });
    const ended = large.map(({ reader }) => reader.isClosed);
    expect(ended).toEqual(large.map((_, at) => at >= FEED_PLACES.accounts / 2));
    expect(feed.size).toBe(FEED_PLACES.accounts);
  });

  test("stops reading the store half a minute after the last subscriber has left", async () => {
    const { subscribe, clock } = createSite();
    expect(clock.pendingTimers).toBe(0);
    const { subscription } = await subscribe();
    expect(clock.pendingTimers).toBe(1);
    subscription?.close();
    clock.advance(29_000);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(2_000);
    expect(clock.pendingTimers).toBe(0);
  });

  test("goes on after a failure of the store", async () => {
    const { usage, subscribe, pass, idNow, failures } = createSite();
    const { states } = await subscribe();
    const works = usage.listStates;
    usage.listStates = () => Promise.reject(new Error("the store is away"));
    await pass();
    expect(failures.length).toBe(1);
    usage.listStates = works;
    await usage.saveUsage([usageOf(idNow())]);
    await pass();
    expect(states().length).toBe(1);
  });

  test("ends all subscriptions when it is closed, and begins no further ones", async () => {
    const { feed, subscribe, clock } = createSite();
    const { reader } = await subscribe();
    feed.close();
    expect([reader.isClosed, clock.pendingTimers, feed.size]).toEqual([true, 0, 0]);
    expect((await subscribe()).subscription).toBeNull();
  });
});
