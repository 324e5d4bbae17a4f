import type { VendorError } from "../../conversation/errors/vendor-error.ts";
import type { AnswerEvent, PartDelta } from "../model/answer.ts";
import type { Part } from "../model/parts.ts";

/** Collects the events that a reader makes of an upstream's stream, up to its error if it fails. */
export class AnswerEmitter {
  /** Whether the vendor's end marker has arrived. Set by `end`. */
  isDone = false;
  /** Why the stream cannot be read any further; null while it can. Set by `fail`. */
  error: VendorError | null = null;
  private events: AnswerEvent[] = [];
  private hasEmittedError = false;

  /** Adds an event. Ignored once the stream has failed. */
  emit(event: AnswerEvent): void {
    if (this.error === null) this.events.push(event);
  }

  /** Ends the stream at the vendor's end marker. */
  end(): void {
    this.isDone = true;
  }

  /** Ends the stream with an error. Only the first error counts. */
  fail(error: VendorError): void {
    this.error ??= error;
  }

  /** Returns the events since the last call; after a failure its error is the last of them. */
  take(): readonly AnswerEvent[] {
    const { events, error } = this;
    this.events = [];
    if (error !== null && !this.hasEmittedError) {
      this.hasEmittedError = true;
      events.push({ kind: "error", error });
    }
    return events;
  }
}

/** Emits the parts of one choice and numbers them in the order in which they start. */
export class PartEmitter {
  private nextIndex = 0;

  constructor(
    private readonly emitter: AnswerEmitter,
    private readonly choice = 0,
  ) {}

  /** Whether a part has started. */
  get hasParts(): boolean {
    return this.nextIndex > 0;
  }

  /** Starts a part and returns its index. */
  open(part: Part): number {
    const at = this.nextIndex++;
    this.emitter.emit({ kind: "part-start", choice: this.choice, at, part });
    return at;
  }

  /** Appends to an open part. Does nothing for an empty text. */
  append(at: number, delta: PartDelta): void {
    if ("text" in delta && delta.text === "") return;
    this.emitter.emit({ kind: "part-delta", choice: this.choice, at, delta });
  }

  /** Ends an open part. */
  close(at: number): void {
    this.emitter.emit({ kind: "part-end", choice: this.choice, at });
  }

  /** Starts and ends a part that came whole. */
  emitWhole(part: Part): void {
    this.close(this.open(part));
  }
}
