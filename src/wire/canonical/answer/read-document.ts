import { asFields, tryParseFields } from "../../../base/json/fields.ts";
import { parseJson } from "../../../base/json/parse-json.ts";
import { decodeUtf8, encodeLatin1 } from "../../../base/json/scan.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import {
  ANSWER_CUT_OFF,
  ANSWER_NOT_JSON,
  ANSWER_UNREADABLE,
  answerTooLarge,
} from "../../conversation/errors/broken-answers.ts";
import type { AnswerEvent } from "../model/answer.ts";
import type { AnswerDecoding, AnswerReader, UpstreamCodec } from "../model/format.ts";
import { collectAnswer, replayAnswer } from "./collect-answer.ts";

type Codec = Pick<UpstreamCodec, "decodeAnswer" | "createReader">;

/**
 * The beginning of a JSON document or an HTML page. Lines of an event stream begin with a field name or a colon, and Bedrock's
 * frames with a zero byte.
 */
const DOCUMENT_START = /^\s*[{[<]/;

/** Whether a body that begins with these bytes, as Latin-1, is a document and not a stream. */
export function isDocumentStart(latin1: string): boolean {
  return DOCUMENT_START.test(latin1);
}

/** The beginning of a line of an event stream. No JSON document begins so. */
const STREAM_START = /^\s*(?::|(?:data|event|id|retry):)/;

/** Returns whether the body of an answer is an event stream. Some hosts send one although the request was not streamed. */
export function isEventStream(body: string): boolean {
  return STREAM_START.test(body);
}

/** Decodes the body of a whole answer: a JSON document, or an event stream that was not requested. */
export function decodeBody(codec: Codec, body: string): AnswerDecoding {
  try {
    if (isEventStream(body)) return decodeEvents(codec.createReader(), encodeLatin1(body));
    const fields = tryParseFields(body);
    return fields === null ? { kind: "error", error: ANSWER_NOT_JSON } : codec.decodeAnswer(fields);
  } catch {
    return { kind: "error", error: ANSWER_UNREADABLE };
  }
}

function decodeEvents(reader: AnswerReader, body: string): AnswerDecoding {
  const events = [...reader.step(body), ...reader.end()];
  for (const event of events) if (event.kind === "error") return { kind: "error", error: event.error };
  if (!events.some(({ kind }) => kind === "finish")) return { kind: "error", error: ANSWER_CUT_OFF };
  return { kind: "answer", answer: collectAnswer(events) };
}

/**
 * Returns a reader for an upstream that sends a JSON document although a stream was requested. It emits its events when the whole document
 * has arrived.
 */
export function createDocumentReader(codec: Codec): AnswerReader {
  const pieces: string[] = [];
  let size = 0;
  return {
    isDone: false,
    signsTexts: true,
    step(piece) {
      size += piece.length;
      if (size > BOUNDS.answerBytes) return [{ kind: "error", error: answerTooLarge(BOUNDS.answerBytes) }];
      pieces.push(piece);
      return [];
    },
    end: () => readDocument(codec, decodeUtf8(pieces.splice(0).join(""))),
  };
}

/** Decodes a whole answer, or a list of the events of a stream, as Gemini returns without `alt=sse`. */
function readDocument(codec: Codec, text: string): AnswerEvent[] {
  const document = tryParse(text);
  if (Array.isArray(document)) return readList(codec, document);
  const body = asFields(document);
  if (body === null) return [{ kind: "error", error: ANSWER_NOT_JSON }];
  const decoding = codec.decodeAnswer(body);
  return decoding.kind === "error"
    ? [{ kind: "error", error: decoding.error }]
    : [...replayAnswer(decoding.answer)];
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function readList(codec: Codec, documents: readonly unknown[]): AnswerEvent[] {
  const reader = codec.createReader();
  const events: AnswerEvent[] = [];
  for (const document of documents) {
    const piece = encodeLatin1(`data: ${JSON.stringify(document)}\n\n`);
    for (const event of reader.step(piece)) events.push(event);
  }
  return events.concat(reader.end());
}
