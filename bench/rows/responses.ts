/**
 * `npm run bench -- responses`: fills a store with response objects, and measures what it costs to add one and to read chains. See README.md.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { lowestIdAt } from "../../src/base/secrets/ids.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { DAY_MS, MINUTE_MS } from "../../src/base/time/time.ts";
import type { StoredObject } from "../../src/core/response-objects/records/response-object.ts";
import type { ResponseStore } from "../../src/core/response-objects/records/response-store.ts";
import { connectPostgres, type Postgres } from "../../src/storage/postgres/connection/client.ts";
import { PostgresResponseStore } from "../../src/storage/postgres/responses/response-store.ts";
import { openDatabase, RESPONSES_FILE } from "../../src/storage/sqlite/connection/database.ts";
import { SqliteResponseStore } from "../../src/storage/sqlite/response-store.ts";
import { startTestPostgres } from "../../test/support/databases/postgres.ts";
import { measureCalls, printFigures } from "./measure-calls.ts";
import { readServerUs } from "./server-time.ts";

const { values: options } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    objects: { type: "string", default: "100000" },
    bytes: { type: "string", default: "8000" },
    turns: { type: "string", default: "200" },
    times: { type: "string", default: "200" },
    dir: { type: "string", default: tmpdir() },
  },
});
const OBJECTS = Number(options.objects);
const BYTES = Number(options.bytes);
const TURNS = Number(options.turns);
const TIMES = Number(options.times);
const DAYS = 30;
const ACCOUNTS = 50;
/** Items of each object. */
const ITEMS = 6;
/** The share of objects that are in chains. Others are alone. */
const CHAINED = 0.6;
const CHAINS = Math.floor((OBJECTS * CHAINED) / TURNS);
const MUCH = Number.MAX_SAFE_INTEGER;
const NOW = systemClock.now();
const BEGIN = NOW - DAYS * DAY_MS;
/** The bodies of objects are parts of it. */
const NOISE = crypto.getRandomValues(new Uint8Array(65_536));
const CONTENT = Buffer.concat(Array.from({ length: Math.ceil(BYTES / NOISE.length) + 1 }, () => NOISE));

/** Returns an object that began some time after the first one. */
function objectAt(ms: number, n: number, before: StoredObject | null = null): StoredObject {
  const id = `${lowestIdAt("gen", BEGIN + ms)}${String(n).padStart(16, "0")}`;
  const account = `org_${(before === null ? n : Number(before.accountId.slice(4))) % ACCOUNTS}`;
  const from = (n * 37) % NOISE.length;
  return {
    ...{
      id,
      kind: "response",
      status: "completed",
      accountId: account,
      userId: null,
      keyId: `key_${account}`,
    },
    rootId: before?.rootId ?? id,
    sequence: before === null ? 0 : before.sequence + 1,
    previousId: before?.id ?? null,
    conversationId: null,
    chainBytes: (before?.chainBytes ?? 0) + BYTES,
    ...{
      model: "author/model",
      isBackground: false,
      gatewayId: null,
      isCancelRequested: false,
      bytes: BYTES,
    },
    ...{ createdAt: BEGIN + ms, endedAt: BEGIN + ms + 5_000, expiresAt: NOW + DAYS * DAY_MS },
    sealed: { masterKeyId: "0123456789abcdef", ciphertext: "k".repeat(104) },
    ciphertext: CONTENT.subarray(from, from + BYTES),
  };
}

/** Returns the ids of an object's items, in no order, like those of vendors. */
const itemsOf = ({ id }: StoredObject) =>
  Array.from({ length: ITEMS }, (_, n) => `msg_${Bun.hash(`${id} ${n}`).toString(16)}${id.slice(4)}`);

/** Fills the store in the order of time, and returns the last objects of the chains. */
async function fill(store: ResponseStore): Promise<readonly StoredObject[]> {
  const lasts: (StoredObject | null)[] = Array(CHAINS).fill(null);
  const step = (DAYS * DAY_MS) / OBJECTS;
  const spanMs = TURNS * 10 * MINUTE_MS;
  const adding = new Set<Promise<unknown>>();
  for (let n = 0; n < OBJECTS; n++) {
    const ms = n * step;
    // Chains begin one after the other, and several grow at a time.
    const growing = Math.max(1, Math.round((CHAINS * spanMs) / (DAYS * DAY_MS)));
    const at = (Math.floor(n / (OBJECTS / (CHAINS / growing))) * growing + (n % growing)) % CHAINS;
    const last = lasts[at] ?? null;
    const isChained = n % 10 < CHAINED * 10 && (last === null || last.sequence < TURNS - 1);
    const object = objectAt(ms, n, isChained ? last : null);
    if (isChained) lasts[at] = object;
    const added = store.addObject(object, itemsOf(object), MUCH).finally(() => adding.delete(added));
    adding.add(added);
    if (adding.size >= 8) await Promise.race(adding);
  }
  await Promise.all(adding);
  return lasts.filter((last) => last !== null);
}

