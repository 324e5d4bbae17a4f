import { systemClock } from "../../src/base/clock.ts";
import { createIdSource } from "../../src/base/ids.ts";
import { createSystemRandom } from "../../src/base/random.ts";
import type { RecordEntry, UsageRecord } from "../../src/core/usage/records.ts";
import type { Postgres } from "../../src/storage/postgres/client.ts";
import { PostgresUsageStore } from "../../src/storage/postgres/usage-store.ts";
import { exampleRecord } from "./example-record.ts";
import { readServerUs } from "./server-time.ts";

/** What saving a record costs, in groups of a size. */
export interface SaveFigure {
  readonly group: number;
  /** Microseconds of processor time for each record: of this process, and of all processes of the server. */
  readonly clientUs: number;
  readonly serverUs: number;
  /** Milliseconds for each group. */
  readonly groupMs: number;
}

const RECORDS = 20_000;
const ACCOUNTS = 500;

/** Measures what it costs to save records that have ended, of 500 accounts with two keys each. */
export async function measureSave(database: Postgres): Promise<readonly SaveFigure[]> {
  const store = new PostgresUsageStore({ database });
  const ids = createIdSource(systemClock, createSystemRandom());
  await saveMany(store, () => createEntry(ids.next("gen"), 0), { records: 1_000, group: 100 });
  const figures: SaveFigure[] = [];
  for (const group of [10, 100, 1_000]) {
    let made = 0;
    const create = () => createEntry(ids.next("gen"), made++);
    // Records are created before the measurement.
    const entries = Array.from({ length: RECORDS }, create);
    const server = await readServerUs(database);
    const client = process.cpuUsage();
    const begun = performance.now();
    for (let at = 0; at < RECORDS; at += group) await store.saveUsage(entries.slice(at, at + group));
    const ms = performance.now() - begun;
    const { user, system } = process.cpuUsage(client);
    figures.push({
      group,
      clientUs: (user + system) / RECORDS,
      serverUs: ((await readServerUs(database)) - server) / RECORDS,
      groupMs: (ms * group) / RECORDS,
    });
  }
  return figures;
}

async function saveMany(
  store: PostgresUsageStore,
  create: () => RecordEntry,
  { records, group }: { readonly records: number; readonly group: number },
): Promise<void> {
  for (let at = 0; at < records; at += group) await store.saveUsage(Array.from({ length: group }, create));
}

function createEntry(id: string, n: number): RecordEntry {
  const account = (n * 7919) % ACCOUNTS;
  const record: UsageRecord = {
    ...exampleRecord(systemClock.now()),
    id,
    accountId: `user_${account}`,
    userId: `user_${account}`,
    keyId: `key_${account}_${n % 2}`,
  };
  return { record, json: JSON.stringify(record) };
}
