import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RedisClient, type Subprocess } from "bun";
import { findFreePort } from "../servers/free-port.ts";
import { findTempRoot } from "../temp-root.ts";

const HOW_TO_INSTALL = "Redis 7 is not installed (Debian: apt-get install redis-server)";
const START_MS = 60_000;
const POLL_MS = 20;
/** Numbered databases, so that each gateway of a test can have its own. */
const DATABASES = 10_000;

/** A Redis server of the tests, on a free port of 127.0.0.1. It keeps nothing when it ends. */
export interface TestRedis {
  readonly url: string;
  /** Stops the server until `resume`, as a machine that hangs. */
  pause(): void;
  resume(): void;
  /** Kills the server, as a machine that loses power. */
  kill(): Promise<void>;
  /** Starts the server again, empty. */
  start(): Promise<void>;
  /** Sends a command over a connection of its own and returns the answer. */
  command(name: string, ...values: string[]): Promise<unknown>;
  /** Ends the server and removes its data. */
  remove(): Promise<void>;
}

/** The path of the server's program; null if it is not installed. */
export const REDIS_SERVER = Bun.which("redis-server") ?? Bun.which("valkey-server");

if (REDIS_SERVER === null) {
  if (process.env["CI"] === "true") throw new Error(HOW_TO_INSTALL);
  console.warn(`skipped: tests with Redis. ${HOW_TO_INSTALL}`);
}

/** Starts an empty server. `settings` are added to those of its configuration. */
export async function startTestRedis(settings: RedisSettings = {}): Promise<TestRedis> {
  const dir = mkdtempSync(join(findTempRoot(), "gateway-redis-"));
  const server = new Server(dir, await findFreePort(), settings);
  await server.start();
  return server;
}

/** Settings of redis.conf. */
export type RedisSettings = Readonly<Record<string, string | number>>;

class Server implements TestRedis {
  private process: Subprocess | null = null;

  constructor(
    private readonly dir: string,
    private readonly port: number,
    private readonly settings: RedisSettings,
  ) {}

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    if (REDIS_SERVER === null) throw new Error(HOW_TO_INSTALL);
    const settings = {
      port: this.port,
      bind: "127.0.0.1",
      databases: DATABASES,
      save: "",
      appendonly: "no",
      dir: this.dir,
      ...this.settings,
    };
    const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    this.process = Bun.spawn([REDIS_SERVER, ...options], { stdout: "ignore", stderr: "ignore" });
    await this.ready();
  }

  pause(): void {
    this.process?.kill("SIGSTOP");
  }

  resume(): void {
    this.process?.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    this.process?.kill("SIGKILL");
    await this.process?.exited;
    this.process = null;
  }

  async command(name: string, ...values: string[]): Promise<unknown> {
    const client = new RedisClient(this.url, { autoReconnect: false });
    try {
      return await client.send(name, values);
    } finally {
      client.close();
    }
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.dir, { recursive: true, force: true });
  }

  private async ready(): Promise<void> {
    const until = Date.now() + START_MS;
    for (;;) {
      try {
        await this.command("PING");
        return;
      } catch (error) {
        if (Date.now() > until) throw new Error("Redis did not start", { cause: error });
        await Bun.sleep(POLL_MS);
      }
    }
  }
}
