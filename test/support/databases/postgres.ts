import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { SQL, type Subprocess } from "bun";
import { systemClock } from "../../../src/base/time/clock.ts";
import { migrateDatabase } from "../../../src/storage/postgres/migrations/migrate.ts";
import { killAll, resumeFamily, stopFamily } from "../process-family.ts";
import { findFreePort } from "../servers/free-port.ts";
import { findTempRoot } from "../temp-root.ts";

const HOW_TO_INSTALL = "PostgreSQL 15 or newer is not installed (Debian: apt-get install postgresql)";
const DEBIAN = "/usr/lib/postgresql";
const START_MS = 60_000;
const POLL_MS = 50;
const TEMPLATE = "gateway_template";
/** The server refuses to run as root; Debian's package creates this user. */
const SERVER_USER = "postgres";

/** A PostgreSQL server of the tests, on a free port of 127.0.0.1. */
export interface TestPostgres {
  /** The process whose children serve the connections. */
  readonly pid: number;
  /** The port on which it accepts connections. */
  readonly port: number;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Creates a database with all tables of the gateway, as a copy of one that was migrated once, and returns its URL. */
  createMigratedDatabase(): Promise<string>;
  /** The last time at which it rejected a connection while it started. Milliseconds since the epoch; 0: never. */
  readonly lastRejectedAt: number;
  /** Stops every process of the server until `resume`, as a machine that hangs. Resolves when none of them runs. */
  pause(): Promise<void>;
  resume(): void;
  /** Kills the server, as a machine that loses power. Resolves when none of its processes is left. */
  kill(): Promise<void>;
  /** Starts the server again: on another port if one is given, with the same data, as after a failover. */
  start(port?: number): Promise<void>;
  /** Ends the server and removes its data. */
  remove(): Promise<void>;
}

/** Where PostgreSQL's programs are; null if they are not installed. */
export const POSTGRES_BIN = findPrograms();

if (POSTGRES_BIN === null) {
  if (process.env["CI"] === "true") throw new Error(HOW_TO_INSTALL);
  console.warn(`skipped: tests with PostgreSQL. ${HOW_TO_INSTALL}`);
}

/** Settings of a server, in addition to those of the tests. */
export type PostgresSettings = Readonly<Record<string, string | number>>;

/** Starts a server with an empty data directory. */
export async function startTestPostgres(settings: PostgresSettings = {}): Promise<TestPostgres> {
  const dir = mkdtempSync(join(findTempRoot(), "gateway-postgres-"));
  const server = new Server(dir, await findFreePort(), settings);
  await server.initialize();
  await server.start();
  return server;
}

class Server implements TestPostgres {
  lastRejectedAt = 0;
  private process: Subprocess | null = null;
  private databases = 0;
  private template: Promise<void> | null = null;

  constructor(
    private readonly dir: string,
    public port: number,
    private readonly settings: PostgresSettings,
  ) {}

  get pid(): number {
    if (this.process === null) throw new Error("PostgreSQL does not run");
    return this.process.pid;
  }

  async initialize(): Promise<void> {
    if (isRoot()) await run(["chown", SERVER_USER, this.dir]);
    const cluster = await findCluster();
    // Its files belong to the server's user.
    await run(["cp", "-a", cluster, this.data]);
  }

