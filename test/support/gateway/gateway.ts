import { rmSync } from "node:fs";
import type { Config } from "../../../src/app/config/config-schema.ts";
import { checkConfig, parseConfigFile } from "../../../src/app/config/load-config.ts";
import { type RunningGateway, startGateway } from "../../../src/app/run/lifecycle.ts";
import type { Platform } from "../../../src/app/start/wire-up.ts";
import type { Log } from "../../../src/base/failures/log.ts";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { startInlineThread } from "../databases/inline-store-thread.ts";
import { copyMigratedDatabase } from "../databases/sqlite-template.ts";
import { databaseVariables, dropDatabases, redisOf } from "../databases/test-databases.ts";
import { SHARED_TOKEN_COUNTER } from "../shared-token-counter.ts";
import { makeTempFolder } from "../temp-folder.ts";

/** One line of the log. */
export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A real gateway in this process, on a free port, with its own data directory. */
export interface TestGateway {
  readonly url: string;
  /** `url` and `/api/gateway`. */
  readonly base: string;
  /** A valid inference key. */
  readonly key: string;
  readonly adminKey: string;
  readonly dataDir: string;
  readonly log: LogLine[];
  /** Stops the gateway. `keepData` keeps the data directory for a second start. */
  stop(options?: { keepData?: boolean }): Promise<void>;
}

export const ADMIN_KEY = "test-management-key-0123456789";

/**
 * The options of a test gateway. `yaml` is the text of the configuration file, `environment` configures
 * providers.
 */
export interface TestGatewayOptions
  extends Partial<
    Pick<Platform, "clock" | "random" | "transport" | "health" | "tokenCounter" | "extensions">
  > {
  readonly yaml?: string;
  /** Returns the text of the configuration file at a reload. */
  readonly readYaml?: () => string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  /** Replaces `limits.repeats`. Defaults to 0 for tests that control the clock. */
  readonly repeats?: number;
  /** Replaces `server.drain_notice_ms`. Defaults to 0, because nothing is gained by waiting for the clients of a test. */
  readonly drainNoticeMs?: number;
  /** False: no Redis, also in a run on databases, for a test that fails if a turn of a conversation is lost, as a slow Redis may lose it. */
  readonly usesRedis?: false;
  /**
   * True: SQLite runs in threads, as outside of tests. By default its statements run in the thread of the test, behind the same messages,
   * because two threads take half a second of processor time to start. The gateways that tests start as processes have threads.
   */
  readonly hasStoreThreads?: boolean;
  /** A key of an earlier start on the same data directory. */
  readonly key?: string;
  /** The configured admin key. Defaults to `ADMIN_KEY`; null for none. */
  readonly adminKey?: string | null;
}

const FOREVER_MS = Number.MAX_SAFE_INTEGER;

/** Starts a gateway for a test. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { adminKey = ADMIN_KEY } = options;
  const dataDir = options.dataDir ?? makeTempFolder("gateway-test-");
  const { REDIS_URL: ownRedis, ...databases } = await databaseVariables(dataDir);
  const shared = options.environment?.["DATABASE_URL"];
  const REDIS_URL = shared === undefined ? ownRedis : await redisOf(shared);
  if (databases.DATABASE_URL === undefined && options.environment?.["DATABASE_URL"] === undefined)
    copyMigratedDatabase(dataDir);
  const environment = {
    ...databases,
    // Redis counts by its own clock, which no test can advance.
    ...(REDIS_URL === undefined || options.clock !== undefined || options.usesRedis === false
      ? {}
      : { REDIS_URL }),
    ...options.environment,
    GATEWAY_PORT: "0",
    GATEWAY_DATA_DIR: dataDir,
    ...(adminKey === null ? {} : { GATEWAY_ADMIN_KEY: adminKey }),
  };
  const { log, lines } = createMemoryLog();
  const adaptConfig = (config: Config) => adaptForTests(config, options);
  const read = (source: string) => parseConfigFile({ source, file: "gateway.yaml" }, environment);
  const config = adaptConfig(checkConfig(options.yaml ?? "", "gateway.yaml", environment));
  const gateway = await startGateway(config, {
    clock: options.clock ?? systemClock,
    databaseClock: systemClock,
    ...(options.hasStoreThreads === true ? {} : { startStoreThread: startInlineThread }),
    random: options.random ?? createSystemRandom(),
    log,
    environment,
    readFile: () => read(options.readYaml?.() ?? options.yaml ?? ""),
    adaptConfig,
    ...(options.transport ? { transport: options.transport } : {}),
    ...(options.health ? { health: options.health } : {}),
    tokenCounter: options.tokenCounter ?? SHARED_TOKEN_COUNTER,
    ...(options.extensions ? { extensions: options.extensions } : {}),
  });
  await gateway.firstStart?.confirmShown();
  return {
    url: gateway.url,
    base: `${gateway.url}/api/gateway`,
    key: options.key ?? firstKey(gateway),
    adminKey: adminKey ?? gateway.firstStart?.managementKey ?? "",
    dataDir,
    log: lines,
    async stop({ keepData = false } = {}) {
      await gateway.stop();
      if (keepData) return;
      rmSync(dataDir, { recursive: true, force: true });
      await dropDatabases(dataDir);
    },
  };
}

/** Returns the configuration of a test gateway, with the changes that all tests need. */
function adaptForTests(config: Config, options: TestGatewayOptions): Config {
  // A test that controls the clock would have to advance it over the pause before each retry.
  const repeats = options.repeats ?? (options.clock === undefined ? config.limits.repeats : 0);
  // A clock that a test controls passes hours within a millisecond, in which nothing can be read from a database.
  const isTimed = options.clock !== undefined && options.yaml?.includes("max_staleness_ms") !== true;
  const storage = isTimed ? { ...config.storage, max_staleness_ms: FOREVER_MS } : config.storage;
  return {
    ...config,
    storage,
    limits: { ...config.limits, repeats },
    server: { ...config.server, drain_notice_ms: options.drainNoticeMs ?? 0 },
  };
}

function firstKey(gateway: RunningGateway): string {
  const key = gateway.firstStart?.inferenceKey;
  if (!key) throw new Error("a second start on a data directory needs the key of the first");
  return key;
}

/** Creates a log whose lines a test can read. */
export function createMemoryLog(): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: string) =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}) => {
      lines.push({ level, event, fields });
    };
  return { log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, lines };
}

/** Posts a chat completion. `body` is JSON-encoded unless it is a string. */
export function postChat(
  gateway: TestGateway,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Returns the data of a stream's events, including `[DONE]`. */
export async function readEvents(response: Response): Promise<string[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => block.slice("data: ".length));
}
