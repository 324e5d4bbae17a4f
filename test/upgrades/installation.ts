import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RedisClient, SQL } from "bun";
import type { TestPostgres } from "../support/databases/postgres.ts";
import type { TestRedis } from "../support/databases/redis.ts";
import { type GatewayProcess, makeSite, type Site } from "../support/gateway/gateway-process.ts";
import { USAGE } from "../support/vendors/vendor.ts";
import type { Program } from "./program.ts";

export type StoreKind = "sqlite" | "postgres";

/** The operator's management key, and the secret of its payment system. */
export const ADMIN_KEY = "upgrades-management-key-0123456789";
export const WEBHOOK_SECRET = "upgrades-webhook-secret-0123456789abcdef";
/** US dollars per token of every model. */
const PROMPT_PRICE = "0.000001";
const COMPLETION_PRICE = "0.000003";
/** What an answer of the simulated vendor costs, whose usage is always the same. Nanodollars. */
export const ANSWER_COST = USAGE.prompt_tokens * 1_000 + USAGE.completion_tokens * 3_000;
const MASTER_KEY = "Zm9yIHRlc3RzIG9ubHksIDMyIGJ5dGVzIG9mIGl0ISE=";

/** The servers that installations on PostgreSQL share. */
export interface Servers {
  readonly postgres: TestPostgres;
  readonly redis: TestRedis;
}

/** The result of a command. */
export interface CommandResult {
  readonly exitCode: number;
  /** Standard output, then standard error. */
  readonly printed: string;
}

/** One installation: a configuration, a data directory and, unless the database is in it, a database. Any version may run on it. */
export class Installation {
  private readonly site: Site;
  private program: Program | null = null;
  private process: GatewayProcess | null = null;

  private constructor(
    /** The address of the simulated vendor. */
    readonly vendorUrl: string,
    /** Null on SQLite. */
    private readonly urls: StoreUrls | null,
  ) {
    this.site = makeSite(describeConfig(vendorUrl, urls), () => this.command());
  }

  /** Creates one on PostgreSQL and Redis, or on SQLite without servers. */
  static async create(vendorUrl: string, servers: Servers | null): Promise<Installation> {
    if (servers === null) return new Installation(vendorUrl, null);
    const database = await servers.postgres.createDatabase();
    return new Installation(vendorUrl, { database, redis: nextRedis(servers.redis.url) });
  }

  get kind(): StoreKind {
    return this.urls === null ? "sqlite" : "postgres";
  }

  get dataDir(): string {
    return this.site.dataDir;
  }

  /** Where the gateway listens. */
  get url(): string {
    if (this.process === null) throw new Error("no gateway runs");
    return this.process.url;
  }

  /** What the gateway that was started last has printed. */
  get log(): string {
    return this.process?.printed() ?? "";
  }

  /** Copies everything while no gateway runs on it. */
  async copy(): Promise<Installation> {
    const copied = new Installation(this.vendorUrl, this.urls === null ? null : await copyStores(this.urls));
    cpSync(this.dataDir, copied.dataDir, { recursive: true });
    if (copied.urls !== null) await moveGateways(copied.urls.database, copied.dataDir);
    return copied;
  }

  async start(program: Program): Promise<void> {
    this.program = program;
    this.process = await this.site.start("");
  }

  /** Starts a version that must not start. */
  async startInVain(program: Program): Promise<CommandResult> {
    this.program = program;
    return this.site.startExpectingFailure();
  }

  /** Stops the gateway cleanly. Returns what is wrong with its end. */
  async stop(): Promise<string[]> {
    const process = this.process;
    if (process === null) return ["no gateway ran"];
    const exitCode = await process.terminate();
    this.process = null;
    if (exitCode !== 0) return [`exit code ${exitCode}: ${process.printed().slice(-500)}`];
    return this.site.journalFiles().map((file) => `${file} has records after a clean stop`);
  }

  /** Kills the gateway. Returns the files of the journal that it leaves. */
  async kill(): Promise<readonly string[]> {
    await this.process?.kill();
    this.process = null;
    return this.site.journalFiles();
  }