  async start(port = this.port): Promise<void> {
    this.port = port;
    const settings = {
      port: this.port,
      listen_addresses: "127.0.0.1",
      unix_socket_directories: this.dir,
      // The tests end processes, not the machine.
      fsync: "off",
      full_page_writes: "off",
      autovacuum: "off",
      // In the data directory, which is removed: a killed server would leave segments of shared memory behind.
      dynamic_shared_memory_type: "mmap",
      max_connections: 100,
      ...this.settings,
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    this.process = Bun.spawn(asServerUser([programOf("postgres"), "-D", this.data, ...options]), {
      cwd: this.dir,
      stdout: "ignore",
      stderr: Bun.file(join(this.dir, "log")),
    });
    await this.ready();
  }

  createDatabase(): Promise<string> {
    return this.createFrom("template0");
  }

  async createMigratedDatabase(): Promise<string> {
    this.template ??= this.createTemplate();
    await this.template;
    return this.createFrom(TEMPLATE);
  }

  async pause(): Promise<void> {
    await stopFamily(this.pid);
  }

  resume(): void {
    resumeFamily(this.pid);
  }

  async kill(): Promise<void> {
    // A process that is left behind would go on with its transaction, on the files of the next server.
    if (this.process !== null) await killAll(await stopFamily(this.pid));
    await this.process?.exited;
    this.process = null;
    rmSync(join(this.data, "postmaster.pid"), { force: true });
  }

  async remove(): Promise<void> {
    // Unlike a kill it removes the server's shared memory.
    if (this.process !== null) resumeFamily(this.pid);
    this.process?.kill("SIGQUIT");
    await this.process?.exited;
    this.process = null;
    rmSync(this.dir, { recursive: true, force: true });
  }

  private get data(): string {
    return join(this.dir, "data");
  }

  private urlOf(database: string): string {
    return `postgres://gateway@127.0.0.1:${this.port}/${database}`;
  }

  private async createTemplate(): Promise<void> {
    await this.asAdmin((sql) => sql.unsafe(`CREATE DATABASE ${TEMPLATE}`));
    await migrateDatabase({ url: this.urlOf(TEMPLATE), isPooled: false, clock: systemClock });
  }

  private async createFrom(template: string): Promise<string> {
    this.databases += 1;
    const name = `test_${this.databases}`;
    await this.asAdmin((sql) =>
      sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`),
    );
    return this.urlOf(name);
  }

  private async ready(): Promise<void> {
    const until = Date.now() + START_MS;
    for (;;) {
      const askedAt = Date.now();
      try {
        await this.asAdmin((sql) => sql.unsafe("SELECT 1"));
        return;
      } catch (error) {
        this.lastRejectedAt = askedAt;
        if (Date.now() > until)
          throw new Error(`PostgreSQL did not start: ${readLog(this.dir)}`, { cause: error });
        await Bun.sleep(POLL_MS);
      }
    }
  }

  private async asAdmin(work: (sql: SQL) => Promise<unknown>): Promise<void> {
    const sql = new SQL({ url: this.urlOf("postgres"), max: 1 });
    try {
      await work(sql);
    } finally {
      await sql.close({ timeout: 0 });
    }
  }
}

function findPrograms(): string | null {
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .map(Number)
        .filter((version) => version >= 15)
    : [];
  const newest = versions.sort((a, b) => b - a)[0];
  if (newest !== undefined) return join(DEBIAN, String(newest), "bin");
  const found = Bun.which("initdb");
  return found === null ? null : join(found, "..");
}

function programOf(name: string): string {
  if (POSTGRES_BIN === null) throw new Error(HOW_TO_INSTALL);
  return join(POSTGRES_BIN, name);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** As root, runs a command as the server's user, without a shell in between that would swallow signals. */
export function asServerUser(command: readonly string[]): string[] {
  if (!isRoot()) return [...command];
  return ["setpriv", `--reuid=${SERVER_USER}`, `--regid=${SERVER_USER}`, "--clear-groups", ...command];
}

/** Where a data directory is kept for all servers, also of later runs: creating one takes a second of processor time, and copying it little. */
const CLUSTERS = join(import.meta.dir, "../../../node_modules/.cache/gateway-tests");

/** Returns a data directory that no server uses, which is created if this version of PostgreSQL has none yet. */
async function findCluster(): Promise<string> {
  const { mtimeMs, size } = statSync(programOf("initdb"));
  const cluster = join(CLUSTERS, `postgres-${Bun.hash(`${POSTGRES_BIN} ${mtimeMs} ${size}`).toString(16)}`);
  if (existsSync(cluster)) return cluster;
  mkdirSync(CLUSTERS, { recursive: true });
  const draft = mkdtempSync(join(findTempRoot(), "gateway-cluster-"));
  try {
    if (isRoot()) await run(["chown", SERVER_USER, draft]);
    const options = ["-A", "trust", "-U", "gateway", "-E", "UTF8", "--no-sync", "--wal-segsize=1"];
    await run(asServerUser([programOf("initdb"), "-D", join(draft, "data"), ...options]), draft);
    const copy = `${cluster}.${process.pid}`;
    await run(["cp", "-a", join(draft, "data"), copy]);
    try {
      renameSync(copy, cluster);
    } catch {
      // Another process was faster.
      rmSync(copy, { recursive: true });
    }
    return cluster;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function run(command: readonly string[], cwd = "/"): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdout: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0)
    throw new Error(`${command[0]} failed: ${await new Response(child.stderr).text()}`);
}

function readLog(dir: string): string {
  const path = join(dir, "log");
  return existsSync(path) ? readFileSync(path, "utf8").slice(-2_000) : "it has printed nothing";
}
