import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { NO_LIMIT } from "../../../src/core/limits/rate-limiter.ts";
import { parseRedisAddress, RedisAddressError } from "../../../src/storage/redis/address.ts";
import { connectRedis, type Redis } from "../../../src/storage/redis/client.ts";
import { probeRedis } from "../../../src/storage/redis/probe.ts";
import { RedisRateLimiter } from "../../../src/storage/redis/rate-limiter.ts";
import { REDIS_SERVER, startTestRedis, type TestRedis } from "../../support/databases/redis.ts";
import { type Certificates, makeCertificates } from "../../support/servers/certificates.ts";
import { findFreePort } from "../../support/servers/free-port.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";
import { createTestClock } from "../../support/test-clock.ts";

const PASSWORD = "a p@ss:w/o?r#d%20[]{}$&+\"'ü";

/** Connects, and works with the client until it is closed. */
async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = connectRedis({ url, clock: createTestClock() });
  try {
    await redis.start();
    return await work(redis);
  } finally {
    redis.close();
  }
}

/** Returns what the probe of `gateway doctor` says about a server that cannot be used. */
const failureOf = (url: string) =>
  probeRedis(url, createTestClock()).then(
    () => "it can be used",
    (error: Error) => error.message,
  );

describe("the address of a Redis server", () => {
  const messageOf = (text: string) => {
    try {
      parseRedisAddress(text);
      return "it is one";
    } catch (error) {
      expect(error).toBeInstanceOf(RedisAddressError);
      return (error as Error).message;
    }
  };

  test("may have a user, a password of any characters that are encoded, a database, TLS, or several members of a cluster", () => {
    expect(parseRedisAddress(`rediss://me:${encodeURIComponent(PASSWORD)}@[::1]:7000/3`)).toEqual({
      hosts: [{ host: "::1", port: 7_000, path: null }],
      isTls: true,
      user: "me",
      password: PASSWORD,
      database: 3,
    });
    expect(parseRedisAddress("redis://a.example,b.example:7001").hosts).toEqual([
      { host: "a.example", port: 6_379, path: null },
      { host: "b.example", port: 7_001, path: null },
    ]);
    expect(parseRedisAddress("redis+unix://:x@/run/redis.sock?db=2")).toMatchObject({
      hosts: [{ path: "/run/redis.sock" }],
      password: "x",
      database: 2,
    });
  });

  test("what is not supported is rejected with what is, and no message has the password", () => {
    for (const text of [
      "redis+sentinel://:hidden@a:26379/mymaster",
      "redis://:hidden@a:26379?sentinel=mymaster",
    ])
      expect(messageOf(text)).toContain("Sentinel is not supported");
    for (const text of ["http://a", "a:6379", "", "redis:/a"])
      expect(messageOf(text)).toContain("redis://user:password@host:port");
    for (const text of [
      "redis://:hid/den@a:1",
      "redis://:hid?den@a:1",
      "redis://:hid#den@a:1",
      "redis://:hid%den@a:1",
      "redis://:hidden@a:1/name",
      "redis://:hidden@a:0",
      "redis://:hidden@",
      "redis://:hidden@a:1,",
      "redis://:hidden@a b:1",
    ]) {
      const message = messageOf(text);
      expect(message).toContain("%2F");
      expect(message).not.toMatch(/hid|den\b/);
    }
    expect(messageOf("redis+unix://relative/path")).toContain("by its whole path");
  });
});

