import { afterAll, beforeAll, beforeEach, describe } from "bun:test";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { connectRedis, type Redis } from "../../../src/storage/redis/client.ts";
import { RedisRateLimiter } from "../../../src/storage/redis/rate-limiter.ts";
import { LEASE_MS, testRateLimiter } from "../../limits/contracts/rate-limiter.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../../support/databases/redis.ts";
import { createTestClock } from "../../support/test-clock.ts";

describe.skipIf(REDIS_SERVER === null)("the rate limiter on Redis", () => {
  let server: TestRedis;
  let redis: Redis;
  /** Limiters that have counted nothing. A contract's test takes one, its property one for each run. */
  const limiters: RedisRateLimiter[] = [];

  beforeAll(async () => {
    server = await startTestRedis();
    redis = connectRedis({ url: server.url, clock: createTestClock() });
    await redis.start();
  });
  beforeEach(async () => {
    for (let made = limiters.length; made < 110; made++) {
      limiters.push(
        new RedisRateLimiter({
          redis,
          clock: createTestClock(),
          random: createSystemRandom(),
          leaseMs: LEASE_MS,
          findLiveGateways: () => null,
          test: { prefix: `${crypto.randomUUID()}:`, renewedMs: LEASE_MS },
        }),
      );
    }
    await Promise.all(limiters.map((limiter) => limiter.start()));
  });
  afterAll(async () => {
    redis.close();
    await server.remove();
  });

  testRateLimiter(() => limiters.pop() as RedisRateLimiter);
});
