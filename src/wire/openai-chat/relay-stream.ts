import { BOUNDS } from "../../base/bounds.ts";
import type { RelayFinish, RelayIdentity, RelayVerdict } from "../canonical/relay.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import { brokenAnswer, findVendorError, type VendorError } from "../conversation/vendor-error.ts";
import { asFields, type Fields, omit, tryParseFields } from "../json/fields.ts";
import { decodeUtf8 } from "../json/scan.ts";
import { EventSplitter, EventTooLargeError, type OnEvent } from "../sse/split-events.ts";
import {
  type ChunkTemplate,
  copyEvent,
  learnTemplate,
  PADDING_HOLE,
  TEXT_HOLE,
  type TextField,
} from "./chunk-template.ts";
import { encodeChunk, encodeChunkEvent, encodeEnding } from "./encode-chunk.ts";
import { isFailedFinish, readFinishReason } from "./finish-reason.ts";
import { OWN_ANSWER_FIELDS, OWN_CHOICE_FIELDS, OWN_MESSAGE_FIELDS } from "./own-fields.ts";
import { encodeReasoning, readSpoken, type Spoken, saysBeside } from "./reasoning.ts";
import {
  createToolCallTracker,
  isPlainPiece,
  listCalls,
  nameOf,
  type ToolCallOut,
  type ToolCallTracker,
  textOf,
} from "./tool-calls.ts";
import { findUsage } from "./usage.ts";

/**
 * An OpenAI-format stream on its way from the vendor to the client. `stepRelay` moves it on; nothing else changes it.
 * It is changed in place: a copy for each event would cost more than the event.
 */
export interface RelayState {
  readonly identity: RelayIdentity;
  /** Whether the client asked for `stream_options.include_usage`. */
  readonly wantsUsageChunk: boolean;
  readonly splitter: EventSplitter;
  readonly templates: ChunkTemplate[];
  /** What the client gets for the piece that is being read, bytes read as Latin-1. */
  readonly out: string[];
  readonly choices: Map<number, ChoiceState>;
  /** Fields of events without choices, to be sent with the next that has some. */
  carried: Record<string, unknown>;
  /** Fields that came with the finish, sent with the last event. */
  finishFields: Record<string, unknown>;
  /** Whether anything has come that a person or agent would read. Until then another provider may still answer. */
  sawToken: boolean;
  usage: TokenUsage | null;
  /** Bytes of text so far, for estimates. */
  producedBytes: number;
  /** `[DONE]` has come. */
  isDone: boolean;
  /** What the vendor, or its broken stream, failed with. */
  error: VendorError | null;
}

interface ChoiceState {
  readonly index: number;
  readonly tools: ToolCallTracker;
  /** The vendor's own finish reason, once it has come. */
  finish: string | null;
  readonly finishFields: Record<string, unknown>;
}

const MAX_TEMPLATES = 6;

/** A relay at its beginning. */
export function createRelay(identity: RelayIdentity, wantsUsageChunk: boolean): RelayState {
  const state: RelayState = {
    identity,
    wantsUsageChunk,
    splitter: new EventSplitter(BOUNDS.eventBytes, (text, from) => passAlike(state, text, from)),
    templates: [],
    out: [],
    choices: new Map(),
    carried: {},
    finishFields: {},
    sawToken: false,
    usage: null,
    producedBytes: 0,
    isDone: false,
    error: null,
  };
  return state;
}

/** Takes the next piece of the vendor's stream and gives what the client gets for it; both are bytes read as Latin-1. */
export function stepRelay(state: RelayState, piece: string): string {
  return collect(state, (onEvent) => state.splitter.push(piece, onEvent));
}

/** Takes the end of the vendor's stream: an event that lacked only its blank line still counts. */
export function endRelay(state: RelayState): string {
  return collect(state, (onEvent) => state.splitter.end(onEvent));
}

function collect(state: RelayState, feed: (onEvent: OnEvent) => void): string {
  try {
    feed((text, start, end, name) => {
      state.out.push(stepEvent(state, text, start, end, name));
    });
  } catch (error) {
    // Whatever a vendor sends must end in an error event, never in a client that hangs: so also what
    // cannot be printed again, such as brackets nested without end.
    const isTooLarge = error instanceof EventTooLargeError;
    state.error ??= brokenAnswer(isTooLarge ? error.message : "an event of the stream cannot be read");
  }
  // Joined at once: a text that grew by hundreds of additions takes five times as long to become bytes.
  return state.out.splice(0).join("");
}

