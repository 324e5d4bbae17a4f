import { PassingMap } from "../../../base/collections/passing-map.ts";
import type { RecordEntry, UsageRecord } from "../records/records.ts";
import type { Journal, JournalPosition } from "./journal.ts";
import { readUsage } from "./journal-entry.ts";

/** The number of waiting records that are also in memory: more than a busy gateway writes between two saves. */
const MAX_IN_MEMORY = 2_000;

/** A record in the journal that the store does not have. Record and JSON are null if only the journal has them. */
interface WaitingRecord {
  readonly id: string;
  readonly at: JournalPosition;
  /** When this version was written. Milliseconds since the epoch. */
  readonly writtenAt: number;
  readonly record: UsageRecord | null;
  readonly json: string | null;
}

/** A waiting record that is in memory. One object with its entry, because each request has two. */
type WaitingEntry = WaitingRecord & RecordEntry;

/**
 * The records that the journal has and the store does not, in the order of the journal. The first ones are also in memory; for the others
 * only their positions are.
 */
export class Backlog {
  private readonly records = new PassingMap<string, WaitingRecord>();
  private inMemory = 0;

  constructor(private readonly journal: Pick<Journal, "read">) {}

  get size(): number {
    return this.records.size;
  }

  has(id: string): boolean {
    return this.records.has(id);
  }

  /** When the version was written that waits for the longest time; null if none waits. Milliseconds since the epoch. */
  get oldestWrittenAt(): number | null {
    for (const { writtenAt } of this.records.values()) return writtenAt;
    return null;
  }

  /** Adds a record that was appended to the journal, instead of an earlier version. */
  add(added: WaitingEntry): void {
    const { id } = added;
    const earlier = this.records.get(id);
    if (earlier !== undefined) this.delete(earlier);
    const isKept = this.inMemory < MAX_IN_MEMORY;
    if (isKept) this.inMemory += 1;
    this.records.set(id, isKept ? added : { ...added, record: null, json: null });
  }

  /** Returns at most `count` records, the first ones in the journal. */
  first(count: number): readonly WaitingRecord[] {
    const first: WaitingRecord[] = [];
    for (const waiting of this.records.values()) {
      if (first.length >= count) break;
      first.push(waiting);
    }
    return first;
  }

  /** Returns the position of the first record; null if none waits. */
  start(): JournalPosition | null {
    for (const { at } of this.records.values()) return at;
    return null;
  }

  /** Removes records, unless a later version was added in the meantime. */
  remove(saved: readonly WaitingRecord[]): void {
    for (const waiting of saved) if (this.records.get(waiting.id) === waiting) this.delete(waiting);
  }

  /** Returns a record that waits; null if none with this id does, or if it is damaged. @throws Error if the journal cannot be read. */
  find(id: string): RecordEntry | null {
    const waiting = this.records.get(id);
    return waiting === undefined ? null : this.read(waiting);
  }

  /** Returns a waiting record from memory or from the journal; null if it is damaged. @throws Error if the journal cannot be read. */
  read(waiting: WaitingRecord): RecordEntry | null {
    if (isInMemory(waiting)) return waiting;
    const record = readUsage(this.journal, waiting.at);
    return record === null ? null : { record, json: JSON.stringify(record) };
  }

  private delete(waiting: WaitingRecord): void {
    this.records.delete(waiting.id);
    if (isInMemory(waiting)) this.inMemory -= 1;
  }
}

function isInMemory(waiting: WaitingRecord): waiting is WaitingEntry {
  return waiting.record !== null;
}
