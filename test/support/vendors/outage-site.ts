import { SQL } from "bun";
import type { TestPostgres } from "../databases/postgres.ts";
import { eventually } from "../eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../gateway/gateway.ts";
import { balanceOf, findLedgerProblems, manage } from "../money.ts";
import { startTcpProxy, type TcpProxy } from "../servers/tcp-proxy.ts";
import { documentOf, startVendor, USAGE, type Vendor } from "./vendor.ts";

const messages = [{ role: "user", content: "Hello!" }];
const DOLLAR = 1_000_000_000;
const CREDITS = 10;
/** The cost of an answer with the vendor's usual token usage. Nanodollars. */
const COST = USAGE.prompt_tokens * 1_000 + USAGE.completion_tokens * 10_000;

/** What a client has received. */
interface Asked {
  readonly ids: string[];
  /** How often each status was received. */
  readonly statuses: Map<number, number>;
}

/** A gateway on PostgreSQL behind a proxy, and clients that call it all the time. */
export interface OutageSite {
  readonly gateway: TestGateway;
  readonly proxy: TcpProxy;
  /** A valid key that was never used. */
  readonly unusedKey: string;
  /** Returns the database's URL without the proxy. */
  url(): string;
  /** Resolves after so many further requests of each client. */
  serve(count: number): Promise<void>;
  /** Returns the statuses that the operator's key, whose account has no bound, received since the last call. */
  takeStatuses(): ReadonlyMap<number, number>;
  /** The same for a key whose account has credits. */
  takePayerStatuses(): ReadonlyMap<number, number>;
  /** Returns the status of a management call. */
  manages(): Promise<Response>;
  /** Resolves when `readyz` has this text. */
  untilReady(status: "ready" | "degraded"): Promise<string>;
  /** Ends the clients, and returns what differs if not each answer was recorded and charged once: an empty list if nothing does. */
  checkBooks(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface OutageSiteOptions {
  /** Further configuration. */
  readonly yaml?: string;
  /** The pause of each client between two requests. Milliseconds. */
  readonly pauseMs?: number;
}

/** Starts a site on a database of a server. */
export async function startOutageSite(
  server: TestPostgres,
  url: string,
  { yaml = "", pauseMs = 0 }: OutageSiteOptions = {},
): Promise<OutageSite> {
  const proxy = await startTcpProxy(() => [server.port]);
  const vendor = startVendor((call) => call.respond(200, documentOf("Alpha")));
  const gateway = await startTestGateway({ yaml: `${yamlFor(vendor, withPort(url, proxy.port))}\n${yaml}` });
  const account = await manage(gateway, "/users", { name: "payer" });
  const accountId = (account.body["data"] as { id: string }).id;
  await manage(gateway, `/accounts/${accountId}/credits`, { amount: CREDITS });
  const key = await manage(gateway, "/keys", { name: "payer", kind: "inference", account_id: accountId });
  const payer = startClient(gateway, key.body["key"] as string, pauseMs);
  const unused = await manage(gateway, "/keys", { name: "unused", kind: "inference" });
  const operator = startClient(gateway, gateway.key, pauseMs);
  const clients = [payer, operator];
  const directUrl = () => withPort(url, server.port);
  const untilReady = (status: "ready" | "degraded") => waitUntilReady(gateway, status);
  return {
    gateway,
    proxy,
    unusedKey: unused.body["key"] as string,
    url: directUrl,
    async serve(count) {
      const before = clients.map((client) => client.count());
      await eventually(
        `${count} requests of each client`,
        () => clients.every((client, at) => client.count() >= (before[at] ?? 0) + count),
        60_000,
      );
    },
    takeStatuses: operator.takeStatuses,
    takePayerStatuses: payer.takeStatuses,
    manages: () =>
      fetch(`${gateway.url}/api/admin/users`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "another" }),
      }),
    untilReady,
    async checkBooks() {
      for (const client of clients) await client.stop();
      await untilReady("ready");
      const answered = clients.flatMap(({ asked }) => asked.ids);
      await untilSaved(directUrl(), answered.length);
      const missing = await countMissing(directUrl(), answered);
      const found = await balanceOf(gateway, accountId);
      return [
        ...differences("missing records", missing, 0),
        ...differences("generations", await countCompleted(directUrl()), answered.length),
        ...differences("balance", found.balance, CREDITS * DOLLAR - payer.asked.ids.length * COST),
        ...differences("held", found.held, 0),
        ...(await findLedgerProblems(gateway)).map((problem) => JSON.stringify(problem)),
      ];
    },
    async stop() {
      for (const client of clients) await client.stop();
      await gateway.stop();
      proxy.stop();
      vendor.stop();
    },
  };
}

