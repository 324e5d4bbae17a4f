import { asFields, type Fields } from "../../base/json/fields.ts";
import { parseJson } from "../../base/json/parse-json.ts";
import { decodeUtf8 } from "../../base/json/scan.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { AnswerEmitter } from "../canonical/answer/answer-emitter.ts";
import { EventReader } from "../canonical/answer/event-reader.ts";
import type { AnswerEvent } from "../canonical/model/answer.ts";
import type { AnswerReader } from "../canonical/model/format.ts";
import { findVendorError } from "../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import { ResponseReader } from "./read-response.ts";

/** Returns a reader of a stream of `alt=sse`, in which each event is a `GenerateContentResponse`. */
export function createReader(): AnswerReader {
  return new StreamReader();
}

/**
 * Google sends no end marker, so a candidate that has finished is closed at the end of the stream. Hosts that send `[DONE]` may
 * leave the finish reason out.
 */
class StreamReader implements AnswerReader {
  readonly signsTexts = true;
  private readonly emitter = new AnswerEmitter();
  private readonly responses = new ResponseReader(this.emitter);
  private readonly events: EventReader;
  /** The stream up to its first event, which may be an error that is not an event; null from then on. */
  private head: string | null = "";

  constructor() {
    this.events = new EventReader(this.emitter, {
      parse: parseResponse,
      readEvent: (response) => {
        this.head = null;
        this.responses.read(response);
      },
      readDone: () => this.responses.end(this.countSoFar() !== null),
      readEnd: () => this.readEnd(),
    });
  }

  get isDone(): boolean {
    return this.events.isDone;
  }

  step(piece: string): readonly AnswerEvent[] {
    if (this.head !== null && this.head.length < BOUNDS.errorBodyBytes) this.head += piece;
    return this.events.step(piece);
  }

  end(): readonly AnswerEvent[] {
    return this.events.end();
  }

  countSoFar(): TokenUsage | null {
    return this.responses.countSoFar();
  }

  private readEnd(): void {
    const body = this.head === null ? null : parseResponse(this.head);
    const error = body === null ? null : findVendorError(body);
    if (error === null) this.responses.end(false);
    else this.emitter.fail(error);
  }
}

/** Parses an object, or the first of a list, which Google wraps errors in; null for anything else. */
function parseResponse(latin1: string): Fields | null {
  try {
    const value: unknown = parseJson(decodeUtf8(latin1));
    return asFields(Array.isArray(value) ? value[0] : value);
  } catch {
    return null;
  }
}
