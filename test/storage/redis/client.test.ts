import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { StoreError } from "../../../src/base/failures/store-error.ts";
import { connectRedis, defineScript, type Redis } from "../../../src/storage/redis/client.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../../support/databases/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { passTimeOf } from "../../support/pass-time.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

const DEADLINE_MS = 50;
const failureOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

describe.skipIf(REDIS_SERVER === null)("the Redis client", () => {
  let server: TestRedis;
  let clock: TestClock;
  let redis: Redis;

  beforeAll(async () => {
    server = await startTestRedis();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    clock = createTestClock();
    redis = connectRedis({ url: server.url, clock });
    await redis.start();
  });
  afterEach(() => redis.close());

  /** Lets time pass until the server is found, in steps that leave time for answers before their deadlines. */
  const comeBack = (lost = redis) => {
    const passTime = passTimeOf(clock);
    return eventually("a probe", () => {
      passTime();
      return lost.isAvailable;
    });
  };

  test("returns text, integers, lists and null as the server answers them", async () => {
    expect(redis.isAvailable).toBe(true);
    expect(await redis.send("SET", ["text", "grün"])).toBe("OK");
    expect(await redis.send("GET", ["text"])).toBe("grün");
    expect(await redis.send("GET", ["missing"])).toBeNull();
    expect(await redis.send("INCRBY", ["number", "7"])).toBe(7);
    expect(await redis.send("MGET", ["text", "missing"])).toEqual(["grün", null]);
  });

  test("a script that the server does not know, or has lost, is sent once and then called by its name", async () => {
    const script = defineScript("return {KEYS[1], ARGV[1], tonumber(ARGV[2]) + 1}");
    const run = () => redis.run(script, { keys: ["{a}b"], values: ["x", 41] });
    expect(await run()).toEqual(["{a}b", "x", 42]);
    await redis.send("SCRIPT", ["FLUSH"]);
    expect(await run()).toEqual(["{a}b", "x", 42]);
    expect(await redis.send("SCRIPT", ["EXISTS", script.sha])).toEqual([1]);
  });

  test("a command that the server rejects fails with a StoreError, and the server is still there", async () => {
    expect(await failureOf(redis.send("INCRBY", ["text-2", "x"]))).toBeInstanceOf(StoreError);
    expect(redis.isAvailable).toBe(true);
  });

  test("a server that is killed counts as away after five failures, and as back after a probe", async () => {
    const changes: boolean[] = [];
    redis.onChange((isAvailable) => changes.push(isAvailable));
    await server.kill();
    for (let i = 0; i < 5; i++)
      expect(await failureOf(redis.send("GET", ["text"]))).toBeInstanceOf(StoreError);
    expect(redis.isAvailable).toBe(false);
    expect(String(await failureOf(redis.send("GET", ["text"])))).toContain("away");
    await server.start();
    await comeBack();
    expect(await redis.send("GET", ["text"])).toBeNull();
    expect(changes).toEqual([false, true]);
  });

  test("five failures that are spread over seconds do not count as an outage", async () => {
    for (let i = 0; i < 10; i++) {
      await failureOf(redis.send("UNKNOWN", []));
      clock.advance(300);
    }
    expect(redis.isAvailable).toBe(true);
  });

  test("a paused server lets commands fail at the deadline, and is used again once it goes on", async () => {
    server.pause();
    try {
      for (let i = 0; i < 5; i++) {
        const failure = failureOf(redis.send("GET", ["text"]));
        clock.advance(DEADLINE_MS);
        expect(await failure).toBeInstanceOf(StoreError);
      }
      expect(redis.isAvailable).toBe(false);
    } finally {
      server.resume();
    }
    await comeBack();
    expect(await redis.send("GET", ["text"])).toBeNull();
  });

  test("a server that is not there at the start is found later", async () => {
    await server.kill();
    const late = connectRedis({ url: server.url, clock });
    try {
      const started = late.start();
      clock.advance(1_000);
      await started;
      expect(late.isAvailable).toBe(false);
      await server.start();
      await comeBack(late);
    } finally {
      late.close();
    }
  });

  test("a server that rejects writes counts as away", async () => {
    await server.command("CONFIG", "SET", "maxmemory", "1");
    try {
      for (let i = 0; i < 5; i++) await failureOf(redis.send("SET", ["text", "more"]));
      expect(redis.isAvailable).toBe(false);
      clock.advance(1_000);
      await server.command("PING");
      expect(redis.isAvailable).toBe(false);
    } finally {
      await server.command("CONFIG", "SET", "maxmemory", "0");
    }
    await comeBack();
  });

  test("no command is executed twice when connections are cut under load", async () => {
    const outcomes = { answered: 0, failed: 0 };
    for (let round = 0; round < 20; round++) {
      const calls = Array.from({ length: 100 }, () =>
        redis.send("INCR", ["counter"]).then(
          () => outcomes.answered++,
          () => outcomes.failed++,
        ),
      );
      await server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      await Promise.all(calls);
      await comeBack();
    }
    // Over another connection: the client may not have noticed yet that the last cut has ended its own.
    const counter = Number(await server.command("GET", "counter"));
    expect(counter).toBeGreaterThanOrEqual(outcomes.answered);
    expect(counter).toBeLessThanOrEqual(outcomes.answered + outcomes.failed);
    expect(outcomes.answered + outcomes.failed).toBe(2_000);
  });

  test("commands beyond the bound fail at once instead of waiting", async () => {
    const calls = Array.from({ length: 10_001 }, () =>
      redis.send("GET", ["text"]).then(
        () => "answered",
        () => "failed",
      ),
    );
    expect((await Promise.all(calls)).filter((outcome) => outcome === "failed")).toHaveLength(1);
  });
});
