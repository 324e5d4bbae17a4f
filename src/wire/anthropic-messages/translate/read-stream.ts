import { BOUNDS } from "../../../base/bounds.ts";
import type { AnswerEvent, PartDelta } from "../../canonical/answer.ts";
import type { AnswerReader } from "../../canonical/format.ts";
import type { Part } from "../../canonical/parts.ts";
import { brokenAnswer, type VendorError } from "../../conversation/vendor-error.ts";
import { asFields, type Fields, omit } from "../../json/fields.ts";
import { parseJson } from "../../json/parse-json.ts";
import { EventSplitter, EventTooLargeError, type OnEvent } from "../../sse/split-events.ts";
import { decodeFinish } from "../finish-reason.ts";
import { findStreamError, parseEvent } from "../stream-events.ts";
import { foldUsage, readUsage } from "../usage.ts";
import { decodeCitation } from "./citations.ts";
import { decodeAnswerBlock, takeStopDetails } from "./decode-response.ts";
import { makeExtras } from "./extras.ts";
import { takeFields } from "./take-fields.ts";

/** A vendor's stream while it is read. Changed in place, by `stepEvent` and what it calls. */
interface ReaderState {
  readonly splitter: EventSplitter;
  /** Blocks that are open, by the vendor's index. */
  readonly blocks: Map<number, OpenBlock>;
  /** The place of the next part. */
  nextAt: number;
  /** A message has started. */
  hasStarted: boolean;
  /** All counters so far, as the vendor spells them. */
  usage: Fields;
  /** What `message_delta` has said of the finish. */
  delta: Record<string, unknown>;
  hasFinished: boolean;
  isDone: boolean;
  hasFailed: boolean;
}

type OpenBlock =
  | { readonly kind: "part"; readonly at: number; readonly part: Part; hasArguments: boolean }
  /** A block of this format alone: the hub wants it whole. `json` is its input so far. */
  | { readonly kind: "native"; value: Record<string, unknown>; json: string };

/** A reader of this format's streams. */
export function createReader(): AnswerReader {
  const state: ReaderState = {
    splitter: new EventSplitter(BOUNDS.eventBytes),
    blocks: new Map(),
    nextAt: 0,
    hasStarted: false,
    usage: {},
    delta: {},
    hasFinished: false,
    isDone: false,
    hasFailed: false,
  };
  return {
    step: (piece) => collect(state, (onEvent) => state.splitter.push(piece, onEvent)),
    end: () => [
      ...collect(state, (onEvent) => state.splitter.end(onEvent)),
      ...(state.hasFailed || state.delta["stop_reason"] === undefined ? [] : finish(state)),
    ],
    get isDone() {
      return state.isDone;
    },
  };
}

function collect(state: ReaderState, feed: (onEvent: OnEvent) => void): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  try {
    feed((text, start, end, name) => {
      if (state.isDone || state.hasFailed || start === end) return;
      for (const event of stepEvent(state, text.slice(start, end), name)) events.push(event);
    });
  } catch (error) {
    const isTooLarge = error instanceof EventTooLargeError;
    events.push(
      ...breakOff(state, brokenAnswer(isTooLarge ? error.message : "an event of the stream cannot be read")),
    );
  }
  return events;
}

function breakOff(state: ReaderState, error: VendorError): AnswerEvent[] {
  if (state.hasFailed) return [];
  state.hasFailed = true;
  return [{ kind: "error", error }];
}

function stepEvent(state: ReaderState, data: string, name: string): AnswerEvent[] {
  if (data === "[DONE]") {
    state.isDone = true;
    return finish(state);
  }
  const event = parseEvent(data);
  if (event === null) return breakOff(state, brokenAnswer("an event of the stream is not JSON"));
  const error = findStreamError(event, name);
  if (error !== null) return breakOff(state, error);
  const type = typeof event["type"] === "string" ? event["type"] : name;
  return Object.hasOwn(STEPS, type) ? STEPS[type]!(state, event) : [];
}

type Step = (state: ReaderState, event: Fields) => AnswerEvent[];

