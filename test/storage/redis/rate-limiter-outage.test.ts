import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { type LimitScope, NO_LIMIT } from "../../../src/core/limits/rate-limiter.ts";
import { connectRedis, type Redis } from "../../../src/storage/redis/client.ts";
import { RedisRateLimiter } from "../../../src/storage/redis/rate-limiter.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../../support/databases/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

const LEASE_MS = 1_000_000;
const COMMAND_MS = 50;

/** A gateway's connection and limiter. */
interface Gateway {
  readonly redis: Redis;
  readonly limiter: RedisRateLimiter;
}

describe.skipIf(REDIS_SERVER === null)("two gateways that count in one Redis", () => {
  let server: TestRedis;
  let clock: TestClock;
  let a: Gateway;
  let b: Gateway;
  let made = 0;

  beforeAll(async () => {
    server = await startTestRedis();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    await server.command("FLUSHALL");
    clock = createTestClock();
    [a, b] = await Promise.all([openGateway(0), openGateway(1)]);
  });
  afterEach(async () => {
    for (const { redis, limiter } of [a, b]) {
      await limiter.close();
      redis.close();
    }
  });

  async function openGateway(rank: number): Promise<Gateway> {
    const redis = connectRedis({ url: server.url, clock });
    await redis.start();
    const findLiveGateways = () => ({ count: 2, rank });
    const random = createSystemRandom();
    const limiter = new RedisRateLimiter({ redis, clock, random, leaseMs: LEASE_MS, findLiveGateways });
    await limiter.start();
    return { redis, limiter };
  }

  const scopeOf = (limit: Partial<LimitScope["limit"]>): LimitScope => ({
    source: "key",
    id: "key_a",
    limit: { ...NO_LIMIT, ...limit },
  });

  /** Asks a gateway to admit a generation. Returns its id, or null if it is rejected. */
  async function admit({ limiter }: Gateway, scope: LimitScope, tokens = 1): Promise<string | null> {
    const id = `gen_${made++}`;
    const request = { id, scopes: [scope], promptTokens: tokens, completionTokens: 0 };
    return (await limiter.admit(request, clock.now())).kind === "admitted" ? id : null;
  }

  /** Asks a gateway again and again. Returns how many generations it admits before it rejects one. */
  async function fill(gateway: Gateway, scope: LimitScope, most = 100): Promise<number> {
    for (let count = 0; count < most; count++) if ((await admit(gateway, scope)) === null) return count;
    return most;
  }

  /** Lets time pass until both gateways count in Redis, in steps that leave time for answers before their deadlines. */
  const inRedis = () =>
    eventually("both count in Redis", () => {
      clock.advance(5);
      return [a, b].every(({ limiter }) => limiter.countsInRedis);
    });

  /** Lets commands that wait for a server that does not answer reach their deadlines. */
  async function untilAway(): Promise<void> {
    for (let call = 0; call < 5; call++) {
      const calls = [a, b].map(({ limiter }) => limiter.peek([scopeOf({ concurrent: 1 })], clock.now()));
      clock.advance(COMMAND_MS);
      await Promise.all(calls);
    }
  }

  test("admit together exactly the requests per minute and the concurrent requests of a key", async () => {
    const scope = scopeOf({ requestsPerMinute: 10, concurrent: 7 });
    expect(await fill(a, scope, 4)).toBe(4);
    const running = await admit(b, scope);
    expect(await fill(b, scope)).toBe(2);
    expect(await fill(a, scope)).toBe(0);
    b.limiter.settle(running as string, 1);
    expect(await admit(b, scope)).not.toBeNull();
    expect(await fill(a, { ...scope, limit: { ...scope.limit, concurrent: null } })).toBe(2);
  });

  test("admit exactly the limit in all while Redis is killed, and after it is back without its data", async () => {
    const scope = scopeOf({ requestsPerMinute: 10 });
    expect(await fill(a, scope, 4)).toBe(4);
    expect(await fill(b, scope, 2)).toBe(2);
    await server.kill();
    await untilAway();
    expect([a, b].map(({ limiter }) => limiter.countsInRedis)).toEqual([false, false]);
    expect(await fill(a, scope)).toBe(1);
    expect(await fill(b, scope, 2)).toBe(2);
    await server.start();
    await inRedis();
    expect(await fill(a, scope)).toBe(1);
    expect(await fill(b, scope)).toBe(0);
  });

  test("a request is decided by the share after 50 ms if Redis does not answer, and not counted twice when it goes on", async () => {
    const scope = scopeOf({ requestsPerMinute: 10, concurrent: 8 });
    expect(await fill(a, scope, 2)).toBe(2);
    expect(await fill(b, scope, 2)).toBe(2);
    server.pause();
    try {
      await untilAway();
      expect(await fill(a, scope)).toBe(2);
    } finally {
      server.resume();
    }
    await inRedis();
    expect(await fill(b, scope)).toBe(2);
    expect(await fill(b, { ...scope, limit: { ...scope.limit, concurrent: null } })).toBe(2);
  });

  test("concurrent requests are counted again in a Redis that has lost them", async () => {
    const scope = scopeOf({ concurrent: 5 });
    const first = await admit(a, scope);
    expect(await fill(b, scope, 2)).toBe(2);
    await server.kill();
    await untilAway();
    await server.start();
    await inRedis();
    expect(await fill(a, scope)).toBe(2);
    a.limiter.settle(first as string, 1);
    await a.limiter.peek([scope], clock.now());
    expect(await fill(b, scope)).toBe(1);
  });

  test("a Redis that is emptied while it is in use renews no limit: each gateway carries what it has counted", async () => {
    const scope = scopeOf({ requestsPerMinute: 10, tokensPerMinute: 1_000, concurrent: 9 });
    const other = { ...scope, id: "key_other" };
    expect(await fill(a, scope, 3)).toBe(3);
    expect(await fill(b, scope, 4)).toBe(4);
    expect(await admit(b, other, 400)).not.toBeNull();
    await server.command("FLUSHALL");
    // The next request of a gateway notices that its count was lost; that of the other gateway is carried at its next check.
    expect(await admit(a, scope)).not.toBeNull();
    await eventually("both have carried their counts", async () => {
      clock.advance(5);
      const { requests } = await a.limiter.peek([scope], clock.now());
      return requests?.remaining === 2;
    });
    expect(await fill(b, scope)).toBe(1);
    expect(await fill(b, { ...scope, limit: { ...scope.limit, concurrent: null } })).toBe(1);
    expect((await a.limiter.peek([other], clock.now())).tokens?.remaining).toBe(600);
  });

  test.skipIf(!RUNS_SLOW_TESTS)(
    "a Redis that is emptied again and again has all counts again after a second, and admits no more than the limit",
    async () => {
      const scope = scopeOf({ requestsPerMinute: 20 });
      let admitted = 0;
      for (let round = 0; round < 8; round++) {
        await server.command("FLUSHALL");
        await eventually("both have carried their counts", async () => {
          clock.advance(5);
          const { requests } = await a.limiter.peek([scope], clock.now());
          return requests?.remaining === 20 - admitted;
        });
        admitted += (await fill(a, scope, 3)) + (await fill(b, scope, 2));
      }
      expect(admitted).toBe(20);
    },
  );

  test("a place that is freed after Redis was emptied is free for the other gateway too", async () => {
    const scope = scopeOf({ requestsPerMinute: 5, concurrent: 2 });
    const first = await admit(a, scope);
    expect(await admit(b, scope)).not.toBeNull();
    await server.command("FLUSHALL");
    await eventually("both have carried their counts", async () => {
      clock.advance(5);
      return (await a.limiter.peek([scope], clock.now())).requests?.remaining === 3;
    });
    expect(await admit(a, scope)).toBeNull();
    a.limiter.settle(first as string, 1);
    await eventually("the place is free", async () => {
      clock.advance(5);
      return (await admit(b, scope)) !== null;
    });
    expect(await admit(a, scope)).toBeNull();
  });

  test("tokens that were used while Redis was away count in it afterwards", async () => {
    const scope = scopeOf({ tokensPerMinute: 100_000 });
    await untilPaused(async () => {
      const id = await admit(a, scope, 30_000);
      a.limiter.settle(id as string, 40_000);
    });
    const { tokens } = await b.limiter.peek([scope], clock.now());
    expect(tokens?.remaining).toBe(60_000);
  });

  /** Works while Redis is away, and returns when both gateways count in it again. */
  async function untilPaused(work: () => Promise<void>): Promise<void> {
    server.pause();
    try {
      await untilAway();
      await work();
    } finally {
      server.resume();
    }
    await inRedis();
  }

  test("a running request of a gateway that has died lapses, one of a gateway that lives does not", async () => {
    const [scope, renewedMs] = [scopeOf({ concurrent: 2 }), 60_000];
    const random = createSystemRandom();
    const limiterOf = async (own: TestClock, redis: Redis) => {
      const limiter = new RedisRateLimiter({
        redis,
        clock: own,
        random,
        leaseMs: LEASE_MS,
        findLiveGateways: () => null,
        test: { prefix: "lapse:", renewedMs },
      });
      await limiter.start();
      return limiter;
    };
    const dead = await limiterOf(createTestClock(), a.redis);
    const live = await limiterOf(clock, b.redis);
    const ask = async (limiter: RedisRateLimiter, id: string) =>
      (await limiter.admit({ id, scopes: [scope], promptTokens: 1, completionTokens: 0 }, clock.now())).kind;
    expect(await ask(dead, "gen_dead")).toBe("admitted");
    expect(await ask(live, "gen_live")).toBe("admitted");
    for (let passed = 0; passed < renewedMs; passed += 20_000) {
      expect(await ask(live, "gen_more")).toBe("rejected");
      clock.advance(20_000);
      clock.advance(5);
    }
    expect(await ask(live, "gen_next")).toBe("admitted");
    expect(await ask(live, "gen_beyond")).toBe("rejected");
  });
});
