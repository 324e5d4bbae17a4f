import type { Clock } from "../../base/time/clock.ts";
import { connectRedis, defineScript, type Redis } from "./client.ts";
import { describeProblem } from "./describe-problem.ts";

/** The facts that a Redis or Valkey server reports about itself. */
export interface RedisProbe {
  /** Such as `Redis 7.4.1` or `Valkey 8.0.1`; null if the server does not report it. */
  readonly version: string | null;
  readonly majorVersion: number | null;
  /** What the server does when its memory is full; null if it does not report that. */
  readonly evictionPolicy: string | null;
  /** By how much the clock of the server is ahead of this machine's. Milliseconds. */
  readonly clockSkewMs: number | null;
  /** The servers of a Redis Cluster that have keys; 1 for a single server. */
  readonly masters: number;
  /** The requirements of gateways that the server does not meet, with what to do about each. */
  readonly problems: readonly string[];
}

const SCRIPT = defineScript("return redis.call('SET', KEYS[1], ARGV[1], 'PX', 1000)");
const KEY = "gateway:probe:{doctor}";
/** The commands that gateways send in addition to `SET`, by the feature that needs them. */
const NEEDED: readonly (readonly [use: string, ask: (redis: Redis) => Promise<unknown>])[] = [
  ["rate limits over several gateways", (redis) => redis.run(SCRIPT, { keys: [KEY], values: ["1"] })],
  ["rate limits over several gateways", (redis) => redis.send("TIME", [])],
  ["reasoning of earlier turns", (redis) => redis.send("MGET", [KEY])],
  ["reasoning of earlier turns", (redis) => redis.send("DEL", [KEY])],
  ["answers that are given again", (redis) => redis.send("GET", [KEY])],
  ["advice about vendors", (redis) => redis.send("PUBLISH", ["gateway:health/0", ""])],
];

/**
 * Reads facts about a server, and writes only keys for probing. Rejects within a second with an `Error` that says why the server cannot be
 * used.
 */
export async function probeRedis(url: string, clock: Clock): Promise<RedisProbe> {
  const redis = connectRedis({ url, clock });
  try {
    await redis.start();
    if (!redis.isAvailable) throw new Error(redis.problem ?? "it is away");
    const info = await redis.send("INFO", []).then(String, () => "");
    return {
      ...readInfo(info),
      clockSkewMs: await measureSkew(redis, clock).catch(() => null),
      masters: redis.listOwnTags().length,
      problems: await findProblems(redis),
    };
  } finally {
    redis.close();
  }
}

async function measureSkew(redis: Redis, clock: Clock): Promise<number> {
  const before = clock.now();
  const [seconds, microseconds] = (await redis.send("TIME", [])) as [string, string];
  const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  return Math.round(now - (before + clock.now()) / 2);
}

async function findProblems(redis: Redis): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [use, ask] of NEEDED) {
    const problem = await ask(redis).then(() => null, describeProblem);
    if (problem !== null) problems.push(`${use}: ${problem}`);
  }
  return problems;
}

function readInfo(info: string): Pick<RedisProbe, "version" | "majorVersion" | "evictionPolicy"> {
  const find = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? null;
  const valkey = find("valkey_version");
  const version = valkey ?? find("redis_version");
  return {
    version: version === null ? null : `${valkey === null ? "Redis" : "Valkey"} ${version}`,
    majorVersion: version === null ? null : Number.parseInt(version, 10),
    evictionPolicy: find("maxmemory_policy"),
  };
}