/** What each event does; `ping`, and what is not known, nothing. */
const STEPS: Readonly<Record<string, Step>> = {
  message_start: stepStart,
  content_block_start: stepBlockStart,
  content_block_delta: stepBlockDelta,
  content_block_stop: (state, event) => closeBlock(state, readIndex(event)),
  message_delta: stepDelta,
  message_stop(state) {
    state.isDone = true;
    return finish(state);
  },
};

/** Fields of `message_start` that the gateway writes itself, or that say nothing yet. */
const START_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "type",
  "role",
  "model",
  "content",
  "stop_reason",
  "stop_sequence",
  "stop_details",
  "usage",
]);

function stepStart(state: ReaderState, event: Fields): AnswerEvent[] {
  // An answer that begins anew cannot be joined to what has been passed on; the same beginning twice can.
  if (state.nextAt > 0 || state.blocks.size > 0) {
    return breakOff(state, brokenAnswer("the upstream began its answer anew in the middle of it"));
  }
  state.hasStarted = true;
  const message = asFields(event["message"]) ?? {};
  const { content, stop_reason, stop_sequence } = message;
  const isWhole = Array.isArray(content) && content.length > 0 && typeof stop_reason === "string";
  if (isWhole) state.delta = { ...omitNull({ stop_reason, stop_sequence }) };
  return [
    ...countUsage(state, message["usage"]),
    ...sayExtras(state, omit(message, START_FIELDS)),
    ...[content].flat().flatMap((block, index) => stepWholeBlock(state, block, index)),
  ];
}

/** Some hosts begin with content in it; so does a turn that goes on for a tool of the vendor's, which comes whole. */
function stepWholeBlock(state: ReaderState, block: unknown, index: number): AnswerEvent[] {
  if (asFields(block) === null) return [];
  return [...stepBlockStart(state, { index, content_block: block }), ...closeBlock(state, index)];
}

function countUsage(state: ReaderState, raw: unknown): AnswerEvent[] {
  const said = asFields(raw);
  if (said === null) return [];
  const tier = said["service_tier"];
  const isNewTier = typeof tier === "string" && tier !== state.usage["service_tier"];
  state.usage = foldUsage(state.usage, said);
  const usage = readUsage(state.usage);
  return [
    ...(isNewTier ? [{ kind: "service-tier", tier } as const] : []),
    ...(usage === null ? [] : [{ kind: "usage", usage } as const]),
  ];
}

function sayExtras(state: ReaderState, fields: Fields): AnswerEvent[] {
  return [{ kind: "extras", ...makeExtras({ ...fields, usage: state.usage }) }];
}

function readIndex(event: Fields): number {
  return typeof event["index"] === "number" ? event["index"] : 0;
}

function stepBlockStart(state: ReaderState, event: Fields): AnswerEvent[] {
  const index = readIndex(event);
  const closing = closeBlock(state, index);
  const part = decodeAnswerBlock(event["content_block"]);
  if (part === null) return closing;
  if (part.kind === "native") {
    state.blocks.set(index, { kind: "native", value: { ...part.value }, json: "" });
    return closing;
  }
  const start = openPart(part);
  const at = state.nextAt++;
  const hasArguments = start.kind === "tool-call" && start.arguments !== "";
  state.blocks.set(index, { kind: "part", at, part: start, hasArguments });
  return [...closing, { kind: "part-start", choice: 0, at, part: start }];
}

/** A block as it begins: an empty input or signature says that there is none yet. */
function openPart(part: Part): Part {
  if (part.kind === "tool-call" && part.arguments === "{}") return { ...part, arguments: "" };
  if (part.kind === "reasoning" && part.signature === "") return { ...part, signature: null };
  return part;
}

function stepBlockDelta(state: ReaderState, event: Fields): AnswerEvent[] {
  const block = state.blocks.get(readIndex(event));
  const raw = asFields(event["delta"]);
  if (block === undefined || raw === null) return [];
  if (block.kind === "native") {
    growNative(block, raw);
    return [];
  }
  const delta = readDelta(raw);
  if (delta === null) return [];
  if (delta.kind === "arguments") block.hasArguments = true;
  return [{ kind: "part-delta", choice: 0, at: block.at, delta }];
}