function differences(name: string, found: number, expected: number): string[] {
  return found === expected ? [] : [`${name}: ${found} instead of ${expected}`];
}

function yamlFor(vendor: Vendor, url: string): string {
  const prices = 'prices: {prompt: "0.000001", completion: "0.00001"}';
  return `
database: {url: "${url}"}
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/model, ${prices}}]}`;
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

function waitUntilReady(gateway: TestGateway, status: "ready" | "degraded"): Promise<string> {
  return eventually(
    `readyz to be ${status}`,
    async () => {
      const text = await (await fetch(`${gateway.url}/readyz`)).text();
      return text.includes(`"status":"${status}"`) ? text : null;
    },
    60_000,
  );
}

/** A client that sends one request after the other. */
function startClient(gateway: TestGateway, key: string, pauseMs: number) {
  const asked: Asked = { ids: [], statuses: new Map() };
  let statuses = new Map<number, number>();
  let total = 0;
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      const headers = { authorization: `Bearer ${key}` };
      const response = await postChat(gateway, { model: "acme/model", messages }, headers);
      await response.text();
      if (response.status === 200) asked.ids.push(response.headers.get("x-gateway-generation-id") as string);
      else if (response.headers.get("retry-after") === null)
        throw new Error(`a ${response.status} has no Retry-After`);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      asked.statuses.set(response.status, (asked.statuses.get(response.status) ?? 0) + 1);
      total += 1;
      if (pauseMs > 0) await Bun.sleep(pauseMs);
    }
  })();
  return {
    asked,
    count: () => total,
    takeStatuses() {
      const taken = statuses;
      statuses = new Map();
      return taken;
    },
    async stop() {
      isOver = true;
      await running;
    },
  };
}

/** How long the records of an outage may take to be saved: a few thousand a second on a busy machine. Milliseconds. */
const SAVE_MS = 180_000;

/** Waits until the database has as many completed generations. Over one connection and by their number, because the gateway saves them meanwhile. */
async function untilSaved(url: string, count: number): Promise<void> {
  const sql = new SQL({ url, max: 1 });
  const find = async (): Promise<boolean> => {
    const [row] = await sql.unsafe("SELECT count(*) AS count FROM generations WHERE outcome = 'completed'");
    return Number(row.count) >= count;
  };
  try {
    await eventually(`${count} records to be saved`, find, SAVE_MS);
  } finally {
    await sql.close({ timeout: 0 });
  }
}

/** Returns how many of these generations the database does not have as completed. */
async function countMissing(url: string, ids: readonly string[]): Promise<number> {
  const saved = await readCompleted(url);
  return ids.filter((id) => !saved.has(id)).length;
}

async function countCompleted(url: string): Promise<number> {
  return (await readCompleted(url)).size;
}

async function readCompleted(url: string): Promise<ReadonlySet<string>> {
  const sql = new SQL({ url, max: 1 });
  try {
    const rows: { id: string }[] = await sql.unsafe("SELECT id FROM generations WHERE outcome = 'completed'");
    if (new Set(rows.map(({ id }) => id)).size !== rows.length) throw new Error("a record was saved twice");
    return new Set(rows.map(({ id }) => id));
  } finally {
    await sql.close({ timeout: 0 });
  }
}
