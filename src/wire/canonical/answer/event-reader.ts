import { type Fields, tryParseLatin1 } from "../../../base/json/fields.ts";
import type { SplitEvent } from "../../../base/sse/split-events.ts";
import { EVENT_NOT_JSON } from "../../conversation/errors/broken-answers.ts";
import type { VendorError } from "../../conversation/errors/vendor-error.ts";
import type { AnswerEvent } from "../model/answer.ts";
import type { AnswerReader } from "../model/format.ts";
import type { AnswerEmitter } from "./answer-emitter.ts";
import { DONE_MARKER, EventStream } from "./event-stream.ts";

/** Handles the events of a format's streams. Its results go to the reader's `AnswerEmitter`. */
export interface EventHandler {
  /** Reads one event; `name` is "" if the vendor sent none. */
  readEvent(event: Fields, name: string): void;
  /** Reads `[DONE]`, which ends the stream. Formats without this function ignore it. */
  readDone?(): void;
  /** Completes an answer whose stream ended without an end marker. */
  readEnd?(): void;
  /** Whether the whole answer has arrived. An incomplete event after the whole answer is then ignored. */
  isWhole?(): boolean;
  /**
   * Parses the data of an event, bytes as Latin-1. Returns null if the format does not expect such data. By default, parses a JSON object.
   */
  parse?(data: string): Fields | null;
}

/** Reads a stream of JSON events: splits, parses and passes them to the format's handler. */
export class EventReader extends EventStream implements AnswerReader {
  private hasEnded = false;

  constructor(
    private readonly emitter: AnswerEmitter,
    private readonly handler: EventHandler,
  ) {
    super();
  }

  get isDone(): boolean {
    return this.emitter.isDone;
  }

  get error(): VendorError | null {
    return this.emitter.error;
  }

  step(piece: string): readonly AnswerEvent[] {
    this.readPiece(piece);
    return this.emitter.take();
  }

  end(): readonly AnswerEvent[] {
    this.hasEnded = true;
    this.readEnd();
    if (!this.isDone && this.error === null) this.handler.readEnd?.();
    return this.emitter.take();
  }

  protected fail(error: VendorError): void {
    this.emitter.fail(error);
  }

  protected readEvent({ text, start, end, name }: SplitEvent): void {
    if (text.startsWith(DONE_MARKER, start)) {
      this.readDone();
      return;
    }
    const data = text.slice(start, end);
    const event = this.handler.parse?.(data) ?? tryParseLatin1(data);
    if (event !== null) this.handler.readEvent(event, name);
    else if (!this.hasEnded || !this.handler.isWhole?.()) this.emitter.fail(EVENT_NOT_JSON);
  }

  private readDone(): void {
    if (this.handler.readDone === undefined) return;
    this.emitter.end();
    this.handler.readDone();
  }
}
