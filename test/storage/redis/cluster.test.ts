import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { type Clock, systemClock } from "../../../src/base/time/clock.ts";
import { type LimitScope, NO_LIMIT } from "../../../src/core/limits/rate-limiter.ts";
import { openRedisChannel } from "../../../src/storage/redis/channel.ts";
import { connectRedis, type Redis } from "../../../src/storage/redis/client.ts";
import { slotOf } from "../../../src/storage/redis/cluster-slots.ts";
import { createRedisConversationStore } from "../../../src/storage/redis/conversation-store.ts";
import { probeRedis } from "../../../src/storage/redis/probe.ts";
import { RedisRateLimiter } from "../../../src/storage/redis/rate-limiter.ts";
import { REDIS_SERVER } from "../../support/databases/redis.ts";
import { startTestRedisCluster, type TestRedisCluster } from "../../support/databases/redis-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { turnOf } from "../contracts/conversation-store.ts";

const COMMAND_MS = 50;
const PATIENCE_MS = 10_000;
/** On a busy machine answers may be late; that is not what these tests are about. */
const patientClock: Clock = {
  ...systemClock,
  after: (delayMs, callback) => systemClock.after(delayMs === COMMAND_MS ? PATIENCE_MS : delayMs, callback),
};

describe("the slot of a key", () => {
  test("is that of the text in its first braces, as Redis counts it", () => {
    // CLUSTER KEYSLOT answers these.
    expect(slotOf("123456789")).toBe(12_739);
    expect(slotOf("{user1000}.following")).toBe(slotOf("{user1000}.followers"));
    expect(slotOf("foo{}{bar}")).toBe(8_363);
    expect(slotOf("foo{{bar}}zap")).toBe(slotOf("{bar"));
  });
});

