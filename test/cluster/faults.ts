import { SQL } from "bun";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { Cluster, Member } from "./cluster.ts";

/** What a fault may make clients see while it lasts, and shortly after. */
export type Harm =
  /** Connections break: a process ended or stopped. */
  | "gateway"
  /** 503 with `Retry-After`: a store, or the disk, is away. */
  | "store"
  /** Rate limits are shared without Redis. */
  | "redis";

/** When no gateway reached PostgreSQL. Milliseconds since the epoch. */
export interface Gone {
  readonly from: number;
  readonly until: number;
}

/** A fault that was done, and when. Milliseconds since the epoch. */
export interface Done {
  readonly name: string;
  readonly harms: readonly Harm[];
  readonly kills: number;
  readonly startedAt: number;
  endedAt: number;
  /** Null: PostgreSQL was not gone, or the fault has not ended. */
  databaseGone: Gone | null;
}

/** A fault: does it and undoes it. */
export interface Fault {
  readonly name: string;
  readonly harms: readonly Harm[];
  /** How many gateways it kills. */
  readonly kills: number;
  /** How often it is chosen, relative to the others. */
  readonly weight: number;
  run(context: FaultContext): Promise<void>;
}

export interface FaultContext {
  readonly cluster: Cluster;
  /** The gateway that it hits. */
  readonly member: Member;
  readonly chance: SeededRandom;
  /** Takes when PostgreSQL was gone, if it was. */
  readonly reportGone: (gone: Gone) => void;
}

/** The longest start of a gateway that is killed while it starts. Milliseconds. */
const START_MAX_MS = 600;

/** Faults of one gateway. */
export const GATEWAY_FAULTS: readonly Fault[] = [
  {
    name: "kill a gateway and start it again",
    harms: ["gateway"],
    kills: 1,
    weight: 16,
    async run({ member: { node }, chance }) {
      await node.kill();
      await Bun.sleep(chance.below(400));
      await node.start();
    },
  },
  {
    name: "kill a gateway, and once more while it starts",
    harms: ["gateway"],
    kills: 2,
    weight: 5,
    async run({ member: { node }, chance }) {
      await node.kill();
      await node.startAndKill(chance.below(START_MAX_MS));
      await node.start();
    },
  },
  {
    name: "pause a gateway",
    harms: ["gateway"],
    kills: 0,
    weight: 3,
    async run({ member: { node }, chance }) {
      node.suspend();
      await Bun.sleep(between(chance, 200, 3_000));
      node.resume();
    },
  },
  {
    name: "stop a gateway cleanly and start it again",
    harms: [],
    kills: 0,
    weight: 2,
    async run({ member: { node } }) {
      node.faults.push(...(await node.stop()));
      await node.start();
    },
  },
  {
    name: "fill the disk of a gateway",
    harms: ["store"],
    kills: 0,
    weight: 2,
    async run({ member: { node }, chance }) {
      node.fillDisk();
      await Bun.sleep(between(chance, 200, 1_500));
      node.freeDisk();
    },
  },
];

/** Faults during which no gateway reaches PostgreSQL. */
export const DATABASE_GONE: readonly Fault[] = [
  {
    name: "kill PostgreSQL and start it again",
    harms: ["store"],
    kills: 0,
    weight: 3,
    async run({ cluster: { postgres }, chance, reportGone }) {
      await postgres.kill();
      const from = Date.now();
      await Bun.sleep(between(chance, 50, 3_000));
      const until = Date.now();
      await postgres.start();
      reportGone({ from, until: Math.max(until, postgres.lastRejectedAt) });
    },
  },
  {
    name: "pause PostgreSQL",
    harms: ["store"],
    kills: 0,
    weight: 2,
    async run({ cluster: { postgres }, chance, reportGone }) {
      await postgres.pause();
      const from = Date.now();
      await Bun.sleep(between(chance, 200, 5_000));
      const until = Date.now();
      postgres.resume();
      reportGone({ from, until });
    },
  },
];