function readDelta(raw: Fields): PartDelta | null {
  switch (raw["type"]) {
    case "text_delta":
      return readPiece(raw["text"], (text) => ({ kind: "text", text }));
    case "thinking_delta":
      return readPiece(raw["thinking"], (text) => ({ kind: "text", text }));
    case "input_json_delta":
      return readPiece(raw["partial_json"], (text) => ({ kind: "arguments", text }));
    case "signature_delta":
      return readPiece(raw["signature"], (value) => ({ kind: "signature", value }));
    case "citations_delta": {
      const citation = asFields(raw["citation"]);
      return citation === null ? null : { kind: "citation", citation: decodeCitation(citation) };
    }
    default:
      return null;
  }
}

function readPiece(value: unknown, make: (text: string) => PartDelta): PartDelta | null {
  return typeof value === "string" && value !== "" ? make(value) : null;
}

/** A delta's field is more of the block's field of that name; JSON is more of its input. */
function growNative(block: { value: Record<string, unknown>; json: string }, delta: Fields): void {
  for (const [name, more] of Object.entries(delta)) {
    if (name === "type") continue;
    const before = block.value[name];
    if (name === "partial_json") block.json += typeof more === "string" ? more : "";
    else if (typeof before === "string" && typeof more === "string") block.value[name] = before + more;
    else block.value[name] = more;
  }
}

function closeBlock(state: ReaderState, index: number): AnswerEvent[] {
  const block = state.blocks.get(index);
  if (block === undefined) return [];
  state.blocks.delete(index);
  return block.kind === "native" ? closeNative(state, block) : closePart(block);
}

function closePart({ at, part, hasArguments }: OpenBlock & { readonly kind: "part" }): AnswerEvent[] {
  const isBare = part.kind === "tool-call" && !hasArguments;
  return [
    ...(isBare
      ? [{ kind: "part-delta", choice: 0, at, delta: { kind: "arguments", text: "{}" } } as const]
      : []),
    { kind: "part-end", choice: 0, at },
  ];
}

function closeNative(state: ReaderState, block: OpenBlock & { readonly kind: "native" }): AnswerEvent[] {
  const input = block.json === "" ? null : parseInput(block.json);
  const part = decodeAnswerBlock(input === null ? block.value : { ...block.value, input });
  if (part === null) return [];
  const at = state.nextAt++;
  return [
    { kind: "part-start", choice: 0, at, part },
    { kind: "part-end", choice: 0, at },
  ];
}

/** An input that broke off stays as the text it is. */
function parseInput(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return json;
  }
}

/** Fields of `message_delta` with a place of their own. */
const DELTA_FIELDS: ReadonlySet<string> = new Set(["type", "delta", "usage"]);
const FINISH_FIELDS: ReadonlySet<string> = new Set(["stop_reason", "stop_sequence", "stop_details"]);

/** What it says may come in several events; the finish is told at the end, behind the last usage. */
function stepDelta(state: ReaderState, event: Fields): AnswerEvent[] {
  const delta = asFields(event["delta"]) ?? {};
  Object.assign(state.delta, omitNull(delta));
  const usage = countUsage(state, event["usage"]);
  return [...usage, ...sayExtras(state, { ...omit(event, DELTA_FIELDS), ...omit(delta, FINISH_FIELDS) })];
}

function omitNull(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== null || name === "stop_details"),
  );
}

function finish(state: ReaderState): AnswerEvent[] {
  if (state.hasFinished) return [];
  state.hasFinished = true;
  const closing = [...state.blocks.keys()].flatMap((index) => closeBlock(state, index));
  const { stop_reason: native, stop_sequence: sequence } = state.delta;
  // A message that has stopped and does not say why has come to its end.
  const reason = typeof native === "string" ? native : "end_turn";
  const extras = makeExtras(takeStopDetails(takeFields(state.delta)));
  const finished = decodeFinish(reason, typeof sequence === "string" ? sequence : null);
  return [...closing, { kind: "finish", choice: 0, finish: finished, ...extras }];
}