/** Whether every choice that has begun has finished. */
export function isFinished({ choices }: RelayState): boolean {
  if (choices.size === 0) return false;
  for (const { finish } of choices.values()) if (finish === null) return false;
  return true;
}

/** Judges a stream that has ended, cleanly or not: an answer that came whole stays whole. */
export function judgeRelay(state: RelayState): RelayVerdict {
  if (state.error !== null) return "failed";
  const choices = [...state.choices.values()];
  if (!isFinished(state)) return "unfinished";
  const isEmpty = !state.sawToken && choices.every((choice) => finishOf(choice) === "stop");
  return isEmpty ? "empty" : "complete";
}

/** Ends each choice that has not finished as one that has reached its bound. */
export function stopRelay(state: RelayState): void {
  state.isDone = true;
  for (const choice of state.choices.values()) choice.finish ??= "length";
}

/** The finish reason of the first choice as the client sees it, and as the vendor gave it. Null before it has come. */
export function finishOfRelay(state: RelayState): RelayFinish | null {
  const first = state.choices.get(0) ?? [...state.choices.values()][0];
  return first?.finish ? { client: finishOf(first), native: first.finish } : null;
}

function finishOf(choice: ChoiceState): string {
  return readFinishReason(choice.finish ?? "stop", choice.tools.count() > 0);
}

function stepEvent(state: RelayState, text: string, start: number, end: number, name: string): string {
  // An event without data is no event (WHATWG); some use it as a sign of life.
  if (state.isDone || state.error !== null || start === end) return "";
  if (end - start === DONE.length && text.startsWith(DONE, start)) {
    endAll(state);
    return "";
  }
  const prefix = text.slice(text.lastIndexOf("\n", start) + 1, start);
  return relayParsed(state, prefix, text.slice(start, end), name);
}

const DONE = "[DONE]";

/** Usage and an end marker make an answer whole whose vendor gives no reason to finish. */
function endAll(state: RelayState): void {
  state.isDone = true;
  if (state.usage === null) return;
  for (const choice of state.choices.values()) choice.finish ??= "stop";
}

/** The short way: the event looks like one before it. */
function passAlike(state: RelayState, text: string, from: number): number {
  if (state.isDone || state.error !== null) return from;
  for (const template of state.templates) {
    const next = copyEvent(template, text, from, state);
    if (next >= 0) return next;
  }
  return from;
}

/** The long way: parse, set right, print; and learn the event's looks for the next. `prefix` stands before it in its line. */
function relayParsed(state: RelayState, prefix: string, data: string, name: string): string {
  const chunk = tryParseFields(decodeUtf8(data));
  if (chunk === null) {
    state.error = brokenAnswer("an event of the stream is not JSON");
    return "";
  }
  const error =
    name === "error" ? (findVendorError(chunk) ?? findVendorError({ error: chunk })) : findVendorError(chunk);
  if (error !== null) {
    state.error = error;
    return "";
  }
  state.usage = findUsage(chunk) ?? state.usage;
  const fields = omit(chunk, OWN_ANSWER_FIELDS);
  const choices = Array.isArray(chunk["choices"]) ? chunk["choices"] : [];
  if (choices.length === 0) {
    Object.assign(state.carried, fields);
    return "";
  }
  let out = "";
  for (const raw of choices) {
    const choice = asFields(raw);
    if (choice !== null) out += relayChoice(state, choice, fields);
  }
  if (out !== "" && choices.length === 1) learn(state, prefix, data, chunk, fields);
  return out;
}

/** A refusal is a field of its own as well, but an empty one says nothing. */
const OWN_DELTA_FIELDS: ReadonlySet<string> = new Set([...OWN_MESSAGE_FIELDS, "refusal"]);

function relayChoice(state: RelayState, choice: Fields, fields: Record<string, unknown>): string {
  const index = typeof choice["index"] === "number" ? choice["index"] : 0;
  const isFirst = !state.choices.has(index);
  if (isFirst && state.choices.size >= BOUNDS.choices) {
    state.error = brokenAnswer("the upstream's answer has too many choices");
    return "";
  }
  const choiceState = openChoice(state, index);
  const delta = asFields(choice["delta"]) ?? asFields(choice["message"]) ?? {};
  const choiceFields = omit(choice, OWN_CHOICE_FIELDS);
  const out = readDelta(state, choiceState, delta, isFirst);
  const isFinish = typeof choice["finish_reason"] === "string";
  if (isFinish) holdFinish(state, choiceState, choice["finish_reason"] as string, choiceFields, fields);
  if (out === null) {
    if (!isFinish) carryFields(state, choiceState, choiceFields, fields);
    return "";
  }
  const carried = state.carried;
  state.carried = {};
  return encodeEvent(state, { ...carried, ...fields }, [
    { index, delta: out, ...choiceFields, finish_reason: null },
  ]);
}

