import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Subprocess } from "bun";
import { findFreePort } from "../test/support/free-port.ts";
import { startDatabase } from "./database.ts";
import type { Subject } from "./harness.ts";
import { LANES, type LaneName } from "./lanes.ts";
import type { ClientApi, Door } from "./messages.ts";
import { preparePortkey } from "./peers.ts";
import { adopt, end, pinned, waitUntilReady } from "./processes.ts";

/** Every target, in the order of the report's columns. */
export const TARGET_NAMES = ["direct", "relay", "before", "gateway", "postgres", "portkey"] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** A running target. Its door is that of chat. */
export interface Target extends Subject {
  readonly name: TargetName;
  /** Its paths in front of other formats; empty if none are measured. */
  readonly lanes: ReadonlyMap<LaneName, Door>;
  stop(): Promise<void>;
}

/** The checkout that this bench belongs to. */
export const root = dirname(import.meta.dir);
const out = join(import.meta.dir, "out");
const MODEL = "gpt-4o-mini";
const BEARER = { authorization: "Bearer bench" };
const CHAT = { api: "chat", vendor: "chat", path: "/v1/chat/completions", model: MODEL } as const;
const NO_LANES: Target["lanes"] = new Map();
const PATHS: Readonly<Record<ClientApi, string>> = {
  chat: "/api/gateway/chat/completions",
  messages: "/api/gateway/messages",
  responses: "/api/gateway/responses",
};
const dataDirs = new Set<string>();

/** Where a target is started. */
export interface Site {
  readonly upstreamPort: number;
  /** The checkout of the target `before`; `null` without one. */
  readonly before: string | null;
}

const STARTERS: Record<TargetName, (site: Site) => Promise<Target>> = {
  direct: startDirect,
  relay: startRelay,
  before: startBefore,
  gateway: (site) => startGateway({ name: "gateway", checkout: root }, site),
  postgres: startOnPostgres,
  portkey: startPortkey,
};

