import { PassingMap } from "../../base/passing-map.ts";
import type { Journal, JournalPosition } from "./journal.ts";
import { readUsage } from "./journal-entry.ts";
import type { RecordEntry } from "./records.ts";

/** Records that wait in memory besides the journal: more than a busy gateway writes between two saves. */
const MAX_IN_MEMORY = 2_000;

/** A record in the journal that the store does not have. */
export interface WaitingRecord {
  readonly id: string;
  readonly at: JournalPosition;
  /** When this version was written. Milliseconds since the epoch. */
  readonly writtenAt: number;
  /** Null if only the journal has it. */
  readonly entry: RecordEntry | null;
}

/**
 * The records that the journal has and the store does not, in the order of the journal. The first ones are also in memory; of a
 * longer backlog only the positions are.
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

  /** Adds a record that was appended at a position, instead of an earlier version. */
  add(entry: RecordEntry, { at, writtenAt }: Pick<WaitingRecord, "at" | "writtenAt">): void {
    const { id } = entry.record;
    this.delete(id);
    const isKept = this.inMemory < MAX_IN_MEMORY;
    if (isKept) this.inMemory += 1;
    this.records.set(id, { id, at, writtenAt, entry: isKept ? entry : null });
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
    for (const waiting of saved) if (this.records.get(waiting.id) === waiting) this.delete(waiting.id);
  }

  /** Returns a record that waits; null if none with this id does, or if it is damaged. @throws Error if the journal cannot be read. */
  find(id: string): RecordEntry | null {
    const waiting = this.records.get(id);
    return waiting === undefined ? null : this.read(waiting);
  }

  /** Returns a waiting record from memory or from the journal; null if it is damaged. @throws Error if the journal cannot be read. */
  read({ entry, at }: WaitingRecord): RecordEntry | null {
    if (entry !== null) return entry;
    const record = readUsage(this.journal, at);
    return record === null ? null : { record, json: JSON.stringify(record) };
  }

  private delete(id: string): void {
    const waiting = this.records.get(id);
    if (waiting === undefined) return;
    this.records.delete(id);
    if (waiting.entry !== null) this.inMemory -= 1;
  }
}
