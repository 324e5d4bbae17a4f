import { fields, LEAF, numberOf, scanJson } from "../../../base/json/scan.ts";
import type { Clock, Timer } from "../../../base/time/clock.ts";
import type { EventGroup } from "../records/response-object.ts";
import type { ResponseStore } from "../records/response-store.ts";
import type { ObjectSeal } from "../records/seal-object.ts";

/** How long events are gathered before they are written. Milliseconds. */
const GATHER_MS = 250;
/** A group is written at once when its events have this size. Characters. */
const GROUP_CHARS = 64 * 1024;

const EVENT = fields({ sequence_number: LEAF });

/** Returns the sequence number of an event, which is bytes as Latin-1; null if it has none. */
export function sequenceOf(event: string): number | null {
  const from = event.indexOf("data: ");
  if (from < 0) return null;
  const data = event.slice(from + "data: ".length);
  return numberOf(data, scanJson(data, EVENT).fields.sequence_number) ?? null;
}

/** What writing the events of a response needs. */
interface EventLogDeps {
  readonly store: Pick<ResponseStore, "addEvents">;
  readonly clock: Clock;
  readonly seal: ObjectSeal;
  readonly responseId: string;
  /** Called after events were written. */
  readonly onWritten: () => void;
}

/** Writes the events of a running response in groups, so that every gateway can read them. */
export class EventLog {
  private gathered: string[] = [];
  private chars = 0;
  private first: number | null = null;
  private last = -1;
  private writtenBytes = 0;
  private timer: Timer | null = null;
  /** The groups that are not written yet. Their number is bounded by the answer's length. */
  private readonly waiting: EventGroup[] = [];
  private writing: Promise<void> | null = null;

  constructor(private readonly deps: EventLogDeps) {}

  /** Adds an event, which is bytes as Latin-1. Events without a number, such as keep-alives, are not kept. */
  add(event: string): void {
    const sequence = sequenceOf(event);
    if (sequence === null) return;
    this.first ??= sequence;
    this.last = sequence;
    this.gathered.push(event);
    this.chars += event.length;
    if (this.chars >= GROUP_CHARS) this.endGroup();
    else this.timer ??= this.deps.clock.after(GATHER_MS, () => this.endGroup());
  }

  /** The number of the last event; -1 before the first. */
  get lastSequence(): number {
    return this.last;
  }

  /** The size of all groups that were made so far. */
  get bytes(): number {
    return this.writtenBytes;
  }

  /** Resolves when everything is written. Rejects with a `StoreError`; the next call then continues. */
  async flush(): Promise<void> {
    this.endGroup();
    while (this.waiting.length > 0) await this.write();
  }

  private endGroup(): void {
    this.timer?.cancel();
    this.timer = null;
    const { first, last, gathered } = this;
    if (first === null) return;
    [this.gathered, this.chars, this.first] = [[], 0, null];
    const ciphertext = this.deps.seal.sealLatin1(gathered.join(""));
    this.writtenBytes += ciphertext.length;
    this.waiting.push({ responseId: this.deps.responseId, first, last, ciphertext });
    // `flush` writes what cannot be written now.
    this.write().catch(() => {});
  }

  /** Writes the groups that wait. One write runs at a time. */
  private write(): Promise<void> {
    this.writing ??= this.writeWaiting().finally(() => {
      this.writing = null;
    });
    return this.writing;
  }

  private async writeWaiting(): Promise<void> {
    const groups = [...this.waiting];
    await this.deps.store.addEvents(groups);
    this.waiting.splice(0, groups.length);
    this.deps.onWritten();
  }
}
