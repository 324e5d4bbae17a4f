import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { joinRedis, type RedisId } from "../../src/app/stores/redis-id.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { RENEWAL_MS } from "../../src/core/gateways/gateway-registry.ts";
import type { Postgres } from "../../src/storage/postgres/connection/client.ts";
import { PostgresGatewayRegistry } from "../../src/storage/postgres/gateways/gateway-registry.ts";
import { connectRedis, type Redis } from "../../src/storage/redis/client.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../support/databases/redis.ts";
import { eventually } from "../support/eventually.ts";
import { createMemoryLog, type LogLine } from "../support/gateway/gateway.ts";
import { NO_CONFIG } from "../support/gateway/reported-config.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

describe.skipIf(POSTGRES_BIN === null || REDIS_SERVER === null)("the Redis server of a gateway", () => {
  let postgres: TestPostgres;
  let redis: TestRedis;
  let databases: Postgres[];
  let connections: Redis[];
  let ids: RedisId[];
  let clock: TestClock;
  let lines: readonly LogLine[];
  let shared: SharedGateways[];

  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startTestPostgres(), startTestRedis()]);
  });
  afterAll(async () => {
    await postgres?.remove();
    await redis?.remove();
  });
  beforeEach(() => {
    [databases, connections, ids, shared] = [[], [], [], []];
    clock = createTestClock();
    lines = [];
  });
  afterEach(async () => {
    for (const id of ids) id.stop();
    for (const connection of connections) connection.close();
    for (const database of databases) await database.close();
    for (const gateways of shared) await gateways.clear();
    await redis.command("FLUSHALL");
  });

  async function open(): Promise<PostgresGatewayRegistry> {
    const database = openTestPostgres(await postgres.createMigratedDatabase());
    databases.push(database);
    return new PostgresGatewayRegistry(database);
  }

  /** Joins as a gateway of an installation, with a numbered database of the server. */
  async function join(registry: PostgresGatewayRegistry, name: string, number: number, storeId = "one") {
    const identity = await registry.register({
      id: name,
      host: "host",
      version: "1",
      dataDir: `/${name}`,
      masterKeys: [],
      config: NO_CONFIG,
    });
    const connection = connectRedis({ url: `${redis.url}/${number}`, clock: systemClock });
    connections.push(connection);
    await connection.start();
    const log = createMemoryLog();
    lines = log.lines;
    const parts = { redis: connection, registry, identity, storeId, clock, log: log.log };
    const id = await joinRedis({ ...parts, random: createSystemRandom() });
    ids.push(id);
    return id;
  }

  const idIn = (number: number) =>
    redis.command("EVAL", `redis.call('SELECT', ${number}) return redis.call('GET', 'gateway:id')`, "0");

  test("is the same for gateways of one database, which agree on its id", async () => {
    const registry = await open();
    await Promise.all([join(registry, "a", 1), join(registry, "b", 1)]);
    const [first, second] = await registry.list();
    expect(first?.redisId).toStartWith("one.");
    expect(second?.redisId).toBe(first?.redisId as string);
  });

  test("is not used by gateways of two databases: the second one does not start, through the front door", async () => {
    const environment = { REDIS_URL: `${redis.url}/2` };
    shared = [
      shareDatabase(await postgres.createMigratedDatabase()),
      shareDatabase(await postgres.createMigratedDatabase()),
    ];
    await shared[0]?.start("a", { environment });
    await expect(shared[1]?.start("b", { environment })).rejects.toThrow(
      "redis.url (REDIS_URL) leads to a Redis server that gateways of another database use",
    );
    await shared[0]?.start("c", { environment });
  });

  test("is not another one than that of the other gateways: such a gateway does not start, though its server may have lost the id", async () => {
    const registry = await open();
    await join(registry, "a", 3);
    const joined = join(registry, "b", 4).catch((error: Error) => error.message);
    await eventually("it waits for the id", () => clock.pendingTimers > 1);
    let result: unknown = null;
    void joined.then((outcome) => {
      result = outcome;
    });
    await eventually("it gives up", () => {
      clock.advance(500);
      return result !== null;
    });
    expect(result).toContain("leads to a different Redis server than that of the other gateways");
    expect(await idIn(4)).toBeNull();
  });

  test("gets its id again from the running gateways after it has lost its data, and a gateway that starts meanwhile waits for that", async () => {
    const registry = await open();
    await join(registry, "a", 5);
    const before = await idIn(5);
    await redis.command("FLUSHALL");
    const joined = join(registry, "b", 5);
    await eventually("it waits for the id", () => clock.pendingTimers > 1);
    clock.advance(RENEWAL_MS);
    await eventually("the id is back", async () => (await idIn(5)) === before);
    clock.advance(500);
    await joined;
    const [first, second] = await registry.list();
    expect([first?.redisId, second?.redisId]).toEqual([before, before] as string[]);
  });

  test("is compared once it is reachable, and a difference is logged by a gateway that started while it was away", async () => {
    const registry = await open();
    const other = await open();
    await join(registry, "a", 6);
    const connection = connectRedis({ url: `${redis.url}/6`, clock: systemClock });
    connections.push(connection);
    const identity = await other.register({
      id: "b",
      host: "h",
      version: "1",
      dataDir: "/b",
      masterKeys: [],
      config: NO_CONFIG,
    });
    const log = createMemoryLog();
    lines = log.lines;
    let isAway = true;
    const id = await joinRedis({
      redis: {
        send: async (...command) => {
          if (isAway) throw new Error("the server is away");
          return connection.send(...command);
        },
      },
      registry: other,
      identity,
      storeId: "two",
      clock,
      log: log.log,
      random: createSystemRandom(),
    });
    ids.push(id);
    await connection.start();
    isAway = false;
    clock.advance(RENEWAL_MS);
    await eventually("it is logged", () =>
      lines.some(({ event }) => event.includes("does not use the stores of the others")),
    );
    expect(lines.at(-1)?.fields["detail"]).toContain("gateways of another database use");
  });
});
