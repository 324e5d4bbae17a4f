/**
 * `npm run bench -- rows-sqlite`: fills a SQLite database with generations, and measures what it costs to save them, and lists, searches and counts. See README.md.
 */
import type { Database } from "bun:sqlite";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { lowestIdAt } from "../../src/base/secrets/ids.ts";
import { DAY_MS, HOUR_MS } from "../../src/base/time/time.ts";
import { ANY_GENERATION, type GenerationFilter } from "../../src/core/usage/generations/generation-list.ts";
import type { Outcome, RecordEntry } from "../../src/core/usage/records/records.ts";
import { chooseBuckets } from "../../src/core/usage/reports/time-buckets.ts";
import { openDatabase } from "../../src/storage/sqlite/connection/database.ts";
import { GenerationTags } from "../../src/storage/sqlite/usage/generation-tags.ts";
import {
  columnsOf,
  GENERATION_COLUMNS,
  SqliteUsageStore,
} from "../../src/storage/sqlite/usage/usage-store.ts";
import { UsageSums } from "../../src/storage/sqlite/usage/usage-sums.ts";
import { exampleRecord } from "./example-record.ts";
import { measureCalls, printFigures } from "./measure-calls.ts";
import { listTags, measureSave } from "./measure-save.ts";

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    days: { type: "string", default: "100" },
    dir: { type: "string", default: tmpdir() },
    times: { type: "string", default: "200" },
    "record-bytes": { type: "string", default: "200" },
    tags: { type: "string", default: "0" },
  },
});
const ROWS = Number(options.rows);
const LENGTH_MS = Number(options.days) * DAY_MS;
const TIMES = Number(options.times);
const RECORD_BYTES = Number(options["record-bytes"]);
const BEGIN_MS = Date.UTC(2026, 0, 1);
const END_MS = BEGIN_MS + LENGTH_MS;
/** Tags of each generation. */
const TAGS = Number(options.tags);
const LIMIT = 50;
const ACCOUNTS = 1_000;
const MODELS = 200;
/** Rows of one transaction while filling. */
const AT_ONCE = 50_000;
/** Records of the measurement of saving. */
const SAVED = 20_000;
/** Generations of the rare key, model and account among all. */
const RARE = 20;

const PROVIDERS = ["openai", "azure", "anthropic", "together", "mistral"];
const ERRORS = ["rate_limit_exceeded", "provider_error", "provider_timeout", "invalid_request"];

const timeOf = (n: number): number => BEGIN_MS + Math.floor((n / ROWS) * LENGTH_MS);
const suffixOf = (n: number): string => String(n).padStart(16, "0");

/** Returns a number below `below`, of which low ones are frequent. */
const skewed = (n: number, below: number): number =>
  Math.floor(below * (((n * 7_919 + 104_729) % 100_003) / 100_003) ** 3);

