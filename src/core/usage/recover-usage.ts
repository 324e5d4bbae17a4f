import { isFreeId } from "../catalog/is-free-id.ts";
import { priceWhole } from "../catalog/price-usage.ts";
import type { Journal } from "./journal.ts";
import { decodeJournalEntry } from "./journal-entry.ts";
import type { RecordEntry, UsageRecord } from "./records.ts";
import { type Quarantined, saveRecords } from "./save-records.ts";
import type { UsageStore } from "./usage-store.ts";

/**
 * The record of a generation that its process died under. What had been produced is charged, as for a stream that broke
 * off, and no more than was held for it; of what nothing had been produced yet the client saw nothing, and pays nothing.
 */
function interrupt(left: UsageRecord, now: number): UsageRecord {
  const ended = { ...left, outcome: "interrupted", estimated: true, finishedAt: now } as const;
  if (left.prices === null || left.firstTokenAt === null) return { ...ended, ...NO_COST };
  const list = price(left);
  const isFree = left.isByok || left.model === null || isFreeId(left.model);
  return {
    ...ended,
    costNanodollars: isFree ? 0 : Math.min(list, left.heldNanodollars ?? list),
    upstreamCostNanodollars: list,
  };
}

/** No amount for counts that cannot be priced: such a record is quarantined. */
function price(left: UsageRecord): number {
  try {
    return priceWhole({ prices: left.prices, usage: left, advisors: left.advisors ?? [] });
  } catch {
    return Number.NaN;
  }
}

const NO_COST = { prices: null, costNanodollars: 0, upstreamCostNanodollars: 0 } as const;

/** What settling came to. */
export interface Recovery {
  /** Records that were brought over to the store. */
  readonly brought: number;
  /** Records that were open. */
  readonly interrupted: number;
  /** Kinds of entries that this version does not know. They stay in the journal for one that does. */
  readonly unknown: readonly string[];
  /** Records that the store rejects. */
  readonly quarantined: readonly Quarantined[];
}

/**
 * Settles what an earlier process left: records in its journal go to the store, and whatever is still open there was
 * cut short by its death.
 */
export async function recoverUsage(journal: Journal, store: UsageStore, now: number): Promise<Recovery> {
  const latest = new Map<string, RecordEntry>();
  /** Kinds by entry: one that was set aside may stand in the files too. */
  const unknown = new Map<string, string>();
  for (const text of journal.recover()) {
    const read = decodeJournalEntry(text);
    if (read.kind === "usage") latest.set(read.entry.record.id, read.entry);
    else unknown.set(text, read.name);
  }
  const quarantined = latest.size === 0 ? [] : await saveRecords(store, [...latest.values()], now);
  const open = await store.findOpenUsage();
  const left =
    open.length === 0
      ? []
      : await saveRecords(
          store,
          open.map((one) => end(one, now)),
          now,
        );
  journal.skipped([...unknown.keys()]);
  journal.release(journal.mark());
  return {
    brought: latest.size,
    interrupted: open.length,
    unknown: [...unknown.values()],
    quarantined: [...quarantined, ...left],
  };
}

function end(left: UsageRecord, now: number): RecordEntry {
  const record = interrupt(left, now);
  return { record, json: JSON.stringify(record) };
}
