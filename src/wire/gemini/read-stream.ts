import { BOUNDS } from "../../base/bounds.ts";
import type { AnswerEvent } from "../canonical/answer.ts";
import type { AnswerReader } from "../canonical/format.ts";
import { brokenAnswer, findVendorError } from "../conversation/vendor-error.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { parseJson } from "../json/parse-json.ts";
import { decodeUtf8 } from "../json/scan.ts";
import { EventSplitter, EventTooLargeError, type OnEvent } from "../sse/split-events.ts";
import { createResponseReader } from "./read-response.ts";

/**
 * Reads a stream of `alt=sse`: each event is a `GenerateContentResponse`. Google sends no end marker, so a candidate that has
 * finished is closed when the stream ends. Hosts that put `[DONE]` there may leave the reason to finish out.
 */
export function createReader(): AnswerReader {
  const splitter = new EventSplitter(BOUNDS.eventBytes);
  const reader = createResponseReader();
  let out: AnswerEvent[] = [];
  let isFailed = false;
  let isDone = false;
  /** What came before any event: Google may answer with an error that is no stream. Null once there was one. */
  let head: string | null = "";

  const add = (events: readonly AnswerEvent[]): void => {
    for (const event of events) {
      if (isFailed) return;
      out.push(event);
      isFailed = event.kind === "error";
    }
  };

  const onEvent: OnEvent = (text, start, end) => {
    if (isFailed || isDone) return;
    head = null;
    if (text.startsWith(DONE, start)) {
      isDone = true;
      add(reader.end(reader.countSoFar() !== null));
      return;
    }
    const response = parse(text.slice(start, end));
    add(
      response === null ? [broken("an event of the upstream's stream is not JSON")] : reader.step(response),
    );
  };

  const split = (run: () => void): readonly AnswerEvent[] => {
    out = [];
    try {
      if (!isFailed) run();
    } catch (error) {
      if (!(error instanceof EventTooLargeError)) throw error;
      add([broken("an event of the upstream's stream is too large")]);
    }
    return out;
  };

  return {
    get isDone() {
      return isDone;
    },
    signsTexts: true,
    countSoFar: reader.countSoFar,
    step: (piece) =>
      split(() => {
        if (head !== null && head.length < BOUNDS.errorBodyBytes) head += piece;
        splitter.push(piece, onEvent);
      }),
    end: () =>
      split(() => {
        splitter.end(onEvent);
        if (isDone) return;
        const body = head === null ? null : parse(head);
        const error = body === null ? null : findVendorError(body);
        add(error === null ? reader.end(false) : [{ kind: "error", error }]);
      }),
  };
}

const DONE = "[DONE]";

/** One object, or the first of a list: Google wraps errors in one. */
function parse(latin1: string): Fields | null {
  try {
    const value: unknown = parseJson(decodeUtf8(latin1));
    return asFields(Array.isArray(value) ? value[0] : value);
  } catch {
    return null;
  }
}

function broken(message: string): AnswerEvent {
  return { kind: "error", error: brokenAnswer(message) };
}
