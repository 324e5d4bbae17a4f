import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { connectRedis, type Redis } from "../../../src/storage/redis/client.ts";
import { createRedisConversationStore } from "../../../src/storage/redis/conversation-store.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../../support/databases/redis.ts";
import { createTestClock } from "../../support/test-clock.ts";
import { testConversationStore, turnOf } from "../contracts/conversation-store.ts";

describe.skipIf(REDIS_SERVER === null)("the conversation store on Redis", () => {
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
    createRedisConversationStore({ redis, clock, random: createSystemRandom(), secret });

  testConversationStore((clock) => createStore(crypto.randomUUID(), clock));

  test("another gateway with the same secret has the turns back, one with another secret has not", async () => {
    await createStore("common").rememberTurn("acct_a", ["call_1"], turnOf("a thought", "call_1"));
    expect((await createStore("common").recallTurns("acct_a", ["call_1"])).get("call_1")).toEqual(
      turnOf("a thought", "call_1"),
    );
    expect((await createStore("other").recallTurns("acct_a", ["call_1"])).size).toBe(0);
  });

  test("Redis sees neither the text of a turn nor its scope nor the names of its calls, and frees it after an hour", async () => {
    await redis.send("FLUSHALL", []);
    await createStore("common").rememberTurn(
      "acct_visible",
      ["call_visible"],
      turnOf("visible text", "call_visible"),
    );
    const keys = (await redis.send("KEYS", ["*"])) as string[];
    const values = (await redis.send("MGET", keys)) as string[];
    for (const value of values) keys.push(Buffer.from(value, "base64").toString("latin1"));
    expect(keys.join("\n")).not.toContain("visible");
    for (const key of keys.slice(0, values.length)) {
      const ttl = Number(await redis.send("PTTL", [key]));
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(3_600_000);
    }
  });

  test("a turn that another caller changed in Redis counts as unknown", async () => {
    await redis.send("FLUSHALL", []);
    await createStore("common").rememberTurn("acct_a", ["call_1"], turnOf("a thought", "call_1"));
    const keys = (await redis.send("KEYS", ["*"])) as string[];
    const turnKey = keys.find((key) => !key.includes(":call:")) as string;
    await redis.send("SETRANGE", [turnKey, "40", "AAAAAAAA"]);
    expect((await createStore("common").recallTurns("acct_a", ["call_1"])).size).toBe(0);
  });

  test("while Redis is away nothing is stored or returned, and nothing fails", async () => {
    const away = connectRedis({ url: "redis://127.0.0.1:1", clock: createTestClock() });
    const options = { redis: away, clock: createTestClock(), random: createSystemRandom(), secret: "common" };
    const store = createRedisConversationStore(options);
    await store.rememberTurn("acct_a", ["call_1"], turnOf("a thought", "call_1"));
    expect((await store.recallTurns("acct_a", ["call_1"])).size).toBe(0);
    away.close();
  });

  test("a turn beyond the bound is not stored, and of many turns the first ones that are named are recalled", async () => {
    const store = createStore("bounds");
    await store.rememberTurn("acct_a", ["call_large"], turnOf("x".repeat(130_000), "call_large"));
    expect((await store.recallTurns("acct_a", ["call_large"])).size).toBe(0);
    const callIds = Array.from({ length: 60 }, (_, at) => `call_${at}`);
    for (const callId of callIds) await store.rememberTurn("acct_a", [callId], turnOf("a thought", callId));
    expect([...(await store.recallTurns("acct_a", callIds)).keys()]).toEqual(callIds);
    const large = Array.from({ length: 40 }, (_, at) => `call_large_${at}`);
    for (const callId of large)
      await store.rememberTurn("acct_a", [callId], turnOf("x".repeat(120_000), callId));
    const recalled = [...(await store.recallTurns("acct_a", large)).keys()];
    expect(recalled.length).toBeLessThan(large.length);
    expect(recalled).toEqual(large.slice(0, recalled.length));
  });
});
