import { priceWhole } from "../../catalog/prices/price-usage.ts";
import { isFreeId } from "../../catalog/records/is-free-id.ts";
import type { AdvisorRecord, RecordEntry, UsageRecord } from "../records/records.ts";
import type { UsageStore } from "../reports/usage-store.ts";
import type { Journal, JournalPosition } from "./journal.ts";
import { decodeJournalEntry, readUsage } from "./journal-entry.ts";
import { type Quarantined, saveRecords } from "./save-records.ts";

/**
 * Ends the record of a generation whose gateway died. If an answer had begun, what was produced is charged, as for a broken stream, up to
 * what was held for it. Otherwise the client saw nothing and pays nothing.
 */
function interrupt(
  left: UsageRecord,
  { gatewayId, now }: Pick<RecoveryParts, "gatewayId" | "now">,
): UsageRecord {
  const ended = {
    ...left,
    // The leases of this gateway do not cover the spending of another one.
    leasedFrom: left.lease?.gatewayId === gatewayId ? left.leasedFrom : undefined,
    outcome: "interrupted",
    estimated: true,
    finishedAt: now,
    lease: undefined,
  } as const;
  if (left.prices === null || left.firstTokenAt === null) return { ...ended, ...NO_COST };
  const list = priceListed(left);
  const hasTariff = left.listPrices !== undefined;
  const isFree = (left.isByok && !hasTariff) || left.model === null || isFreeId(left.model);
  const owed = hasTariff ? price(left, left.prices, left.advisors ?? []) : list;
  return {
    ...ended,
    costNanodollars: isFree ? 0 : Math.min(owed, left.heldNanodollars ?? owed),
    upstreamCostNanodollars: list,
  };
}

function priceListed(left: UsageRecord): number {
  const advisors = (left.advisors ?? []).map((advisor) => ({
    ...advisor,
    prices: advisor.listPrices === undefined ? advisor.prices : advisor.listPrices,
  }));
  return price(left, left.listPrices === undefined ? left.prices : left.listPrices, advisors);
}

/** Returns NaN for counts that cannot be priced: the store quarantines such a record. */
function price(left: UsageRecord, prices: UsageRecord["prices"], advisors: readonly AdvisorRecord[]): number {
  try {
    return priceWhole({ prices, usage: left, advisors });
  } catch {
    return Number.NaN;
  }
}

const NO_COST = { prices: null, costNanodollars: 0, upstreamCostNanodollars: 0 } as const;

/** The result of a recovery. */
export interface Recovery {
  /** Records of the journal that were saved in the store. */
  readonly brought: number;
  /** Open records that were ended. */
  readonly interrupted: number;
  /** Kinds of journal entries that this version cannot read. They stay in the journal for a version that can. */
  readonly unknown: readonly string[];
  /** Records that the store rejects. */
  readonly quarantined: readonly Quarantined[];
}

/** The dependencies of a recovery. */
interface RecoveryParts {
  readonly journal: Journal;
  readonly store: UsageStore;
  /** The recovering gateway, under the id that it had before it died. It has not admitted a request yet. */
  readonly gatewayId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The number of records that are saved together. */
const GROUP = 500;

/**
 * Recovers what a gateway left when it died: saves the records of its journal in the store, and ends the open records that no gateway runs
 * any more. Records of running gateways are not touched. Memory holds the positions of the journal's records and one group of them,
 * whatever the size of the journal.
 */
export async function recoverUsage(parts: RecoveryParts): Promise<Recovery> {
  const { journal, store, gatewayId, now } = parts;
  const { brought, unknown, quarantined } = await saveJournal(parts);
  const abandoned = await store.findAbandonedUsage(gatewayId, now);
  const ended = abandoned.map((record) => toEntry(interrupt(record, parts)));
  const rejected = [...quarantined];
  for (const group of groupsOf(ended)) rejected.push(...(await saveRecords(store, group, now)));
  journal.skipped([...unknown.keys()]);
  journal.release(journal.mark());
  return {
    brought,
    interrupted: abandoned.length,
    unknown: [...unknown.values()],
    quarantined: rejected,
  };
}

/** The result of `saveJournal`. */
interface SavedJournal extends Pick<Recovery, "brought" | "quarantined"> {
  /** The kinds of the entries that this version cannot read, by entry. */
  readonly unknown: ReadonlyMap<string, string>;
}

/**
 * Saves the latest version of each record of a journal in the store. Open records stay open, and the journal keeps its entries. A
 * record that the store has in a later version does not change.
 */
export async function saveJournal(
  parts: Pick<RecoveryParts, "journal" | "store" | "now">,
): Promise<SavedJournal> {
  const { latest, unknown } = readJournal(parts.journal);
  const quarantined = await saveLatest(parts, [...latest.values()].sort(byPosition));
  return { brought: latest.size, unknown, quarantined };
}

/** Reads the position of the latest version of each record, and the kinds of the entries that this version cannot read, by entry. */
function readJournal(journal: Journal) {
  const latest = new Map<string, JournalPosition>();
  const unknown = new Map<string, string>();
  for (const { at, entry } of journal.recover()) {
    const read = decodeJournalEntry(entry);
    if (read.kind === "usage") latest.set(read.record.id, at);
    else unknown.set(entry, read.name);
  }
  return { latest, unknown };
}

async function saveLatest(
  { journal, store, now }: Pick<RecoveryParts, "journal" | "store" | "now">,
  positions: readonly JournalPosition[],
): Promise<Quarantined[]> {
  const quarantined: Quarantined[] = [];
  for (const group of groupsOf(positions)) {
    const records = group.map((at) => readUsage(journal, at)).filter((record) => record !== null);
    quarantined.push(...(await saveRecords(store, records.map(toEntry), now)));
  }
  return quarantined;
}

function* groupsOf<Item>(items: readonly Item[]): Iterable<readonly Item[]> {
  for (let from = 0; from < items.length; from += GROUP) yield items.slice(from, from + GROUP);
}

function byPosition(a: JournalPosition, b: JournalPosition): number {
  return a - b;
}

function toEntry(record: UsageRecord): RecordEntry {
  return { record, json: JSON.stringify(record) };
}