/** Faults during which Redis hangs or loses its data without ending a connection, so that clients have to notice it. */
export const REDIS_HANGS: readonly Fault[] = [
  {
    name: "pause Redis",
    harms: ["redis"],
    kills: 0,
    weight: 2,
    async run({ cluster: { redis }, chance }) {
      redis.pause();
      await Bun.sleep(between(chance, 100, 4_000));
      redis.resume();
    },
  },
  {
    name: "drop the packets between a gateway and Redis",
    harms: ["redis"],
    kills: 0,
    weight: 2,
    run: ({ member, chance }) => broken(member, "toRedis", "stall", between(chance, 1_100, 4_000)),
  },
  {
    name: "start a gateway whose packets to Redis are dropped",
    harms: ["redis"],
    kills: 0,
    weight: 1,
    async run({ member: { node, toRedis }, chance }) {
      node.faults.push(...(await node.stop()));
      toRedis.stall();
      await node.start();
      await Bun.sleep(between(chance, 1_100, 4_000));
      toRedis.heal();
    },
  },
  {
    name: "empty Redis",
    harms: ["redis"],
    kills: 0,
    weight: 2,
    async run({ cluster: { redis } }) {
      await redis.command("FLUSHALL");
    },
  },
];

/** Faults of the stores, and of the network in front of them. */
export const STORE_FAULTS: readonly Fault[] = [
  {
    name: "cut a gateway off from PostgreSQL",
    harms: ["store"],
    kills: 0,
    weight: 3,
    run: ({ member, chance }) => broken(member, "toPostgres", "cut", between(chance, 200, 4_000)),
  },
  {
    name: "drop the packets between a gateway and PostgreSQL",
    harms: ["store"],
    kills: 0,
    weight: 2,
    run: ({ member, chance }) => broken(member, "toPostgres", "stall", between(chance, 200, 4_000)),
  },
  {
    name: "delay the packets between a gateway and PostgreSQL",
    harms: ["store"],
    kills: 0,
    weight: 2,
    async run({ member: { toPostgres }, chance }) {
      toPostgres.delay(between(chance, 20, 200));
      await Bun.sleep(2_000);
      toPostgres.heal();
    },
  },
  ...DATABASE_GONE,
  {
    name: "let PostgreSQL be read-only, as a standby",
    harms: ["store"],
    kills: 0,
    weight: 2,
    async run({ cluster, chance }) {
      await setReadOnly(cluster.databaseUrl, true);
      await Bun.sleep(between(chance, 200, 3_000));
      await setReadOnly(cluster.databaseUrl, false);
    },
  },
  {
    name: "kill Redis and start it again, empty",
    harms: ["redis"],
    kills: 0,
    weight: 3,
    async run({ cluster: { redis }, chance }) {
      await redis.kill();
      await Bun.sleep(between(chance, 50, 2_000));
      await redis.start();
    },
  },
  ...REDIS_HANGS,
  {
    name: "cut a gateway off from Redis",
    harms: ["redis"],
    kills: 0,
    weight: 2,
    run: ({ member, chance }) => broken(member, "toRedis", "cut", between(chance, 100, 2_000)),
  },
];

/** Chooses a fault by weight. */
export function chooseFault(faults: readonly Fault[], chance: SeededRandom): Fault {
  return chance.pick(faults.flatMap((fault) => Array<Fault>(fault.weight).fill(fault)));
}

/** Does a fault and returns what was done. */
export async function runFault(
  fault: Fault,
  context: Omit<FaultContext, "reportGone">,
  done: Done[],
): Promise<void> {
  const { name, harms, kills } = fault;
  const startedAt = Date.now();
  const endedAt = Number.POSITIVE_INFINITY;
  const entry: Done = { name, harms, kills, startedAt, endedAt, databaseGone: null };
  done.push(entry);
  await fault.run({
    ...context,
    reportGone(gone) {
      entry.databaseGone = gone;
    },
  });
  entry.endedAt = Date.now();
}

async function broken(
  member: Member,
  way: "toPostgres" | "toRedis",
  how: "cut" | "stall",
  ms: number,
): Promise<void> {
  member[way][how]();
  await Bun.sleep(ms);
  member[way].heal();
}

/** Makes new transactions read-only, also on connections that are open. */
async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  const sql = new SQL({ url, max: 1 });
  try {
    // A session of its own stays writable, or it could not undo this.
    await sql.unsafe("SET default_transaction_read_only = off");
    await sql.unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly ? "on" : "off"}`);
    await sql.unsafe("SELECT pg_reload_conf()");
  } finally {
    await sql.close();
  }
}

/** A whole number of milliseconds. */
function between(chance: SeededRandom, min: number, max: number): number {
  return min + chance.below(max - min);
}
