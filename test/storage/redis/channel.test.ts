import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openRedisChannel, type RedisChannel } from "../../../src/storage/redis/channel.ts";
import { connectRedis, type Redis } from "../../../src/storage/redis/client.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../../support/databases/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

describe.skipIf(REDIS_SERVER === null)("a channel between gateways", () => {
  let server: TestRedis;
  let clock: TestClock;
  let redis: Redis;
  let channel: RedisChannel;
  let received: string[];

  beforeAll(async () => {
    server = await startTestRedis();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    clock = createTestClock();
    redis = connectRedis({ url: server.url, clock });
    await redis.start();
    received = [];
    channel = openRedisChannel({
      redis,
      clock,
      name: "test:messages",
      onMessage: (message) => received.push(message),
    });
  });
  afterEach(() => {
    channel.close();
    redis.close();
  });

  /** Sends a message until it arrives, and lets time pass in which connections are opened again. */
  const arrives = async (message: string) => {
    const found = await eventually("a message arrives", () => {
      channel.publish(message);
      clock.advance(5);
      return received.includes(message);
    });
    expect(found).toBe(true);
  };

  test("brings messages to all that listen", async () => {
    await arrives("hello");
  });

  test("is there again after its connection was cut, and after the server was killed", async () => {
    await arrives("first");
    await server.command("CLIENT", "KILL", "TYPE", "pubsub");
    await arrives("second");
    await server.kill();
    await server.start();
    await arrives("third");
  });

  test("sends at most fifty messages a second", async () => {
    await arrives("ready");
    clock.advance(1_000);
    for (let i = 0; i < 200; i++) channel.publish(`m${i}`);
    await eventually("the last message arrives", () => received.includes("m49"));
    clock.advance(1_000);
    channel.publish("last");
    await eventually("a message of the next second arrives", () => received.includes("last"));
    expect(received.filter((message) => message.startsWith("m"))).toHaveLength(50);
  });
});
