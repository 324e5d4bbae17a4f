import { readFileSync } from "node:fs";
import { SQL } from "bun";
import { type CpuReading, cpuBetween, readCpu } from "../machine/proc.ts";
import type { Site } from "./site.ts";

/** What one request costs of each resource, as an average. Times are processor time in microseconds. */
export interface UnitCosts {
  readonly gatewayCpu: number;
  readonly journalBytes: number;
  readonly postgresCommits: number;
  readonly postgresCpu: number;
  readonly walBytes: number;
  readonly postgresBytes: number;
  readonly redisCommands: number;
  readonly redisCpu: number;
  readonly redisBytes: number;
}

/** The state of all counters at one time. */
interface Reading {
  readonly gatewayCpu: CpuReading;
  readonly postgresCpu: CpuReading;
  readonly journalBytes: number;
  readonly postgresCommits: number;
  readonly walBytes: number;
  readonly postgresBytes: number;
  readonly redisCommands: number;
  /** Microseconds. */
  readonly redisCpu: number;
  readonly redisBytes: number;
}

/** The server publishes a connection's statistics when it is idle, at most once a second. Milliseconds. */
const STATISTICS_MS = 1_200;

/** Reads all counters, after the work of earlier requests has ended. */
export async function readCounters(site: Site): Promise<Reading> {
  await Bun.sleep(STATISTICS_MS);
  const info = await site.readRedisInfo();
  const [database] = await readDatabase(site.databaseUrl);
  return {
    gatewayCpu: readCpu(site.target.pid),
    postgresCpu: readCpu(site.databasePid),
    journalBytes: readWritten(site.target.pid) - site.countLogged(),
    postgresCommits: Number(database?.commits),
    walBytes: Number(database?.wal),
    postgresBytes: site.toPostgres.sent + site.toPostgres.received,
    redisCommands: fieldOf(info, "total_commands_processed"),
    redisCpu: (fieldOf(info, "used_cpu_user") + fieldOf(info, "used_cpu_sys")) * 1_000_000,
    redisBytes: site.toRedis.sent + site.toRedis.received,
  };
}

/** Returns the cost of each of `requests` requests between two readings. */
export function costsBetween(before: Reading, after: Reading, requests: number): UnitCosts {
  const each = (name: Exclude<keyof Reading, "gatewayCpu" | "postgresCpu">): number =>
    (after[name] - before[name]) / requests;
  return {
    gatewayCpu: cpuBetween(before.gatewayCpu, after.gatewayCpu) / requests,
    journalBytes: each("journalBytes"),
    postgresCommits: each("postgresCommits"),
    postgresCpu: cpuBetween(before.postgresCpu, after.postgresCpu) / requests,
    walBytes: each("walBytes"),
    postgresBytes: each("postgresBytes"),
    redisCommands: each("redisCommands"),
    redisCpu: each("redisCpu"),
    redisBytes: each("redisBytes"),
  };
}

async function readDatabase(url: string): Promise<{ commits: string; wal: string }[]> {
  const sql = new SQL({ url, max: 1 });
  try {
    return await sql.unsafe(`
      SELECT xact_commit AS commits, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS wal
      FROM pg_stat_database WHERE datname = current_database()`);
  } finally {
    await sql.close();
  }
}

/** The bytes that a process has written with write(2) and its relatives, which sockets are not. */
function readWritten(pid: number): number {
  return fieldOf(readFileSync(`/proc/${pid}/io`, "utf8"), "wchar");
}

function fieldOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}: ?([\\d.]+)`, "m").exec(text)?.[1] ?? Number.NaN);
}