async function measureAll(
  store: ResponseStore,
  lasts: readonly StoredObject[],
  readUs?: () => Promise<number>,
) {
  const chosen = (n: number) => lasts[(n * 7) % lasts.length] as StoredObject;
  const measure = (name: string, call: (n: number) => Promise<number>) =>
    measureCalls(name, TIMES, call, readUs);
  const owner = (object: StoredObject) => ({ ...object, userId: null });
  let added = OBJECTS;
  const nextMs = () => DAYS * DAY_MS + added * 10;
  return [
    await measure("add an object", async () => {
      const object = objectAt(nextMs(), added++);
      await store.addObject(object, itemsOf(object), MUCH);
      return 1;
    }),
    await measure("add to a chain", async (n) => {
      const object = objectAt(nextMs(), added++, chosen(n));
      await store.addObject(object, itemsOf(object), MUCH);
      return 1;
    }),
    await measure(
      `read a chain of ${chosen(0).sequence + 1}`,
      async (n) => (await store.readChain(chosen(n).id, NOW)).length,
    ),
    await measure("find an object", async (n) =>
      (await store.findObject(chosen(n).id, NOW)) === null ? 0 : 1,
    ),
    await measure("find 3 items", async (n) => {
      const object = chosen(n);
      return (await store.findByItems(owner(object), itemsOf(object).slice(0, 3), NOW)).length;
    }),
    await measure("list 50 heads", async (n) => {
      const { accountId, id } = chosen(n);
      const any = { userId: null, keyId: null, conversationId: null, isBackground: null, status: null };
      return (await store.listHeads({ ...any, accountId, before: id, limit: 50 }, NOW)).length;
    }),
    await measure("touch a chain", async (n) => {
      await store.touchChain(chosen(n).rootId, NOW + (DAYS + 1) * DAY_MS + n);
      return 1;
    }),
    await measure("poll running responses", async () => (await store.listRunning("gateway_a")).length),
    await measure("delete 50 expired", () => store.deleteExpired(NOW + 2 * DAYS * DAY_MS, 50)),
    await measure("delete 50 of an account", (n) => store.deleteOfAccount(`org_${n % ACCOUNTS}`, 50)),
  ];
}

async function run(store: ResponseStore, readUs?: () => Promise<number>): Promise<void> {
  const begun = performance.now();
  const cpu = process.cpuUsage();
  const lasts = await fill(store);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - begun) / 1_000;
  console.log(
    `${OBJECTS} objects, ${lasts.length} chains: ${seconds.toFixed(0)} s, ${((user + system) / OBJECTS).toFixed(0)} µs of this process each`,
  );
  console.log(`calls (ms), load average ${loadavg()[0]?.toFixed(1)}`);
  printFigures(await measureAll(store, lasts, readUs));
}

async function runSqlite(): Promise<void> {
  const dir = mkdtempSync(join(options.dir, "gateway-responses-"));
  const database = openDatabase(dir, RESPONSES_FILE);
  try {
    await run(new SqliteResponseStore(database));
    console.log(`${Math.round(statSync(join(dir, RESPONSES_FILE.name)).size / 1e6)} MB`);
  } finally {
    database.close();
    rmSync(dir, { recursive: true });
  }
}

async function runPostgres(): Promise<void> {
  const server = await startTestPostgres({ shared_buffers: "1GB", max_wal_size: "4GB", autovacuum: "on" });
  try {
    const url = await server.createMigratedDatabase();
    const connection = { url, isPooled: false, clock: systemClock };
    const database = connectPostgres({ ...connection, maxConnections: 8 });
    await run(new PostgresResponseStore({ database, maintenance: database }), () => readServerUs(database));
    await printSize(database);
    await database.close();
  } finally {
    await server.remove();
  }
}

async function printSize(database: Postgres): Promise<void> {
  const [row] = await database.run<{ size: string }>(
    "SELECT pg_size_pretty(pg_database_size(current_database())) AS size",
  );
  console.log(row?.size);
}

await (options.store === "postgres" ? runPostgres() : runSqlite());
