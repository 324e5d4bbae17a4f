import { asFields, type Fields } from "../../../src/base/json/fields.ts";
import { encodeLatin1 } from "../../../src/base/json/scan.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { Answer, AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";
import type { AnswerIdentity, AskedFor } from "../../../src/wire/canonical/model/format.ts";
import { type ConversationRequest, EMPTY_REQUEST } from "../../../src/wire/canonical/model/request.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/translate/codec.ts";
import { endWith } from "../../support/vendors/answer-end.ts";
import { readAnswers, readStreams } from "../../support/vendors/recordings.ts";

export const FOLDERS = ["openai-responses", "open-responses-responses", "xai-responses"] as const;

/** A recording that lacks a brace. */
const BROKEN = new Set(["openai-responses/parallel-tool-call-wrapper.1.chunks.txt"]);

export const IDENTITY: AnswerIdentity = { id: "gen_test", model: "acme/model", created: 1_700_000_000 };

export const END = endWith({ ...NO_TOKENS, promptTokens: 10, completionTokens: 5 });

export const TARGET = { name: "gpt-5", maxOutputTokens: null, reasoning: null };

/** Returns a request with only these fields set. */
export function makeRequest(said: Partial<ConversationRequest> = {}): ConversationRequest {
  return { ...EMPTY_REQUEST, messages: [], ...said };
}

export function makeAsked(said: Partial<ConversationRequest> = {}): AskedFor {
  return { request: makeRequest(said), wantsUsageChunk: false, estimatedPromptTokens: 0 };
}

export interface RecordedStream {
  readonly name: string;
  readonly events: readonly Fields[];
  /** As it was sent, bytes as Latin-1. */
  readonly wire: string;
}

/** Returns the recorded streams; a recording of several answers is several streams. */
export function readRecordedStreams(): RecordedStream[] {
  return FOLDERS.flatMap(readStreams)
    .filter(({ name }) => !BROKEN.has(name))
    .flatMap(({ name, text }) =>
      splitAnswers(parseWire(text)).map((events, at) => toStream(`${name}#${at}`, events)),
    );
}

export function toStream(name: string, events: readonly Fields[]): RecordedStream {
  const wire = events
    .map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
  return { name, events, wire: encodeLatin1(wire) };
}

function splitAnswers(events: readonly Fields[]): Fields[][] {
  const answers: Fields[][] = [];
  for (const event of events) {
    if (event["type"] === "response.created" || answers.length === 0) answers.push([]);
    answers.at(-1)?.push(event);
  }
  return answers;
}

/** Returns the recorded answers that were not streamed, without errors. */
export function readRecordedAnswers(): { readonly name: string; readonly body: Fields }[] {
  return FOLDERS.flatMap(readAnswers)
    .map(({ name, text }) => ({ name, body: JSON.parse(text) as Fields }))
    .filter(({ body }) => Array.isArray(body["output"]));
}

/** Parses the events of a stream. */
export function parseWire(wire: string): Fields[] {
  return wire
    .split("\n\n")
    .map((block) => block.split("\n").find((line) => line.startsWith("data: ")))
    .filter((line) => line !== undefined && line !== "data: [DONE]")
    .map((line) => JSON.parse((line as string).slice(6)) as Fields);
}

/** Parses the events of a stream of bytes as Latin-1. */
export function parseLatin1(wire: string): Fields[] {
  return parseWire(Buffer.from(wire, "latin1").toString("utf8"));
}

export function readPieces(pieces: Iterable<string>): AnswerEvent[] {
  const reader = openaiResponses.createReader();
  const events: AnswerEvent[] = [];
  for (const piece of pieces) events.push(...reader.step(piece));
  return [...events, ...reader.end()];
}

export function writeEvents(events: Iterable<AnswerEvent>, asked = makeAsked(), end = END): string {
  const writer = openaiResponses.createWriter(IDENTITY, asked);
  let out = "";
  for (const event of events) out += writer.step(event);
  return out + writer.end(end);
}

export function decodeWhole(body: Fields): Answer {
  const decoded = openaiResponses.decodeAnswer(body);
  if (decoded.kind === "error") throw new Error(decoded.error.message);
  return decoded.answer;
}

export function collect(wire: string): Answer {
  return collectAnswer(readPieces([wire]));
}

export function lastResponse(events: readonly Fields[]): Fields {
  return asFields(events.at(-1)?.["response"]) ?? {};
}

/**
 * Returns what is wrong with the order of a stream. Numbers rise, each item and part is added before its deltas and done once after
 * them, and the last event contains every item.
 */
export function findOrderError(events: readonly Fields[]): string[] {
  const problems: string[] = [];
  const items = new Map<number, "open" | "done">();
  const parts = new Map<string, "open" | "done">();
  const say = (at: number, problem: string) =>
    problems.push(`${at} ${String(events[at]?.["type"])}: ${problem}`);
  events.forEach((event, at) => {
    const type = String(event["type"]);
    if (event["sequence_number"] !== at) say(at, `number ${String(event["sequence_number"])}`);
    if (at === 0 && type !== "response.created") say(at, "is first");
    if (at === 1 && type !== "response.in_progress") say(at, "is second");
    const isTerminal = /^response\.(completed|incomplete|failed)$/.test(type);
    if (isTerminal !== (at === events.length - 1)) say(at, "is not last, or the last is another");
    const index = event["output_index"] as number | undefined;
    if (index === undefined) return;
    const state = items.get(index);
    if (type === "response.output_item.added") {
      if (state !== undefined || index !== items.size) say(at, `adds item ${index}`);
      items.set(index, "open");
      return;
    }
    if (state !== "open") say(at, `item ${index} is ${state}`);
    const list = event["summary_index"] === undefined ? "content_index" : "summary_index";
    const key = event[list] === undefined ? null : `${index} ${list} ${String(event[list])}`;
    if (type === "response.output_item.done") {
      for (const [part, how] of parts)
        if (part.startsWith(`${index} `) && how === "open") say(at, `${part} is open`);
      items.set(index, "done");
    } else if (key === null) return;
    else if (/part\.added$/.test(type)) {
      if (parts.has(key)) say(at, `adds ${key}`);
      parts.set(key, "open");
    } else if (parts.get(key) !== "open") say(at, `${key} is ${parts.get(key)}`);
    else if (/part\.done$/.test(type)) parts.set(key, "done");
  });
  const last = events.at(-1);
  const output = asFields(last?.["response"])?.["output"] as unknown[] | undefined;
  if (output?.length !== items.size) say(events.length - 1, `holds ${output?.length} of ${items.size} items`);
  if (last?.["type"] !== "response.failed") {
    for (const [index, how] of items) if (how === "open") say(events.length - 1, `item ${index} is open`);
  }
  return problems;
}
