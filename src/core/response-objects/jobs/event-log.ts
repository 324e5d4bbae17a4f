import { fields, LEAF, numberOf, scanJson } from "../../../base/json/scan.ts";
import type { Clock, Timer } from "../../../base/time/clock.ts";
import type { EventGroup } from "../records/response-object.ts";
import type { ResponseStore, Run } from "../records/response-store.ts";
import type { ObjectSeal } from "../records/seal-object.ts";

/** How long events are gathered before they are written, and how long a failed write waits for the next try. Milliseconds. */
const GATHER_MS = 250;
const RETRY_MS = 1_000;
/** A group is written at once when its events have this size. Characters. */
const GROUP_CHARS = 64 * 1024;

const EVENT = fields({ sequence_number: LEAF });
const BLANK_LINE = "\n\n";

/** Returns the sequence number of an event, which is bytes as Latin-1; null if it has none. */
export function sequenceOf(event: string): number | null {
  const from = event.indexOf("data: ");
  if (from < 0) return null;
  const data = event.slice(from + "data: ".length);
  return numberOf(data, scanJson(data, EVENT).fields.sequence_number) ?? null;
}

/** Splits a text of whole events. Each event ends with a blank line. */
export function splitEvents(text: string): readonly string[] {
  return text
    .split(BLANK_LINE)
    .slice(0, -1)
    .map((event) => event + BLANK_LINE);
}

/** What writing the events of a response needs. */
interface EventLogDeps {
  readonly store: Pick<ResponseStore, "addEvents">;
  readonly clock: Clock;
  readonly seal: ObjectSeal;
  readonly run: Run;
  /** Called after events were written. */
  readonly onWritten: () => void;
  /** Called when the response does not run here any more, so that no events are written. */
  readonly onLost: () => void;
}

/** Writes the events of a running response in groups, so that every gateway can read them. */
export class EventLog {
  private gathered: string[] = [];
  private chars = 0;
  private first: number | null = null;
  private last = -1;
  private madeBytes = 0;
  /** Ends the group that is gathered, or repeats a failed write. */
  private timer: Timer | null = null;
  /** The groups that are not written yet. Their number is bounded by the answer's length. */
  private readonly waiting: EventGroup[] = [];
  private writing: Promise<void> | null = null;

  constructor(private readonly deps: EventLogDeps) {}

  /** Adds whole events, which are bytes as Latin-1. Those without a number, such as keep-alives, are not kept. */
  add(events: string): void {
    for (const event of splitEvents(events)) this.addOne(event);
  }

  private addOne(event: string): void {
    const sequence = sequenceOf(event);
    if (sequence === null) return;
    this.first ??= sequence;
    this.last = sequence;
    this.gathered.push(event);
    this.chars += event.length;
    if (this.chars >= GROUP_CHARS) this.writeSoon();
    else this.timer ??= this.deps.clock.after(GATHER_MS, () => this.writeSoon());
  }

  /** The number of the last event; -1 before the first. */
  get lastSequence(): number {
    return this.last;
  }

  /** The size of all groups that were made so far. */
  get bytes(): number {
    return this.madeBytes;
  }

  /** Resolves when everything is written. Rejects with a `StoreError`; the next call then continues. */
  async flush(): Promise<void> {
    this.endGroup();
    while (this.waiting.length > 0) await this.write();
  }

  /** Writes what was gathered and what waits, without anyone who waits for it. What fails is tried again later. */
  private writeSoon(): void {
    this.endGroup();
    this.write().catch(() => {
      this.timer ??= this.deps.clock.after(RETRY_MS, () => this.writeSoon());
    });
  }

  private endGroup(): void {
    this.timer?.cancel();
    this.timer = null;
    const { first, last, gathered } = this;
    if (first === null) return;
    [this.gathered, this.chars, this.first] = [[], 0, null];
    const ciphertext = this.deps.seal.sealLatin1(gathered.join(""));
    this.madeBytes += ciphertext.length;
    this.waiting.push({ first, last, ciphertext });
  }

  /** Writes the groups that wait, also those that are added meanwhile. One write runs at a time. */
  private write(): Promise<void> {
    this.writing ??= this.writeWaiting().finally(() => {
      this.writing = null;
    });
    return this.writing;
  }

  private async writeWaiting(): Promise<void> {
    const { store, run, onWritten, onLost } = this.deps;
    while (this.waiting.length > 0) {
      const groups = [...this.waiting];
      const isHere = await store.addEvents(run, groups);
      this.waiting.splice(0, groups.length);
      if (isHere) onWritten();
      else onLost();
    }
  }
}
