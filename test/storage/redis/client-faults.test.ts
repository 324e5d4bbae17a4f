import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { StoreError } from "../../../src/base/failures/store-error.ts";
import { connectRedis, type Redis } from "../../../src/storage/redis/client.ts";
import { type FakeRedis, type RedisBehaviour, startFakeRedis } from "../../support/databases/fake-redis.ts";
import { eventually } from "../../support/eventually.ts";
import { passTimeOf } from "../../support/pass-time.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

const CONNECT_MS = 1_000;
const FAULTS: readonly RedisBehaviour[] = [
  "hangs",
  "half-closes",
  "breaks off",
  "speaks HTTP",
  "lies about lengths",
  "nests",
  "answers twice",
  { error: "LOADING Redis is loading the dataset in memory" },
  { error: "READONLY You can't write against a read only replica." },
  { error: "OOM command not allowed when used memory > 'maxmemory'." },
  { error: "MISCONF Errors writing to the AOF file" },
  { error: "NOAUTH Authentication required." },
];
const nameOf = (fault: RedisBehaviour) => (typeof fault === "string" ? fault : `answers ${fault.error}`);

describe("a client of a Redis server that fails", () => {
  let server: FakeRedis;
  let clock: TestClock;
  let redis: Redis;

  beforeEach(async () => {
    server = await startFakeRedis();
    clock = createTestClock();
  });
  afterEach(() => {
    redis?.close();
    server.stop();
  });

  /** Lets time pass until the server is found to be there or away, in steps that leave time for answers before their deadlines. */
  const until = (isAvailable: boolean) => {
    const passTime = passTimeOf(clock);
    return eventually(`the server is ${isAvailable ? "there" : "away"}`, () => {
      passTime();
      return redis.isAvailable === isAvailable;
    });
  };

  async function start(): Promise<void> {
    redis = connectRedis({ url: server.url, clock });
    const started = redis.start();
    const passTime = passTimeOf(clock);
    await eventually("the start ends", async () => {
      passTime();
      return (await Promise.race([started.then(() => true), Bun.sleep(0).then(() => false)])) === true;
    });
  }

  for (const fault of FAULTS) {
    test(`a server that ${nameOf(fault)} when it is first asked is used as soon as it works`, async () => {
      server.behave(fault);
      await start();
      expect(redis.isAvailable).toBe(false);
      expect(redis.problem).not.toBeNull();
      // A connection that was tried in vain for longer than it may take.
      for (let passed = 0; passed < 3 * CONNECT_MS; passed += 50) {
        clock.advance(50);
        await Bun.sleep(0);
      }
      expect(redis.isAvailable).toBe(false);
      server.behave("works");
      await until(true);
      expect(redis.problem).toBeNull();
      expect(await redis.send("GET", ["text"])).toBe("OK");
    });

    test(`a server that ${nameOf(fault)} after it has worked is found to be away without any request, and back`, async () => {
      await start();
      expect(redis.isAvailable).toBe(true);
      server.behave(fault);
      await until(false);
      expect(await redis.send("GET", ["text"]).catch((error: unknown) => error)).toBeInstanceOf(StoreError);
      server.behave("works");
      await until(true);
      expect(await redis.send("GET", ["text"])).toBe("OK");
    });
  }

  test("a server that is away for a thousand tries leaves no connections, and is asked once a second", async () => {
    server.behave("hangs");
    await start();
    const before = server.opened;
    for (let second = 0; second < 1_000; second++) {
      clock.advance(1_000);
      await Bun.sleep(0);
    }
    await eventually("connections are closed", () => server.open <= 2);
    expect(server.opened - before).toBeLessThanOrEqual(1_000);
    server.behave("works");
    await until(true);
  });

  test("a server that accepts and closes every connection is asked once a second and not more often", async () => {
    server.behave("half-closes");
    await start();
    const before = server.opened;
    for (let step = 0; step < 200; step++) {
      clock.advance(50);
      await Bun.sleep(1);
    }
    expect(server.opened - before).toBeLessThanOrEqual(11);
    expect(redis.problem).toContain("closed the connection");
  });

  test("nothing is left unhandled, and commands in progress fail when the client is closed", async () => {
    await start();
    server.behave("hangs");
    const calls = Array.from({ length: 10 }, () => redis.send("GET", ["a"]).catch((error: unknown) => error));
    redis.close();
    for (const outcome of await Promise.all(calls)) expect(outcome).toBeInstanceOf(StoreError);
    expect(clock.pendingTimers).toBe(0);
  });

  test("the problem says what is wrong and what to do", async () => {
    const cases: readonly (readonly [string, string])[] = [
      ["OOM command not allowed", "raise its maxmemory"],
      ["READONLY You can't write against a read only replica.", "point redis.url at the master"],
      ["WRONGPASS invalid username-password pair", "the user or password of redis.url is wrong"],
      ["NOPERM this user has no permissions to run the 'set' command", "+set"],
      ["ERR unknown command 'SET'", "as a Sentinel does"],
      ["MISCONF Errors writing", "look at its log and disk"],
    ];
    for (const [error, remedy] of cases) {
      server.behave({ error });
      await start();
      expect(redis.problem).toContain(remedy);
      redis.close();
    }
  });
});
