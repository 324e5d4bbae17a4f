import { createIdSource } from "../../src/base/secrets/ids.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import type { RecordEntry, UsageRecord } from "../../src/core/usage/records/records.ts";
import { TimesRecorder } from "../../src/core/usage/reports/times-recorder.ts";
import type { UsageStore, UsageTimeStore } from "../../src/core/usage/reports/usage-store.ts";
import { exampleRecord } from "./example-record.ts";

type Store = UsageStore & UsageTimeStore;

/** What saving a record costs, in groups of a size. */
interface SaveFigure {
  readonly group: number;
  /** Microseconds of processor time for each record: of this process, and of all processes of the server. */
  readonly clientUs: number;
  readonly serverUs: number;
  /** Milliseconds for each group. */
  readonly groupMs: number;
}

const RECORDS = 20_000;
const ACCOUNTS = 500;

/** Records between two saves of times: those of ten seconds at 1,000 requests a second. */
const TIMED = 10_000;

/** How saving is measured. */
interface SaveMeasurement {
  /** Returns the processor time of a server, in microseconds. */
  readonly readServerUs: () => Promise<number>;
  /** The number of tags of each record. */
  readonly tags: number;
}

/** Measures what it costs to save records that have ended, of 500 accounts with two keys each, and their times. */
export async function measureSave(
  store: Store,
  { readServerUs, tags }: SaveMeasurement,
): Promise<readonly SaveFigure[]> {
  const ids = createIdSource(systemClock, createSystemRandom());
  await saveMany(store, () => createEntry(ids.next("gen"), { n: 0, tags }), { records: 1_000, group: 100 });
  const figures: SaveFigure[] = [];
  for (const group of [10, 100, 1_000]) {
    let made = 0;
    const create = () => createEntry(ids.next("gen"), { n: made++, tags });
    // Records are created before the measurement.
    const entries = Array.from({ length: RECORDS }, create);
    const server = await readServerUs();
    const client = process.cpuUsage();
    const begun = performance.now();
    await saveAll(store, entries, group);
    const ms = performance.now() - begun;
    const { user, system } = process.cpuUsage(client);
    figures.push({
      group,
      clientUs: (user + system) / RECORDS,
      serverUs: ((await readServerUs()) - server) / RECORDS,
      groupMs: (ms * group) / RECORDS,
    });
  }
  return figures;
}

async function saveAll(store: Store, entries: readonly RecordEntry[], group: number): Promise<void> {
  const times = new TimesRecorder({ store, clock: systemClock });
  for (let at = 0; at < entries.length; at += group) {
    const saved = entries.slice(at, at + group);
    await store.saveUsage(saved);
    times.add(saved.map(({ record }) => record));
    if ((at + group) % TIMED === 0) await times.flush();
  }
}

async function saveMany(
  store: Store,
  create: () => RecordEntry,
  { records, group }: { readonly records: number; readonly group: number },
): Promise<void> {
  for (let at = 0; at < records; at += group) await store.saveUsage(Array.from({ length: group }, create));
}

function createEntry(id: string, { n, tags }: { readonly n: number; readonly tags: number }): RecordEntry {
  const account = (n * 7919) % ACCOUNTS;
  const now = systemClock.now();
  const record: UsageRecord = {
    ...exampleRecord(now),
    firstTokenAt: now + 200 + ((n * 37) % 3_000),
    finishedAt: now + 4_000 + ((n * 91) % 30_000),
    id,
    accountId: `user_${account}`,
    userId: `user_${account}`,
    keyId: `key_${account}_${n % 2}`,
    ...(tags === 0 ? {} : { tags: listTags(n, tags) }),
  };
  return { record, json: JSON.stringify(record) };
}

/** Returns `count` tags of the generation number `n`: one that all have, and then names of 40 jobs. */
export function listTags(n: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => (at === 0 ? "team" : `job-${(n + at) % 40}`));
}