  /** Runs a command of a version. */
  async run(program: Program, ...args: readonly string[]): Promise<CommandResult> {
    const child = Bun.spawn([...program.command, ...args], {
      cwd: join(this.dataDir, ".."),
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: join(this.dataDir, ".."),
        GATEWAY_CONFIG: this.site.configFile,
        GATEWAY_DATA_DIR: this.dataDir,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { exitCode: await child.exited, printed: stdout + stderr };
  }

  /** Replaces the data directory by a backup, which a version restores. */
  async restore(program: Program, backup: string): Promise<CommandResult> {
    renameSync(this.dataDir, `${this.dataDir}-of-the-newer-version`);
    return this.run(program, "backup", "restore", backup);
  }

  /** Replaces the data directory by a copy of it. */
  restoreCopy(copy: Installation): void {
    renameSync(this.dataDir, `${this.dataDir}-of-the-newer-version`);
    cpSync(copy.dataDir, this.dataDir, { recursive: true });
  }

  async remove(): Promise<void> {
    await this.process?.kill();
    rmSync(join(this.dataDir, ".."), { recursive: true, force: true });
  }

  private command(): readonly string[] {
    if (this.program === null) throw new Error("no version was chosen");
    return this.program.command;
  }
}

/** The stores of an installation on PostgreSQL. */
interface StoreUrls {
  readonly database: string;
  readonly redis: string;
}

async function copyStores({ database, redis }: StoreUrls): Promise<StoreUrls> {
  return { database: await copyDatabase(database), redis: await copyRedis(redis) };
}

/** Copies a database that no gateway uses, and returns the URL of the copy. */
async function copyDatabase(url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  const copy = `${name}_${crypto.randomUUID().slice(0, 8)}`;
  const sql = new SQL({ url: withDatabase(url, "postgres"), max: 1 });
  try {
    // A process that was killed may still have connections.
    await sql.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await sql.unsafe(`CREATE DATABASE "${copy}" TEMPLATE "${name}" STRATEGY file_copy`);
  } finally {
    await sql.close({ timeout: 0 });
  }
  return withDatabase(url, copy);
}

/** Enters another data directory for the gateways of a database, so that the copy of one is not taken for a second one. */
async function moveGateways(url: string, dataDir: string): Promise<void> {
  const sql = new SQL({ url, max: 1 });
  try {
    await sql.unsafe("UPDATE gateways SET data_dir = $1", [dataDir]);
  } finally {
    await sql.close({ timeout: 0 });
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

let redisDatabases = 0;

/** Returns the URL of a numbered database that no installation has. `url` is that of the server, or of one of its databases. */
function nextRedis(url: string): string {
  const next = new URL(url);
  next.pathname = `/${redisDatabases++}`;
  return next.href;
}

/** Copies a numbered database, and returns the URL of the copy. */
async function copyRedis(url: string): Promise<string> {
  const copy = nextRedis(url);
  const index = new URL(copy).pathname.slice(1);
  const client = new RedisClient(url);
  try {
    for (const key of await client.keys("*")) await client.send("COPY", [key, key, "DB", index]);
  } finally {
    client.close();
  }
  return copy;
}

/** A configuration that every version can read. */
function describeConfig(vendorUrl: string, urls: StoreUrls | null): string {
  const prices = `{prompt: "${PROMPT_PRICE}", completion: "${COMPLETION_PRICE}"}`;
  const models = ["one", "two", "denied"].map(
    (name) =>
      `{id: acme/${name}, name: ${name}, context_length: 32000, max_output_tokens: 400, prices: ${prices}}`,
  );
  models.push(`{id: acme/vector, name: vector, output: embedding, context_length: 8000, prices: ${prices}}`);
  const provider = `{base_url: "${vendorUrl}", api_keys: [sk-platform-0123456789], models: [${models.join(", ")}]}`;
  const stores =
    urls === null
      ? ""
      : `secrets: {keys: ["${MASTER_KEY}"]}
database: {url: "${urls.database}"}
redis: {url: "${urls.redis}"}
`;
  return `admin_key: ${ADMIN_KEY}
billing: {webhook_secret: ${WEBHOOK_SECRET}, buy_credits_url: "https://example.com/credits"}
policy: {denied_models: [acme/denied]}
limits: {per_account: {concurrent: 50}, attempts: 3, repeats: 0}
${stores}providers:
  alpha: ${provider}
`;
}
