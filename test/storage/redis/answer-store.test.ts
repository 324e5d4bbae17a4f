import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { createRedisAnswerStore } from "../../../src/storage/redis/answer-store.ts";
import { connectRedis, type Redis } from "../../../src/storage/redis/client.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../../support/databases/redis.ts";
import { createTestClock } from "../../support/test-clock.ts";
import { answerOf, testAnswerStore } from "../contracts/answer-store.ts";

describe.skipIf(REDIS_SERVER === null)("the answer store on Redis", () => {
  let server: TestRedis;
  let redis: Redis;

  beforeAll(async () => {
    server = await startTestRedis();
    redis = connectRedis({ url: server.url, clock: createTestClock() });
    await redis.start();
  });
  afterAll(async () => {
    redis.close();
    await server.remove();
  });

  const createStore = (secret: string, clock = createTestClock()) =>
    createRedisAnswerStore({ redis, clock, random: createSystemRandom(), secret });

  testAnswerStore((clock) => createStore(crypto.randomUUID(), clock));

  test("another gateway with the same secret finds an answer, one with another secret does not", async () => {
    await createStore("common").keepAnswer("a", answerOf("text"), 60_000);
    expect(await createStore("common").findAnswer("a")).toEqual(answerOf("text"));
    expect(await createStore("other").findAnswer("a")).toBeNull();
  });

  test("Redis sees neither the name nor the text of an answer, and frees it in time", async () => {
    await redis.send("FLUSHALL", []);
    await createStore("common").keepAnswer("visible name", answerOf("visible text"), 60_000);
    const [key] = (await redis.send("KEYS", ["*"])) as [string];
    const value = (await redis.send("GET", [key])) as string;
    expect(key + value + Buffer.from(value, "base64").toString("latin1")).not.toContain("visible");
    const ttl = Number(await redis.send("PTTL", [key]));
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(60_000);
  });

  test("while Redis is away nothing is found and nothing fails", async () => {
    const away = connectRedis({ url: "redis://127.0.0.1:1", clock: createTestClock() });
    const store = createRedisAnswerStore({
      redis: away,
      clock: createTestClock(),
      random: createSystemRandom(),
      secret: "common",
    });
    await store.keepAnswer("a", answerOf("text"), 60_000);
    expect(await store.findAnswer("a")).toBeNull();
    away.close();
  });
});
