import { RejectedRecordError } from "../../../base/failures/store-error.ts";
import type { RecordEntry, UsageRecord } from "../records/records.ts";
import type { UsageStore } from "../reports/usage-store.ts";

/** A record that the store rejects, and why. */
export interface Quarantined {
  readonly record: UsageRecord;
  readonly reason: string;
}

type Store = Pick<UsageStore, "saveUsage" | "quarantineUsage">;

/**
 * Saves records, and returns those that the store rejects because of their content. They are quarantined and do not prevent other records
 * from being saved. Rejects if the store is unavailable; some records may be saved then, and saving all of them again is safe.
 */
export async function saveRecords(
  store: Store,
  entries: readonly RecordEntry[],
  now: number,
): Promise<readonly Quarantined[]> {
  const inexact = entries.filter(({ record }) => !isExact(record));
  const exact = inexact.length === 0 ? entries : entries.filter(({ record }) => isExact(record));
  const quarantine = async (entry: RecordEntry, reason: string): Promise<Quarantined> => {
    await store.quarantineUsage(entry, reason, now);
    return { record: entry.record, reason };
  };
  const quarantined = exact.length === 0 ? [] : await saveInHalves(store, exact, quarantine);
  for (const entry of inexact) quarantined.push(await quarantine(entry, INEXACT));
  return quarantined;
}

const INEXACT = "its cost is not an exact number of nanodollars";

/** Returns whether the costs are exact integers: a database may accept others and round them. */
function isExact({ costNanodollars, upstreamCostNanodollars }: UsageRecord): boolean {
  return isExactAmount(costNanodollars) && isExactAmount(upstreamCostNanodollars);
}

/** Records of earlier versions may lack an amount. The largest exact integer may be the limit of a larger one. */
function isExactAmount(amount: number | undefined): boolean {
  return amount === undefined || (Number.isSafeInteger(amount) && amount < Number.MAX_SAFE_INTEGER);
}

/** Saves a group. If the store rejects it, saves it in halves, until each rejected record is alone. */
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