/** Starts a target in front of the upstream. Returns a message for the report if that fails. */
export async function startTarget(name: TargetName, site: Site): Promise<Target | string> {
  try {
    return await STARTERS[name](site);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function startDirect({ upstreamPort }: Site): Promise<Target> {
  const door = { ...CHAT, port: upstreamPort, headers: BEARER };
  return { name: "direct", door, lanes: NO_LANES, pid: null, databasePid: null, stop: async () => {} };
}

async function startRelay({ upstreamPort }: Site): Promise<Target> {
  const port = await findFreePort();
  const env = {
    RELAY_PORT: String(port),
    RELAY_UPSTREAM_URL: upstreamUrl(upstreamPort),
    // Bun's fetch allows 256 concurrent requests by default; further ones would wait unnoticed.
    BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
  };
  const command = [process.execPath, join(import.meta.dir, "relay.ts")];
  const child = start({ name: "relay", command, env, cwd: root });
  await waitUntilReady(`http://127.0.0.1:${port}/readyz`, child);
  const door = { ...CHAT, port, headers: BEARER };
  const { pid } = child;
  return { name: "relay", door, lanes: NO_LANES, pid, databasePid: null, stop: () => end(child) };
}

async function startBefore(site: Site): Promise<Target> {
  if (site.before === null) throw new Error("needs --before=<folder of another checkout, with npm ci done>");
  return startGateway({ name: "before", checkout: site.before }, site);
}

async function startOnPostgres(site: Site): Promise<Target> {
  const database = await startDatabase();
  const target = await startGateway({ name: "postgres", checkout: root, databaseUrl: database.url }, site);
  const stop = async () => {
    await target.stop();
    await database.stop();
  };
  return { ...target, databasePid: database.pid, stop };
}

/** A gateway to start. */
export interface Installation {
  readonly name: "gateway" | "before" | "postgres";
  readonly checkout: string;
  /** Absent: SQLite in its data folder. */
  readonly databaseUrl?: string;
  /** How many processes share its port. Absent: one. */
  readonly processes?: number;
  /** The file of its log. Absent: the log is not kept. */
  readonly logFile?: string;
  /** The text of its configuration file. Absent: it has none. */
  readonly yaml?: string;
  /** Further variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Creates the API key of the requests. Absent: a key of the operator, without any limit. */
  readonly createKey?: (manage: Manage) => Promise<string>;
}

/** Sends a POST request to the management API, with a path below `/api/admin`, and returns the body of the answer. */
export type Manage = (path: string, body: object) => Promise<Readonly<Record<string, unknown>>>;

/** Builds the program of this checkout, which `bin/gateway` then starts. Throws if that fails. */
export function buildProgram(): void {
  const { success, stderr } = Bun.spawnSync(
    [process.execPath, join(root, "scripts", "build", "build-program.ts")],
    {
      cwd: root,
    },
  );
  if (!success) throw new Error(`The program was not built: ${stderr}`);
}

/** Starts a gateway and creates a key. Rejects if a process does not listen in time. */
export async function startGateway(
  installation: Installation,
  { upstreamPort }: Pick<Site, "upstreamPort">,
): Promise<Target> {
  const { name, checkout, databaseUrl, processes = 1, logFile, yaml, environment } = installation;
  const program = join(checkout, "bin", "gateway");
  if (!existsSync(program)) throw new Error(`${program} does not exist`);
  const port = await findFreePort();
  const adminKey = randomBytes(24).toString("hex");
  const dataDir = makeDataDir();
  const env = {
    ...describeVendors(upstreamPort),
    GATEWAY_HOST: "127.0.0.1",
    GATEWAY_PORT: String(port),
    GATEWAY_DATA_DIR: dataDir,
    GATEWAY_ADMIN_KEY: adminKey,
    GATEWAY_LOG_LEVEL: "info",
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...(processes === 1 ? {} : { GATEWAY_PROCESSES: String(processes) }),
    ...environment,
  };
  if (yaml !== undefined) writeFileSync(join(dataDir, "gateway.yaml"), yaml);
  // Runs in its data folder, so that a developer's gateway.yaml or .env does not change the measurement.
  const child = start({ name, command: [program, "start"], env, cwd: dataDir, logFile });
  await waitUntilReady(`http://127.0.0.1:${port}/readyz`, child);
  const key = await (installation.createKey ?? createKey)(manageAt(port, adminKey));
  const rest = { port, headers: { authorization: `Bearer ${key}` } };
  const door = { ...CHAT, ...rest, path: PATHS.chat, model: `openai/${MODEL}` };
  const lanes = new Map(
    LANES.map(({ name, api, vendor, model }) => [name, { ...rest, api, vendor, model, path: PATHS[api] }]),
  );
  const stop = async () => {
    await end(child);
    removeDataDir(dataDir);
  };
  return { name, door, lanes, pid: child.pid, databasePid: null, stop };
}

/** Returns the variables that configure the upstream as each provider. */
function describeVendors(upstreamPort: number): Record<string, string> {
  return {
    OPENAI_API_KEY: "bench",
    OPENAI_BASE_URL: upstreamUrl(upstreamPort),
    ANTHROPIC_API_KEY: "bench",
    ANTHROPIC_BASE_URL: upstreamUrl(upstreamPort),
    GEMINI_API_KEY: "bench",
    GEMINI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1beta`,
  };
}

async function startPortkey({ upstreamPort }: Site): Promise<Target> {
  const { node, script } = await preparePortkey();
  const port = await findFreePort();
  const command = [node, script, `--port=${port}`, "--headless"];
  const child = start({ name: "portkey", command, env: { NODE_ENV: "production" }, cwd: root });
  await waitUntilReady(`http://127.0.0.1:${port}/`, child);
  const route = { "x-portkey-provider": "openai", "x-portkey-custom-host": upstreamUrl(upstreamPort) };
  const door = { ...CHAT, port, headers: { ...BEARER, ...route } };
  const { pid } = child;
  return { name: "portkey", door, lanes: NO_LANES, pid, databasePid: null, stop: () => end(child) };
}

async function createKey(manage: Manage): Promise<string> {
  return (await manage("/keys", { name: "bench" }))["key"] as string;
}

function manageAt(port: number, adminKey: string): Manage {
  return async (path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/admin${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.ok) return (await answer.json()) as Record<string, unknown>;
    throw new Error(`POST ${path} was answered with status ${answer.status}: ${await answer.text()}`);
  };
}

interface Program {
  readonly name: TargetName;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The file of its standard output. Absent: it is not kept. */
  readonly logFile?: string | undefined;
}

/** Passes only the named variables, so that the developer's own settings have no effect. */
function start({ name, command, env, cwd, logFile }: Program): Subprocess {
  mkdirSync(out, { recursive: true });
  const { PATH = "", HOME = "" } = process.env;
  const stdout = logFile === undefined ? "ignore" : Bun.file(logFile);
  const streams = { stdin: "ignore", stdout, stderr: Bun.file(join(out, `${name}.log`)) } as const;
  return adopt(Bun.spawn(pinned("target", command), { cwd, env: { PATH, HOME, ...env }, ...streams }));
}

/** Creates a data folder on the repository's disk: the journal would cost less in a memory file system. It is removed with the bench. */
export function makeDataDir(): string {
  mkdirSync(out, { recursive: true });
  const dataDir = mkdtempSync(join(out, "data-"));
  dataDirs.add(dataDir);
  return dataDir;
}

/** Removes a data folder. */
export function removeDataDir(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true });
  dataDirs.delete(dataDir);
}

/** Removes the data of targets that were not stopped properly. */
export function removeDataDirs(): void {
  for (const dataDir of dataDirs) removeDataDir(dataDir);
}

function upstreamUrl(port: number): string {
  return `http://127.0.0.1:${port}/v1`;
}
