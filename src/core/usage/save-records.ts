import { RejectedRecordError } from "../../base/store-error.ts";
import type { RecordEntry, UsageRecord } from "./records.ts";
import type { UsageStore } from "./usage-store.ts";

/** A record that the store rejects, and why. */
export interface Quarantined {
  readonly record: UsageRecord;
  readonly reason: string;
}

type Store = Pick<UsageStore, "saveUsage" | "quarantineUsage">;

/**
 * Saves records. Those that the store rejects for their content go to quarantine and keep no other record from the store; gives
 * them. Rejects, with some saved and some not, where the store is away; all may be saved again.
 */
export async function saveRecords(
  store: Store,
  entries: readonly RecordEntry[],
  now: number,
): Promise<readonly Quarantined[]> {
  const { exact = [], inexact = [] } = Object.groupBy(entries, ({ record }) =>
    isExact(record) ? "exact" : "inexact",
  );
  const quarantine = async (entry: RecordEntry, reason: string): Promise<Quarantined> => {
    await store.quarantineUsage(entry, reason, now);
    return { record: entry.record, reason };
  };
  const quarantined = exact.length === 0 ? [] : await saveInHalves(store, exact, quarantine);
  for (const entry of inexact) quarantined.push(await quarantine(entry, INEXACT));
  return quarantined;
}

const INEXACT = "its cost is no exact number of nanodollars";

/** A database may take an amount that is none, and round it. The largest exact one stands for all that are larger. */
function isExact({ costNanodollars: cost, upstreamCostNanodollars: list }: UsageRecord): boolean {
  return [cost, list].every(
    (amount) => amount === undefined || (Number.isSafeInteger(amount) && amount < Number.MAX_SAFE_INTEGER),
  );
}

/** Where the store rejects a group it is saved in halves, until those at fault are alone. */
async function saveInHalves(
  store: Store,
  entries: readonly RecordEntry[],
  quarantine: (entry: RecordEntry, reason: string) => Promise<Quarantined>,
): Promise<Quarantined[]> {
  try {
    await store.saveUsage(entries);
    return [];
  } catch (error) {
    if (!(error instanceof RejectedRecordError)) throw error;
    const [entry, ...others] = entries;
    if (entry === undefined) return [];
    if (others.length === 0) return [await quarantine(entry, error.message)];
    const half = entries.length >> 1;
    const first = await saveInHalves(store, entries.slice(0, half), quarantine);
    return [...first, ...(await saveInHalves(store, entries.slice(half), quarantine))];
  }
}