describe.skipIf(REDIS_SERVER === null)("Redis servers of all kinds", () => {
  let server: TestRedis;
  let folder: string;
  let certificates: Certificates;

  beforeAll(async () => {
    folder = makeTempFolder("gateway-redis-tls-");
    certificates = makeCertificates();
    server = await startTestRedis({ unixsocket: join(folder, "redis.sock") });
  });
  afterAll(async () => {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const as = (user: string, password = "secret") =>
    server.url.replace("redis://", `redis://${user}:${encodeURIComponent(password)}@`);
  const allow = (user: string, ...rules: string[]) =>
    server.command("ACL", "SETUSER", user, "reset", "on", ">secret", "~gateway:*", "&gateway:*", ...rules);

  async function limiterOn(redis: Redis) {
    const limiter = new RedisRateLimiter({
      redis,
      clock: createTestClock(),
      random: createSystemRandom(),
      leaseMs: 1_000_000,
      findLiveGateways: () => ({ count: 1, rank: 0 }),
    });
    await limiter.start();
    return limiter;
  }

  test("a unix socket, a numbered database and a password of any characters work", async () => {
    await server.command("ACL", "SETUSER", "odd", "reset", "on", `>${PASSWORD}`, "~*", "&*", "+@all");
    for (const url of [
      `redis+unix://odd:${encodeURIComponent(PASSWORD)}@${folder}/redis.sock?db=7`,
      `${as("odd", PASSWORD)}/7`,
    ])
      await withRedis(url, async (redis) => {
        expect(redis.problem).toBeNull();
        expect(await redis.send("CLIENT", ["INFO"])).toMatch(/ db=7 .* user=odd /);
      });
  });

  test("a user who may run scripts and not manage them is enough to count in Redis", async () => {
    await allow("narrow", "+@read", "+@write", "+@pubsub", "+eval", "+evalsha", "+time", "-@dangerous");
    await withRedis(as("narrow"), async (redis) => {
      const limiter = await limiterOn(redis);
      expect(limiter.countsInRedis).toBe(true);
      const scope = { source: "key", id: "key_a", limit: { ...NO_LIMIT, requestsPerMinute: 1 } } as const;
      expect((await limiter.count([scope], Date.now())).kind).toBe("admitted");
      expect((await limiter.count([scope], Date.now())).kind).toBe("rejected");
      await limiter.close();
    });
    expect((await probeRedis(as("narrow"), createTestClock())).problems).toEqual([]);
  });

  test("a user who may not run scripts counts nothing in Redis, and the problem names the permission", async () => {
    await allow("scriptless", "+@all", "-@scripting");
    await withRedis(as("scriptless"), async (redis) => {
      const limiter = await limiterOn(redis);
      expect(redis.isAvailable).toBe(true);
      expect(limiter.countsInRedis).toBe(false);
      expect(limiter.problem).toContain("+eval +evalsha");
      await limiter.close();
    });
    const { problems } = await probeRedis(as("scriptless"), createTestClock());
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^rate limits over several gateways: .*\+eval \+evalsha/);
  });

  test("a command that a user may not use does not make the whole server count as away", async () => {
    await allow("mute", "+@all", "-publish");
    await withRedis(as("mute"), async (redis) => {
      for (let call = 0; call < 20; call++)
        expect(String(await redis.send("PUBLISH", ["gateway:x", "y"]).catch(String))).toContain("NOPERM");
      expect(redis.isAvailable).toBe(true);
    });
    expect((await probeRedis(as("mute"), createTestClock())).problems[0]).toContain("+publish");
  });

  test("a wrong password, a missing database and a server that is a replica or full are named with what to do", async () => {
    await allow("known", "+@all");
    expect(await failureOf(as("known", "wrong"))).toContain("the user or password of redis.url is wrong");
    expect(await failureOf(`${server.url}/999999`)).toContain("no database of the number in redis.url");
    expect(await failureOf("redis://127.0.0.1:1")).toContain(
      "127.0.0.1:1 cannot be reached: nothing listens there",
    );
    expect(await failureOf("redis+unix:///nowhere/redis.sock")).toContain("the socket does not exist");
    await server.command("CONFIG", "SET", "maxmemory", "1");
    try {
      expect(await failureOf(server.url)).toContain("Redis is full: raise its maxmemory");
    } finally {
      await server.command("CONFIG", "SET", "maxmemory", "0");
    }
    await server.command("REPLICAOF", "127.0.0.1", "1");
    try {
      expect(await failureOf(server.url)).toContain(
        "it is a read-only replica: point redis.url at the master",
      );
    } finally {
      await server.command("REPLICAOF", "NO", "ONE");
    }
  });

  test("a Sentinel is recognized", async () => {
    const port = await findFreePort();
    const file = join(folder, "sentinel.conf");
    writeFileSync(file, `port ${port}\nbind 127.0.0.1\ndir ${folder}\n`);
    const sentinel = Bun.spawn([REDIS_SERVER as string, file, "--sentinel"], {
      stdout: "ignore",
      stderr: "ignore",
    });
    try {
      let failure = "nothing listens";
      for (let round = 0; round < 200 && /nothing listens/.test(failure); round++) {
        failure = await failureOf(`redis://127.0.0.1:${port}`);
        await Bun.sleep(10);
      }
      expect(failure).toContain("as a Sentinel does");
    } finally {
      sentinel.kill();
      await sentinel.exited;
    }
  });

  test("several addresses of servers that are no cluster are rejected with the remedy", async () => {
    const other = await startTestRedis();
    try {
      const failure = await failureOf(`${server.url},${other.url.slice("redis://".length)}`);
      expect(failure).toContain("is no member of a Redis Cluster");
      expect(failure).toContain("name one server in redis.url");
    } finally {
      await other.remove();
    }
  });

  describe("with TLS", () => {
    const start = async (name: "local" | "elsewhere") => {
      const port = await findFreePort();
      writeFileSync(join(folder, "ca.pem"), certificates.ca);
      writeFileSync(join(folder, `${name}.pem`), certificates[name].cert);
      writeFileSync(join(folder, `${name}.key`), certificates[name].key);
      const tls = await startTestRedis({
        "tls-port": port,
        "tls-cert-file": join(folder, `${name}.pem`),
        "tls-key-file": join(folder, `${name}.key`),
        "tls-ca-cert-file": join(folder, "ca.pem"),
        "tls-auth-clients": "no",
      });
      return { ...tls, remove: () => tls.remove(), url: `rediss://127.0.0.1:${port}`, plain: tls.url };
    };

    /** Runs the probe in a process that has read a file of authorities. */
    async function probeWith(url: string, authorities: string | null): Promise<string> {
      const script = `
        import { probeRedis } from "./src/storage/redis/probe.ts";
        import { systemClock } from "./src/base/time/clock.ts";
        console.log(await probeRedis(process.argv.at(-1), systemClock).then((found) => found.version, (error) => error.message));
        process.exit();`;
      const child = Bun.spawn([process.execPath, "-e", script, url], {
        env: { ...process.env, ...(authorities === null ? {} : { NODE_EXTRA_CA_CERTS: authorities }) },
        stdout: "pipe",
        stderr: "pipe",
      });
      return (await new Response(child.stdout).text()) + (await new Response(child.stderr).text());
    }

    test("a server whose authority is known is used, and an unknown one is named with the remedy", async () => {
      const tls = await start("local");
      try {
        expect(await probeWith(tls.url, join(folder, "ca.pem"))).toMatch(/^(Redis|Valkey) \d/);
        const failure = await probeWith(tls.url, null);
        expect(failure).toContain(`the TLS handshake with ${tls.url.slice("rediss://".length)} failed`);
        expect(failure).toContain("NODE_EXTRA_CA_CERTS");
      } finally {
        await tls.remove();
      }
    });

    test("a certificate of another host, a server without TLS, and TLS without rediss:// are named with the remedy", async () => {
      const tls = await start("elsewhere");
      try {
        expect(await probeWith(tls.url, join(folder, "ca.pem"))).toContain(
          "Use a host in redis.url that its certificate names",
        );
        expect(await probeWith(tls.plain.replace("redis://", "rediss://"), null)).toMatch(
          /redis:\/\/ if (the server|it) has no TLS/,
        );
        expect(await probeWith(tls.url.replace("rediss://", "redis://"), null)).toContain(
          "rediss:// if it speaks TLS",
        );
      } finally {
        await tls.remove();
      }
    });
  });
});