/** Fills the table. */
function fill(database: Database): void {
  database.exec("PRAGMA synchronous = OFF");
  const insert = database.query(
    `INSERT INTO generations (${GENERATION_COLUMNS.join(", ")}) VALUES (${GENERATION_COLUMNS.map(() => "?").join(", ")})`,
  );
  const sums = new UsageSums(database);
  const tags = new GenerationTags(database);
  const add = database.transaction((from: number, to: number) => {
    const entries = Array.from({ length: to - from }, (_, n) => createEntry(from + n));
    for (const entry of entries) insert.run(...columnsOf(entry));
    const records = entries.map(({ record }) => record);
    sums.add(records);
    if (TAGS === 0) return;
    sums.addTags(records);
    for (const record of records) tags.add(record);
  });
  for (let n = 0; n < ROWS; n += AT_ONCE) add(n, Math.min(ROWS, n + AT_ONCE));
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

function createEntry(n: number): RecordEntry {
  const ms = timeOf(n);
  const isRare = n % Math.floor(ROWS / RARE) === 11;
  const account = skewed(n, ACCOUNTS);
  // An account uses some models only.
  const kind = (account + skewed(n * 3, 4)) % MODELS;
  const who = isRare ? "rare" : String(account);
  const model = isRare ? "author/rare" : `author/model-${kind}`;
  const provider = isRare ? "rare" : (PROVIDERS[kind % PROVIDERS.length] ?? "");
  const outcome: Outcome = n % 50 === 7 ? "failed" : n % 400 === 13 ? "cancelled" : "completed";
  const error =
    outcome !== "failed" ? null : isRare || n % 100_000 === 7 ? "content_filter" : (ERRORS[n % 4] ?? null);
  const [id, requestId] = [
    `${lowestIdAt("gen", ms)}${suffixOf(n)}`,
    `${lowestIdAt("req", ms)}${suffixOf(n)}`,
  ];
  const fields = {
    id,
    requestId,
    accountId: `user_${who}`,
    keyId: `key_${who}`,
    userId: `user_${who}`,
  };
  const searched = { ...fields, requestedModel: model, model, provider, outcome, error };
  const short = JSON.stringify(searched);
  const rest = "plan".repeat(Math.max(0, Math.ceil((RECORD_BYTES - short.length) / 4)));
  const json = rest === "" ? short : JSON.stringify({ ...searched, rest });
  const tags = TAGS === 0 ? {} : { tags: listTags(n, TAGS) };
  const record = { ...exampleRecord(ms), ...fields, model, provider, outcome, error, ...tags };
  return { record, json };
}

async function measureAll(store: SqliteUsageStore) {
  const measure = (name: string, call: (n: number) => Promise<number>) => measureCalls(name, TIMES, call);
  const page = (filter: Partial<GenerationFilter>, before: string | null = null) =>
    store.listGenerations({ ...ANY_GENERATION, ...filter, before, limit: LIMIT });
  /** A time anywhere in the data. */
  const anyTime = (n: number) => BEGIN_MS + (((n * 7_919) % 1_000) / 1_000) * LENGTH_MS;
  const anyId = (n: number) => lowestIdAt("gen", anyTime(n));
  const list = (name: string, filterOf: (n: number) => Partial<GenerationFilter>) =>
    measure(name, async (n) => (await page(filterOf(n), anyId(n))).records.length);
  const count = (name: string, lengthMs: number, filter: Partial<GenerationFilter> = {}) =>
    measure(name, async (n) => {
      const toMs = Math.min(END_MS, anyTime(n) + lengthMs);
      const range = chooseBuckets(Math.max(BEGIN_MS, toMs - lengthMs), toMs, 60);
      return (await store.countGenerations({ ...ANY_GENERATION, ...filter, ...range })).buckets.length;
    });
  return [
    await measure("newest", async () => (await page({})).records.length),
    await list("from any time", () => ({})),
    await list("a day", (n) => ({ fromMs: anyTime(n) - DAY_MS, toMs: anyTime(n) })),
    await list("a frequent account", (n) => ({ accountId: `user_${n % 5}` })),
    await list("any account", (n) => ({ accountId: `user_${(n * 7_919) % ACCOUNTS}` })),
    await list("a rare key", () => ({ keyId: "key_rare" })),
    await list("a rare user", () => ({ userId: "user_rare" })),
    await list("a frequent model", (n) => ({ model: `author/model-${n % 3}` })),
    await list("a rare model", () => ({ model: "author/rare" })),
    await list("a frequent provider", () => ({ provider: "openai" })),
    await list("a rare provider", () => ({ provider: "rare" })),
    await list("failed", () => ({ outcome: "failed" })),
    await list("cancelled", () => ({ outcome: "cancelled" })),
    await list("open", () => ({ outcome: "open" })),
    await list("a frequent error", () => ({ errorType: "provider_error" })),
    await list("a rare error", () => ({ errorType: "content_filter" })),
    await list("failed at a provider", () => ({ outcome: "failed", provider: "mistral" })),
    await list("a rare model of a frequent account", () => ({ accountId: "user_1", model: "author/rare" })),
    await measure("the id of a request", async (n) => {
      const at = (n * 7_919_777) % ROWS;
      return (await store.findByRequest(`${lowestIdAt("req", timeOf(at))}${suffixOf(at)}`)) === null ? 0 : 1;
    }),
    await measure("an unknown id of a request", async (n) =>
      (await store.findByRequest(`${lowestIdAt("req", anyTime(n))}zzzzzzzzzzzzzzzz`)) === null ? 0 : 1,
    ),
    ...(TAGS === 0
      ? []
      : [
          await list("a tag of all", () => ({ tag: "team" })),
          await list("a frequent account with a tag of all", (n) => ({
            tag: "team",
            accountId: `user_${n % 5}`,
          })),
          await list("a rare account with a tag of all", () => ({ tag: "team", accountId: "user_rare" })),
          await list("one of 40 tags", (n) => ({ tag: `job-${n % 40}` })),
        ]),
    await count("count an hour", HOUR_MS),
    await count("count a day", DAY_MS),
    await count("count 30 days", 30 * DAY_MS),
    await count("count 30 days of a model", 30 * DAY_MS, { model: "author/model-1" }),
    await count("count 30 days of failures", 30 * DAY_MS, { outcome: "failed" }),
    await count("count a day of a rare key", DAY_MS, { keyId: "key_rare" }),
  ];
}

/** Measures the processor time of saving a record that has ended, in groups of 100, after all others. Microseconds. */
async function measureSaveAfterAll(store: SqliteUsageStore): Promise<number> {
  const entries = Array.from({ length: SAVED }, (_, n) => createEntry(ROWS + n));
  const before = process.cpuUsage();
  for (let at = 0; at < SAVED; at += 100) await store.saveUsage(entries.slice(at, at + 100));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / SAVED;
}

const dir = mkdtempSync(join(options.dir, "gateway-rows-"));
try {
  const database = openDatabase(dir);
  console.log("save (µs of processor time a record)");
  printFigures(
    await measureSave(new SqliteUsageStore(database), { readServerUs: async () => 0, tags: TAGS }),
  );
  const begun = performance.now();
  fill(database);
  const gigabytes = (statSync(join(dir, "gateway.db")).size / 1e9).toFixed(1);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  console.log(`${ROWS} rows in ${seconds} s: ${gigabytes} GB, load average ${loadavg()[0]?.toFixed(1)}`);
  const store = new SqliteUsageStore(database);
  console.log("lists (ms)");
  printFigures(await measureAll(store));
  console.log(
    `save: ${(await measureSaveAfterAll(store)).toFixed(1)} µs of processor time a record into the full database`,
  );
  database.close();
} finally {
  rmSync(dir, { recursive: true, force: true });
}