describe.skipIf(REDIS_SERVER === null)("gateways on a Redis Cluster", () => {
  let cluster: TestRedisCluster;
  let redis: Redis;
  let limiters: RedisRateLimiter[];
  let made = 0;

  beforeAll(async () => {
    cluster = await startTestRedisCluster();
  }, 60_000);
  afterAll(() => cluster.remove());
  beforeEach(async () => {
    for (const member of cluster.members) await member.command("FLUSHALL");
    redis = connectRedis({ url: cluster.members[0]?.url as string, clock: patientClock });
    await redis.start();
    limiters = [0, 1].map(
      (rank) =>
        new RedisRateLimiter({
          redis,
          clock: patientClock,
          random: createSystemRandom(),
          leaseMs: 1_000_000,
          findLiveGateways: () => ({ count: 2, rank }),
        }),
    );
    await Promise.all(limiters.map((limiter) => limiter.start()));
  });
  afterEach(async () => {
    await Promise.all(limiters.map((limiter) => limiter.close()));
    redis.close();
  });

  const scopesOf = (
    account: string,
    limits: { key?: number; account?: number; model?: number },
  ): LimitScope[] => {
    const limit = (requestsPerMinute = 1_000) => ({ ...NO_LIMIT, requestsPerMinute, concurrent: 1_000 });
    return [
      { source: "key", id: `key_of_${account}`, accountId: account, limit: limit(limits.key) },
      { source: "account", id: account, limit: limit(limits.account) },
      { source: "gateway", id: "acme/model", limit: limit(limits.model) },
    ];
  };

  async function admit(scopes: readonly LimitScope[]): Promise<string | null> {
    made += 1;
    const limiter = limiters[made % 2] as RedisRateLimiter;
    const request = { id: `gen_${made}`, scopes, promptTokens: 1, completionTokens: 1 };
    const decision = await limiter.admit(request, systemClock.now());
    return decision.kind === "rejected" ? decision.rejection.source : null;
  }

  test("admit together exactly the limits of keys, accounts and models, which are at several servers", async () => {
    expect(limiters.map(({ countsInRedis }) => countsInRedis)).toEqual([true, true]);
    const tryTimes = async (times: number, scopes: readonly LimitScope[]) => {
      const outcomes = await Promise.all(Array.from({ length: times }, () => admit(scopes)));
      return outcomes.filter((outcome) => outcome === null).length;
    };
    expect(await tryTimes(12, scopesOf("acct_a", { key: 5 }))).toBe(5);
    expect(await tryTimes(12, scopesOf("acct_b", { account: 7 }))).toBe(7);
    expect(await tryTimes(12, scopesOf("acct_c", { model: 15 }))).toBe(3);
    const own = { model: 1_000 };
    await eventually("what the model rejected is not counted for the account", async () => {
      const scopes = scopesOf("acct_c", own).slice(0, 2);
      const { requests } = await (limiters[0] as RedisRateLimiter).peek(scopes, systemClock.now());
      return requests?.remaining === 997;
    });
  });

  test("a request that the limit of its account rejects is not counted for its model, and one that its model rejects not for its account", async () => {
    const peek = async (scope: LimitScope | undefined) =>
      (await (limiters[0] as RedisRateLimiter).peek([scope as LimitScope], systemClock.now())).requests
        ?.remaining;
    const full = scopesOf("acct_full", { account: 1, model: 50 });
    expect(await admit(full)).toBeNull();
    for (let call = 0; call < 5; call++) expect(await admit(full)).toBe("account");
    expect(await peek(full[2])).toBe(49);
    const other = scopesOf("acct_other", { model: 1 });
    expect(await admit(other)).toBe("gateway");
    await eventually("the account has all requests again", async () => (await peek(other[1])) === 1_000);
  });

  test("counts of accounts are divided among the servers", async () => {
    for (let account = 0; account < 60; account++) await admit(scopesOf(`acct_${account}`, {}).slice(0, 2));
    const keys = await Promise.all(
      cluster.members.map(async (member) => (await member.command("KEYS", "gateway:limit:*")) as string[]),
    );
    expect(keys.flat()).toHaveLength(120);
    for (const ofMember of keys) expect(ofMember.length).toBeGreaterThan(10);
  });

  test("a slot that moves to another server takes its counts with it, and no request fails", async () => {
    const scopes = scopesOf("acct_moving", { account: 10 }).slice(0, 2);
    for (let call = 0; call < 4; call++) expect(await admit(scopes)).toBeNull();
    await moveSlot(slotOf("{acct_moving}"));
    const outcomes = [];
    for (let call = 0; call < 8; call++) outcomes.push(await admit(scopes));
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(6);
    expect(redis.isAvailable).toBe(true);
  });

  /** Moves a slot with its keys to the next server. */
  async function moveSlot(slot: number): Promise<void> {
    const ids = await Promise.all(
      cluster.members.map(async (member) => String(await member.command("CLUSTER", "MYID"))),
    );
    const counts = await Promise.all(
      cluster.members.map(async (member) =>
        Number(await member.command("CLUSTER", "COUNTKEYSINSLOT", String(slot))),
      ),
    );
    const from = counts.findIndex((count) => count > 0);
    const to = (from + 1) % cluster.members.length;
    const [source, target] = [cluster.members[from], cluster.members[to]];
    if (source === undefined || target === undefined) throw new Error("no server has the slot");
    await target.command("CLUSTER", "SETSLOT", String(slot), "IMPORTING", ids[from] as string);
    await source.command("CLUSTER", "SETSLOT", String(slot), "MIGRATING", ids[to] as string);
    const keys = (await source.command("CLUSTER", "GETKEYSINSLOT", String(slot), "100")) as string[];
    const { port } = new URL(target.url);
    await source.command("MIGRATE", "127.0.0.1", port, "", "0", "5000", "KEYS", ...keys);
    for (const member of [target, source])
      await member.command("CLUSTER", "SETSLOT", String(slot), "NODE", ids[to] as string);
  }

  test("turns of conversations and messages between gateways pass through it", async () => {
    const options = { redis, clock: patientClock, random: createSystemRandom(), secret: "common" };
    const store = createRedisConversationStore(options);
    for (let account = 0; account < 10; account++) {
      await store.rememberTurn(`acct_${account}`, ["call_1"], turnOf("a thought", "call_1"));
      expect((await store.recallTurns(`acct_${account}`, ["call_1"])).size).toBe(1);
    }
    const received: string[] = [];
    const channel = openRedisChannel({
      redis,
      clock: patientClock,
      name: "test:messages",
      onMessage: (message) => received.push(message),
    });
    await eventually("a message arrives", () => {
      channel.publish("hello");
      return received.includes("hello");
    });
    channel.close();
  });

  test("the doctor's probe finds a cluster of three, and says that it has only database 0", async () => {
    const url = cluster.members.map((member) => member.url.slice("redis://".length)).join(",");
    expect(await probeRedis(`redis://${url}`, patientClock)).toMatchObject({ masters: 3, problems: [] });
    const failure = await probeRedis(`redis://${url}/3`, patientClock).catch((error: Error) => error.message);
    expect(failure).toContain("a Redis Cluster has only database 0: remove the number from redis.url");
  });

  test("while one server of the cluster is away, all gateways admit shares and say which server it is", async () => {
    const [, , last] = cluster.members;
    await last?.kill();
    await eventually("it is noticed", () => !redis.isAvailable, 20_000);
    expect(redis.problem).toMatch(/127\.0\.0\.1:\d+ (cannot be reached|closed)|slots that no server serves/);
    expect(limiters.map(({ countsInRedis }) => countsInRedis)).toEqual([false, false]);
    expect(await admit(scopesOf("acct_share", {}))).toBeNull();
  });
});
