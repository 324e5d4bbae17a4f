import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RedisClient, type Subprocess } from "bun";
import { eventually } from "../eventually.ts";
import { findFreePort } from "../servers/free-port.ts";
import { findTempRoot } from "../temp-root.ts";
import { REDIS_SERVER } from "./redis.ts";

/** One server of a cluster of the tests. */
export interface ClusterMember {
  readonly url: string;
  /** Sends a command over a connection of its own and returns the answer. */
  command(name: string, ...values: string[]): Promise<unknown>;
  kill(): Promise<void>;
}

/** A Redis Cluster of masters on free ports of 127.0.0.1, which have all slots in equal parts. It keeps nothing when it ends. */
export interface TestRedisCluster {
  readonly members: readonly ClusterMember[];
  remove(): Promise<void>;
}

const SLOTS = 16_384;

/** Starts a cluster of three masters. */
export async function startTestRedisCluster(): Promise<TestRedisCluster> {
  const dir = mkdtempSync(join(findTempRoot(), "gateway-redis-cluster-"));
  const members = await Promise.all([1, 2, 3].map((number) => startMember(join(dir, String(number)))));
  const [first, ...others] = members as [Member, ...Member[]];
  for (const [at, member] of members.entries()) {
    const range = [at, at + 1].map((edge) => Math.floor((edge * SLOTS) / members.length));
    await member.command("CLUSTER", "ADDSLOTSRANGE", String(range[0]), String((range[1] as number) - 1));
  }
  for (const { port, busPort } of others)
    await first.command("CLUSTER", "MEET", "127.0.0.1", String(port), String(busPort));
  await eventually("the cluster has all slots", async () => {
    const states = await Promise.all(members.map((member) => member.command("CLUSTER", "INFO")));
    return states.every(
      (state) => /cluster_state:ok/.test(String(state)) && /cluster_known_nodes:3/.test(String(state)),
    );
  });
  return {
    members,
    async remove() {
      for (const member of members) await member.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

class Member implements ClusterMember {
  constructor(
    private readonly process: Subprocess,
    readonly port: number,
    readonly busPort: number,
  ) {}

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async command(name: string, ...values: string[]): Promise<unknown> {
    const client = new RedisClient(this.url, { autoReconnect: false });
    try {
      return await client.send(name, values);
    } finally {
      client.close();
    }
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.process.exited;
  }
}

async function startMember(dir: string): Promise<Member> {
  await Bun.$`mkdir -p ${dir}`.quiet();
  const settings = {
    port: await findFreePort(),
    "cluster-port": await findFreePort(),
    bind: "127.0.0.1",
    save: "",
    appendonly: "no",
    dir,
    "cluster-enabled": "yes",
    "cluster-node-timeout": 2_000,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = Bun.spawn([REDIS_SERVER as string, ...options], { stdout: "ignore", stderr: "ignore" });
  const member = new Member(child, settings.port, settings["cluster-port"]);
  await eventually("the server answers", () =>
    member.command("PING").then(
      () => true,
      () => false,
    ),
  );
  return member;
}
