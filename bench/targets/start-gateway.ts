import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import type { ClientApi } from "../load/messages.ts";
import { makeDataDir, ROOT, removeDataDir } from "../machine/folders.ts";
import { chatDoor, MODEL, type Running } from "./contestant.ts";
import { LANES } from "./lanes.ts";
import { startProgram } from "./programs.ts";

const PATHS: Readonly<Record<ClientApi, string>> = {
  chat: "/api/gateway/chat/completions",
  messages: "/api/gateway/messages",
  responses: "/api/gateway/responses",
};

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
    [process.execPath, join(ROOT, "scripts", "build", "build-program.ts")],
    {
      cwd: ROOT,
    },
  );
  if (!success) throw new Error(`The program was not built: ${stderr}`);
}

/** Starts a gateway and creates a key. Rejects if a process does not listen in time. */
export async function startGateway(installation: Installation, upstreamPort: number): Promise<Running> {
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
  const started = await startProgram({
    name,
    command: [program, "start"],
    env,
    cwd: dataDir,
    port,
    readyPath: "/readyz",
    ...(logFile === undefined ? {} : { logFile }),
  });
  const key = await (installation.createKey ?? createKey)(manageAt(port, adminKey));
  const rest = { port, headers: { authorization: `Bearer ${key}` } };
  const door = chatDoor(port, { ...rest, path: PATHS.chat, model: `openai/${MODEL}` });
  const lanes = new Map(
    LANES.map(({ name, api, vendor, model }) => [name, { ...rest, api, vendor, model, path: PATHS[api] }]),
  );
  const stop = async () => {
    await started.stop();
    removeDataDir(dataDir);
  };
  return { ...started, door, lanes, stop };
}

/** Returns the variables that configure the upstream as each provider. */
function describeVendors(upstreamPort: number): Record<string, string> {
  return {
    OPENAI_API_KEY: "bench",
    OPENAI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
    ANTHROPIC_API_KEY: "bench",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
    GEMINI_API_KEY: "bench",
    GEMINI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1beta`,
  };
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
