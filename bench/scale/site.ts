import { startTestRedis } from "../../test/support/databases/redis.ts";
import { makeSite } from "../../test/support/gateway/gateway-process.ts";
import { callAdmin } from "../../test/support/gateway/management.ts";
import { startTcpProxy, type TcpProxy } from "../../test/support/servers/tcp-proxy.ts";
import { startDatabase } from "../machine/database.ts";
import { adoptServer, pinRunning } from "../machine/processes.ts";
import type { Running } from "../targets/contestant.ts";

/** One gateway with its own PostgreSQL and Redis, and the proxies that count the bytes between them. */
export interface Site {
  readonly target: Running & { readonly pid: number };
  readonly databaseUrl: string;
  readonly databasePid: number;
  /** The number of bytes that the gateway has logged. */
  countLogged(): number;
  /** The answer of Redis to INFO. */
  readRedisInfo(): Promise<string>;
  readonly toPostgres: TcpProxy;
  readonly toRedis: TcpProxy;
  stop(): Promise<void>;
}

const ADMIN_KEY = "scale-management-key-0123456789";
const MODEL = "openai/gpt-4o-mini";
/** Never reached, but counted for each request. */
const REQUESTS_PER_MINUTE = 100_000_000;
const TOKENS_PER_MINUTE = 100_000_000_000;
const DOLLARS = "100000";

/**
 * Starts everything. The key belongs to a prepaid account and has rate limits, so that each request is held against a lease and counted
 * in Redis. The stores share a core with the load.
 */
export async function startSite(upstreamPort: number): Promise<Site> {
  const [database, redis] = await Promise.all([startDatabase(), startTestRedis()]);
  const removeRedis = adoptServer(() => redis.remove());
  const [toPostgres, toRedis] = await Promise.all([startWay(database.url), startWay(redis.url)]);
  const site = makeSite(`admin_key: ${ADMIN_KEY}
database: {url: "${through(toPostgres, database.url)}"}
redis: {url: "${through(toRedis, redis.url)}"}
providers:
  openai: {base_url: "http://127.0.0.1:${upstreamPort}/v1", api_keys: [bench]}
`);
  const gateway = await site.start("");
  pinRunning("target", gateway.pid);
  const key = await createPrepaidKey(gateway.url);
  const door = {
    api: "chat",
    vendor: "chat",
    port: Number(new URL(gateway.url).port),
    path: "/api/gateway/chat/completions",
    headers: { authorization: `Bearer ${key}` },
    model: MODEL,
  } as const;
  const stop = async () => {
    await gateway.terminate();
    site.remove();
    toPostgres.stop();
    toRedis.stop();
    await Promise.all([database.stop(), removeRedis()]);
  };
  const { pid } = gateway;
  return {
    target: { name: "postgres", door, lanes: new Map(), pid, databasePid: database.pid, stop },
    databaseUrl: database.url,
    databasePid: database.pid,
    countLogged: () => Buffer.byteLength(gateway.printed()),
    readRedisInfo: async () => String(await redis.command("INFO", "all")),
    toPostgres,
    toRedis,
    stop,
  };
}

async function createPrepaidKey(url: string): Promise<string> {
  const post = async (path: string, body: unknown) => {
    const answer = await callAdmin({ url }, ADMIN_KEY, "POST", path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer;
  };
  const { id } = (await post("/users", { name: "scale" })).data;
  await post(`/accounts/${id}/credits`, { amount: DOLLARS });
  const rate_limit = { requests_per_minute: REQUESTS_PER_MINUTE, tokens_per_minute: TOKENS_PER_MINUTE };
  const { body } = await post("/keys", { name: "scale", account_id: id, rate_limit });
  return body["key"] as string;
}

function startWay(url: string): Promise<TcpProxy> {
  const port = Number(new URL(url).port);
  return startTcpProxy(() => [port]);
}

function through({ port }: TcpProxy, url: string): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}
