import type { Database } from "bun:sqlite";
import { lowestIdAt } from "../../src/base/secrets/ids.ts";
import { DAY_MS, dayOf, HOUR_MS } from "../../src/base/time/time.ts";
import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records/records.ts";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { COUNTER_COLUMNS, DURATION_COLUMNS, LATENCY_COLUMNS } from "../../src/storage/sql/usage/columns.ts";
import { openDatabase } from "../../src/storage/sqlite/connection/database.ts";
import { seedGenerations } from "../support/databases/seed-generations.ts";

/** The size of a large database. */
export interface DatabaseSize {
  readonly generations: number;
  readonly keys: number;
  readonly users: number;
  /** The days over which the generations are spread. */
  readonly days: number;
}

/** Of all keys, those that make requests. */
const ACTIVE_KEYS = 5_000;
const ORGANIZATIONS = 3;
/** Days whose sums are still by hour. */
const HOURLY_DAYS = 14;
/** Generations with the same record, apart from ids and times. */
const RECORDS = 50;
/** Rows in one transaction. */
const AT_ONCE = 50_000;

export const userOf = (index: number): string => `user_${pad(index)}`;
const keyOf = (index: number): string => `key_${pad(index)}`;
const pad = (index: number): string => String(index).padStart(24, "0");

/** Fills the database of a data directory, which exists, as the stores would: generations until `until`, with their charges and sums. */
export function fillDatabase(dataDir: string, size: DatabaseSize, until: number): void {
  const database = openDatabase(dataDir);
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144");
  addAccounts(database, size, until);
  addGenerations(database, size, until);
  addCharges(database);
  addSums(database, dayOf(until) - HOURLY_DAYS);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

function addAccounts(database: Database, { users, keys, days }: DatabaseSize, until: number): void {
  const createdAt = until - (days + 1) * DAY_MS;
  const account = database.query(
    "INSERT INTO accounts (id, kind, name, overdraft, policy, created_at) VALUES (?, ?, ?, NULL, '{}', ?)",
  );
  const key = database.query(
    `INSERT INTO api_keys (id, kind, account_id, user_id, name, hash, hint, created_at)
     VALUES (?, 'inference', ?, NULL, ?, ?, 'sk-…', ?)`,
  );
  const add = database.transaction(() => {
    for (let at = 0; at < ORGANIZATIONS; at++)
      account.run(`org_${pad(at)}`, "organization", `organization ${at}`, createdAt);
    for (let at = 0; at < users; at++) account.run(userOf(at), "user", `user ${at}`, createdAt);
    for (let at = 0; at < keys; at++)
      key.run(keyOf(at), userOf(at % users), `key ${at}`, `hash of ${at}`, createdAt);
  });
  add();
}

const INSERT_GENERATION = `INSERT INTO generations
  (id, created_at, account_id, key_id, cost, finished_at, outcome, record, model, provider, error_type)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

function addGenerations(database: Database, size: DatabaseSize, until: number): void {
  const { generations, users, days } = size;
  const templates = makeTemplates(until);
  const insert = database.query(INSERT_GENERATION);
  const from = until - days * DAY_MS;
  const stepMs = (days * DAY_MS) / generations;
  // Each of them always has the same record, and so the same model.
  const active = Math.min(ACTIVE_KEYS, size.keys);
  const add = database.transaction((first: number, end: number) => {
    for (let at = first; at < end; at++) {
      const createdAt = Math.floor(from + at * stepMs);
      const { record, json } = templates[at % templates.length] as Template;
      const key = (at * 7_919) % active;
      const names = {
        id: `${lowestIdAt("gen", createdAt)}${String(at).padStart(16, "0")}`,
        account: userOf(key % users),
        key: keyOf(key),
      };
      insert.run(
        ...[names.id, createdAt, names.account, names.key, record.costNanodollars, createdAt + 4_000],
        ...[record.outcome, json(names, createdAt), record.model, record.provider, record.error ?? ""],
      );
    }
  });
  for (let at = 0; at < generations; at += AT_ONCE) add(at, Math.min(generations, at + AT_ONCE));
}

interface Template {
  readonly record: UsageRecord;
  /** Returns the JSON of the record with other ids and times. */
  readonly json: (names: { id: string; account: string; key: string }, createdAt: number) => string;
}

function makeTemplates(until: number): readonly Template[] {
  const keys = [{ keyId: "key_@", accountId: "user_@", userId: null, weight: 1 }];
  return seedGenerations({ keys, count: RECORDS, until, spanMs: HOUR_MS, seed: 7 }).map((record) => {
    const text = JSON.stringify(record);
    const parts = text.split(new RegExp(`(${record.id}|user_@|key_@|"createdAt":${record.createdAt})`));
    const json: Template["json"] = (names, createdAt) => {
      const values: Readonly<Record<string, string>> = {
        [record.id]: names.id,
        "user_@": names.account,
        "key_@": names.key,
        [`"createdAt":${record.createdAt}`]: `"createdAt":${createdAt}`,
      };
      return parts.map((part) => values[part] ?? part).join("");
    };
    return { record, json };
  });
}

/** A purchase for each account with generations, a transfer for each cost, and the balances. */
function addCharges(database: Database): void {
  database.exec(`INSERT INTO transfers (id, kind, from_account, to_account, amount, created_at)
    SELECT 'purchase:' || account_id, 'purchase', '${PLATFORM_ACCOUNT}', account_id, 1000000000000000, 0
    FROM (SELECT DISTINCT account_id FROM generations)`);
  database.exec(`INSERT INTO transfers (id, kind, from_account, to_account, amount, created_at)
    SELECT id, 'usage', account_id, '${PLATFORM_ACCOUNT}', cost, created_at FROM generations WHERE cost > 0 ORDER BY id`);
  database.exec(`INSERT INTO balances (account_id, amount, credited, version)
    SELECT from_account, 1000000000000000 - sum(amount), 1000000000000000, 1 FROM transfers
    WHERE kind = 'usage' GROUP BY from_account`);
}

/** The sums of usage, by hour from `firstHourly` on. */
function addSums(database: Database, firstHourly: number): void {
  const counters = Object.values(COUNTER_COLUMNS).map((name) => {
    if (name === "requests") return "count(*)";
    return name === "cost" || name === "upstream_cost"
      ? "sum(cost)"
      : name.endsWith("tokens")
        ? "count(*) * 100"
        : "0";
  });
  const day = `created_at / ${DAY_MS}`;
  database.exec(`INSERT INTO usage_sums (account_id, day, key_id, user_id, model, provider, hour, outcome,
      ${Object.values(COUNTER_COLUMNS).join(", ")})
    SELECT account_id, ${day}, key_id, '', model, provider,
      CASE WHEN ${day} < ${firstHourly} THEN -1 ELSE created_at % ${DAY_MS} / ${HOUR_MS} END, outcome, ${counters.join(", ")}
    FROM generations GROUP BY 1, 2, 3, 5, 6, 7, 8`);
  const buckets = [...LATENCY_COLUMNS, ...DURATION_COLUMNS];
  database.exec(`INSERT INTO usage_times (account_id, day, key_id, user_id, model, provider, hour, outcome, ${buckets.join(", ")})
    SELECT account_id, day, key_id, user_id, model, provider, hour, outcome,
      ${buckets.map((name) => (name.endsWith("_12") ? "requests" : "0")).join(", ")} FROM usage_sums`);
}