function openChoice(state: RelayState, index: number): ChoiceState {
  let choice = state.choices.get(index);
  if (choice === undefined) {
    const { makeCallId, originalIds } = state.identity;
    choice = { index, tools: createToolCallTracker(makeCallId, originalIds), finish: null, finishFields: {} };
    state.choices.set(index, choice);
  }
  return choice;
}

/** Fields of an event that says nothing else go with a later one, those of the choice with its finish. */
function carryFields(
  state: RelayState,
  choice: ChoiceState,
  choiceFields: Record<string, unknown>,
  { obfuscation: _, ...fields }: Record<string, unknown>,
): void {
  addFields(state.carried, fields);
  addFields(choice.finishFields, choiceFields);
}

/** A second finish is dropped, because clients ran tools twice on it; its fields are not. */
function holdFinish(
  state: RelayState,
  choice: ChoiceState,
  reason: string,
  choiceFields: Record<string, unknown>,
  fields: Record<string, unknown>,
): void {
  if (isFailedFinish(reason)) {
    state.error = brokenAnswer(`the upstream ended the answer with "${reason}"`);
  }
  choice.finish ??= reason;
  addFields(choice.finishFields, choiceFields);
  addFields(state.finishFields, fields);
}

/** The client's delta; null when there is nothing to say. */
function readDelta(
  state: RelayState,
  choice: ChoiceState,
  delta: Fields,
  isFirst: boolean,
): Record<string, unknown> | null {
  const spoken = readSpoken(delta);
  const calls = stepTools(state, choice, listCalls(delta));
  const rest = omitNull(omit(delta, OWN_DELTA_FIELDS));
  if (typeof delta["refusal"] === "string" && delta["refusal"] !== "") rest["refusal"] = delta["refusal"];
  const isSpoken = (spoken.content ?? "") !== "" || spoken.reasoning !== null || calls.length > 0;
  if (isSpoken || saysBeside(rest)) state.sawToken = true;
  else if (!isFirst && !spoken.details?.length && Object.keys(rest).length === 0) return null;
  state.producedBytes += sizeOf(spoken, calls);
  return encodeDelta(spoken, calls, rest, isFirst);
}

function stepTools(state: RelayState, choice: ChoiceState, pieces: readonly unknown[]): ToolCallOut[] {
  if (pieces.length === 0) return [];
  const before = choice.tools.count();
  const calls = choice.tools.step(pieces);
  // A vendor's index may stand for another call now, so what was learned of it is forgotten.
  if (choice.tools.count() !== before) state.templates.length = 0;
  return calls;
}

function encodeDelta(
  spoken: Spoken,
  calls: readonly ToolCallOut[],
  rest: Record<string, unknown>,
  isFirst: boolean,
): Record<string, unknown> {
  const hasContent = spoken.content !== null && (spoken.content !== "" || isFirst);
  return {
    ...(isFirst ? { role: "assistant" } : {}),
    ...(hasContent ? { content: spoken.content } : {}),
    ...encodeReasoning(spoken),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...rest,
  };
}

function sizeOf(spoken: Spoken, calls: readonly ToolCallOut[]): number {
  let size = Buffer.byteLength(spoken.content ?? "") + Buffer.byteLength(spoken.reasoning ?? "");
  for (const call of calls) size += Buffer.byteLength(textOf(call)) + nameOf(call).length;
  return size;
}

function encodeEvent(state: RelayState, fields: Fields, choices: unknown): string {
  return encodeChunkEvent(state.identity, fields, choices);
}

/** Learns the looks of an event that brought text and nothing else. */
function learn(
  state: RelayState,
  prefix: string,
  data: string,
  chunk: Fields,
  fields: Record<string, unknown>,
): void {
  // Put together from several lines.
  if (prefix === "") return;
  const choice = asFields((chunk["choices"] as unknown[])[0]) ?? {};
  const delta = asFields(choice["delta"]);
  if (delta === null || typeof choice["finish_reason"] === "string" || asFields(chunk["usage"]) !== null)
    return;
  const field = findOnlyText(delta);
  const choiceState = state.choices.get(typeof choice["index"] === "number" ? choice["index"] : 0);
  if (field === null || choiceState === undefined) return;
  const out = holeDelta(choiceState, delta, field);
  if (out === null) return;
  const padded =
    typeof fields["obfuscation"] === "string" ? { ...fields, obfuscation: PADDING_HOLE } : fields;
  // The padding is looked for after the text, so it goes behind the choices.
  const { obfuscation, ...others } = padded;
  const choices = [
    { index: choiceState.index, delta: out, ...omit(choice, OWN_CHOICE_FIELDS), finish_reason: null },
  ];
  const encoded = encodeChunk(
    state.identity,
    others,
    choices,
    obfuscation === undefined ? {} : { obfuscation },
  );
  const template = learnTemplate(prefix, data, field, encoded);
  if (template === null) return;
  state.templates.unshift(template);
  if (state.templates.length > MAX_TEMPLATES) state.templates.pop();
}

/** The one field of a delta that holds text; null when there is none, more than one, or anything else beside it. */
function findOnlyText(delta: Fields): TextField | null {
  if (Object.keys(omitNull(omit(delta, OWN_DELTA_FIELDS))).length > 0) return null;
  if (delta["refusal"] || delta["reasoning_details"] || delta["function_call"]) return null;
  const found = TEXT_FIELDS.filter(
    (field) => delta[field] !== undefined && delta[field] !== null && delta[field] !== "",
  );
  const calls = Array.isArray(delta["tool_calls"]) && delta["tool_calls"].length > 0;
  if (calls) return found.length === 0 ? "arguments" : null;
  return found.length === 1 && typeof delta[found[0] as string] === "string" ? (found[0] as TextField) : null;
}

const TEXT_FIELDS = ["content", "reasoning_content", "reasoning"] as const;

/** The client's delta with a hole in place of the text. */
function holeDelta(choice: ChoiceState, delta: Fields, field: TextField): Record<string, unknown> | null {
  if (field === "arguments") {
    const pieces = delta["tool_calls"] as unknown[];
    const piece = asFields(pieces[0]);
    const opens = piece?.["id"] || asFields(piece?.["function"])?.["name"];
    const index = typeof piece?.["index"] === "number" ? choice.tools.indexOf(piece["index"]) : null;
    if (pieces.length !== 1 || opens || index === null || !isPlainPiece(piece ?? {})) return null;
    return encodeDelta(NOTHING, [{ index, function: { arguments: TEXT_HOLE } }], {}, false);
  }
  const spoken =
    field === "content" ? { ...NOTHING, content: TEXT_HOLE } : { ...NOTHING, reasoning: TEXT_HOLE };
  return encodeDelta(spoken, [], {}, false);
}

const NOTHING: Spoken = { content: null, reasoning: null, details: null };

/**
 * The last events of a complete stream: arguments for calls that had none, one finish a choice, the usage, `[DONE]`.
 * `usage` is the client's usage object, `metadata` the `gateway_metadata` or null.
 */
export function encodeEnd(state: RelayState, usage: Fields, metadata: Fields | null): string {
  let out = "";
  const choices = [...state.choices.values()].toSorted((a, b) => a.index - b.index);
  for (const { index, tools } of choices) {
    const calls = tools.end();
    if (calls.length > 0) {
      out += encodeEvent(state, {}, [{ index, delta: { tool_calls: calls }, finish_reason: null }]);
    }
  }
  const finishes = choices.map(encodeFinish);
  const fields = { ...state.carried, ...state.finishFields };
  const identity = { ...state.identity, wantsUsageChunk: state.wantsUsageChunk };
  return out + encodeEnding(identity, finishes, fields, usage, metadata);
}

function encodeFinish(choice: ChoiceState): Fields {
  const reason = finishOf(choice);
  return {
    index: choice.index,
    delta: {},
    ...choice.finishFields,
    finish_reason: reason,
    ...(reason === choice.finish ? {} : { native_finish_reason: choice.finish }),
  };
}

/** What is null takes nothing back that was said before. */
function addFields(known: Record<string, unknown>, more: Fields): void {
  for (const name in more) if (more[name] !== null || !(name in known)) known[name] = more[name];
}

function omitNull(fields: Record<string, unknown>): Record<string, unknown> {
  for (const key in fields) if (fields[key] === null || fields[key] === undefined) delete fields[key];
  return fields;
}
