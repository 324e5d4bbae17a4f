import { BOUNDS } from "../../../base/bounds.ts";
import type { AnswerEvent, PartDelta } from "../../canonical/answer.ts";
import type { AnswerReader } from "../../canonical/format.ts";
import type { Part } from "../../canonical/parts.ts";
import { brokenAnswer, readVendorError, type VendorError } from "../../conversation/vendor-error.ts";
import { asFields, type Fields, omit, tryParseFields } from "../../json/fields.ts";
import { decodeUtf8 } from "../../json/scan.ts";
import { EventSplitter, EventTooLargeError, type OnEvent } from "../../sse/split-events.ts";
import { decodeFinish } from "../finish-reason.ts";
import { decodeUsage, isSearch } from "../usage.ts";
import { decodeAnnotation } from "./citations.ts";
import { decodeContentPart } from "./content.ts";
import { decodeOutputItem, restOfMessage } from "./decode-items.ts";
import { clearLogprobs, decodeFrame, readTier, settleBegun } from "./decode-response.ts";
import { markExtras } from "./extras.ts";
import { makeEncrypted, markPlace, restOfReasoning } from "./reasoning.ts";

/** A text, summary or call of an item, as far as it has come. */
interface OpenPart {
  readonly at: number;
  readonly kind: Part["kind"];
  text: string;
  citations: number;
  isOpen: boolean;
}

/** An item by its place in the output: ids may differ from event to event. */
interface OpenItem {
  readonly item: Fields;
  /** Its parts by the place in the list they stand in: `content:0`, `summary:1`, `call`. */
  readonly parts: Map<string, OpenPart>;
  isDone: boolean;
}

interface ReaderState {
  readonly items: Map<number, OpenItem>;
  readonly events: AnswerEvent[];
  nextAt: number;
  searches: number;
  hasCalls: boolean;
  isDone: boolean;
}

/** Reads a stream of the Responses format. */
export function createReader(): AnswerReader {
  const splitter = new EventSplitter(BOUNDS.eventBytes);
  const state: ReaderState = {
    items: new Map(),
    events: [],
    nextAt: 0,
    searches: 0,
    hasCalls: false,
    isDone: false,
  };
  const onEvent: OnEvent = (text, start, end, name) => stepEvent(state, text.slice(start, end), name);
  return {
    step: (piece) => collect(state, () => splitter.push(piece, onEvent)),
    end: () => collect(state, () => splitter.end(onEvent)),
    get isDone() {
      return state.isDone;
    },
  };
}

function collect(state: ReaderState, feed: () => void): readonly AnswerEvent[] {
  try {
    feed();
  } catch (error) {
    const isTooLarge = error instanceof EventTooLargeError;
    endWithError(state, brokenAnswer(isTooLarge ? error.message : "an event of the stream cannot be read"));
  }
  return state.events.splice(0);
}

function endWithError(state: ReaderState, error: VendorError): void {
  if (state.isDone) return;
  state.isDone = true;
  state.events.push({ kind: "error", error });
}

function stepEvent(state: ReaderState, data: string, name: string): void {
  if (state.isDone || data === "" || data === "[DONE]") return;
  const event = tryParseFields(decodeUtf8(data));
  if (event === null) {
    endWithError(state, brokenAnswer("an event of the stream is not JSON"));
    return;
  }
  const type = typeof event["type"] === "string" ? event["type"] : name;
  // Some hosts report an error in an event without a type.
  if (type === "error" || (type === "" && event["error"])) endWithError(state, readVendorError(200, event));
  else STEPS[type]?.(state, event);
}

type Step = (state: ReaderState, event: Fields) => void;

const addText =
  (list: "content" | "summary", first: Fields): Step =>
  (state, event) => {
    const part = openText(state, event, list, first);
    if (part === null) return;
    pushLogprobs(state, event);
    grow(state, part, { kind: "text", text: textOf(event["delta"]) });
  };

const OUTPUT_TEXT: Fields = { type: "output_text", annotations: [], logprobs: [], text: "" };
const REFUSAL: Fields = { type: "refusal", refusal: "" };
const SUMMARY: Fields = { type: "summary_text", text: "" };
const REASONING_TEXT: Fields = { type: "reasoning_text", text: "" };

const addArguments: Step = (state, event) => {
  const part = findItem(state, event)?.parts.get(CALL);
  if (part !== undefined) grow(state, part, { kind: "arguments", text: textOf(event["delta"]) });
};

const STEPS: Readonly<Record<string, Step>> = {
  "response.output_item.added": (state, event) => openItem(state, placeOf(event), event["item"]),
  "response.output_item.done": closeItem,
  "response.content_part.added": (state, event) => {
    openText(state, event, "content", asFields(event["part"]) ?? OUTPUT_TEXT);
  },
  "response.reasoning_summary_part.added": (state, event) => {
    openText(state, event, "summary", asFields(event["part"]) ?? SUMMARY);
  },
  "response.output_text.delta": addText("content", OUTPUT_TEXT),
  "response.refusal.delta": addText("content", REFUSAL),
  "response.reasoning_text.delta": addText("content", REASONING_TEXT),
  "response.reasoning_summary_text.delta": addText("summary", SUMMARY),
  "response.output_text.annotation.added": addAnnotation,
  "response.function_call_arguments.delta": addArguments,
  "response.custom_tool_call_input.delta": addArguments,
  "response.completed": finish,
  "response.incomplete": finish,
  "response.failed": failResponse,
  "response.cancelled": failResponse,
};

function placeOf(event: Fields): number {
  return typeof event["output_index"] === "number" ? event["output_index"] : 0;
}

function findItem(state: ReaderState, event: Fields): OpenItem | undefined {
  const item = state.items.get(placeOf(event));
  return item?.isDone ? undefined : item;
}

const CALL = "call";

function openItem(state: ReaderState, place: number, raw: unknown): void {
  const item = asFields(raw);
  if (item === null || state.items.has(place)) return;
  const open: OpenItem = { item: settleBegun(item), parts: new Map(), isDone: false };
  state.items.set(place, open);
  if (!CALL_TYPES.has(item["type"])) return;
  const [part] = decodeOutputItem(open.item);
  if (part?.kind !== "tool-call") return;
  state.hasCalls = true;
  const opened = start(state, open, CALL, { ...part, arguments: "" });
  grow(state, opened, { kind: "arguments", text: part.arguments });
}

const CALL_TYPES = new Set<unknown>(["function_call", "custom_tool_call"]);

function start(state: ReaderState, item: OpenItem, key: string, part: Part): OpenPart {
  const open: OpenPart = { at: state.nextAt++, kind: part.kind, text: "", citations: 0, isOpen: true };
  item.parts.set(key, open);
  state.events.push({ kind: "part-start", choice: 0, at: open.at, part });
  return open;
}

function grow(state: ReaderState, part: OpenPart, delta: PartDelta): void {
  if (!part.isOpen || ("text" in delta && delta.text === "")) return;
  if ("text" in delta) part.text += delta.text;
  if (delta.kind === "citation") part.citations++;
  state.events.push({ kind: "part-delta", choice: 0, at: part.at, delta });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The text that an event is about; opened as `first` where the vendor has not. */
function openText(
  state: ReaderState,
  event: Fields,
  list: "content" | "summary",
  first: Fields,
): OpenPart | null {
  const item = findItem(state, event);
  if (item === undefined) return null;
  const index = event[list === "content" ? "content_index" : "summary_index"];
  const key = `${list}:${typeof index === "number" ? index : 0}`;
  return item.parts.get(key) ?? startText(state, item, key, first);
}

function startText(state: ReaderState, item: OpenItem, key: string, first: Fields): OpenPart | null {
  const part = decodeFirst(item.item, key, "annotations" in first ? { ...first, ...NO_ANNOTATIONS } : first);
  if (part === null || !("text" in part)) return null;
  const opened = start(state, item, key, { ...markPart(item, key, part), text: "" });
  grow(state, opened, { kind: "text", text: part.text });
  return opened;
}

/** The first part of an item keeps the rest of it; the others go on with it. */
function markPart<P extends Part>(item: OpenItem, key: string, part: P): P {
  return markPlace(part, item.parts.size === 0 ? restOf(item.item, key) : null);
}

/** Citations come one by one. */
const NO_ANNOTATIONS: Fields = { annotations: [] };

function decodeFirst(item: Fields, key: string, first: Fields): Part | null {
  if (item["type"] !== "reasoning") return clearLogprobs(decodeContentPart(first));
  const list = key.startsWith("summary") ? "summary" : "content";
  const [part] = decodeOutputItem({ type: "reasoning", id: item["id"], [list]: [first] });
  return part ?? null;
}

function restOf(item: Fields, key: string): Fields {
  if (item["type"] !== "reasoning") return restOfMessage(item);
  // A list that was empty at first is not: a part of it starts.
  return restOfReasoning(key.startsWith("content") ? omit(item, CONTENT) : item);
}

const CONTENT = new Set(["content"]);

function pushLogprobs(state: ReaderState, event: Fields): void {
  const list = event["logprobs"];
  if (!Array.isArray(list) || list.length === 0) return;
  state.events.push({ kind: "logprobs", choice: 0, value: { content: list } });
}

function addAnnotation(state: ReaderState, event: Fields): void {
  const part = openText(state, event, "content", OUTPUT_TEXT);
  if (part?.kind !== "text") return;
  grow(state, part, { kind: "citation", citation: decodeAnnotation(event["annotation"]) });
}

/** Ends an item: what it has and its events left out comes now, and what has no events comes whole. */
function closeItem(state: ReaderState, event: Fields): void {
  const done = asFields(event["item"]);
  if (done === null) return;
  const place = placeOf(event);
  openItem(state, place, done);
  const open = state.items.get(place) as OpenItem;
  if (open.isDone) return;
  if (isSearch(done)) state.searches += 1;
  fillItem(state, open, settleBegun(done));
  for (const part of open.parts.values()) end(state, part);
  open.isDone = true;
}

function fillItem(state: ReaderState, open: OpenItem, done: Fields): void {
  fillTexts(state, open, "summary", done["summary"]);
  fillTexts(state, open, "content", done["content"]);
  if (done["type"] === "reasoning") addEncrypted(state, open, done["encrypted_content"]);
  const call = open.parts.get(CALL);
  if (call !== undefined) {
    grow(state, call, { kind: "arguments", text: missing(call, done["arguments"] ?? done["input"]) });
  } else if (open.parts.size === 0) {
    for (const part of decodeOutputItem(done)) start(state, open, "whole", part);
  }
}

function fillTexts(state: ReaderState, open: OpenItem, list: "content" | "summary", entries: unknown): void {
  if (!Array.isArray(entries) || !HAS_TEXTS.has(open.item["type"])) return;
  for (const [index, raw] of entries.entries()) {
    const entry = asFields(raw);
    if (entry === null) continue;
    const key = `${list}:${index}`;
    const known = open.parts.get(key);
    if (known === undefined) pushLogprobs(state, entry);
    const part = known ?? startText(state, open, key, entry);
    if (part === null) continue;
    grow(state, part, { kind: "text", text: missing(part, entry["text"] ?? entry["refusal"]) });
    const annotations = Array.isArray(entry["annotations"]) ? entry["annotations"].slice(part.citations) : [];
    for (const one of annotations) grow(state, part, { kind: "citation", citation: decodeAnnotation(one) });
  }
}

const HAS_TEXTS = new Set<unknown>(["message", "reasoning"]);

/** What a whole text has more than has come of it. */
function missing(part: OpenPart, whole: unknown): string {
  const text = textOf(whole);
  return text.startsWith(part.text) ? text.slice(part.text.length) : "";
}

function addEncrypted(state: ReaderState, open: OpenItem, encrypted: unknown): void {
  if (typeof encrypted !== "string" || encrypted === "") return;
  const id = open.item["id"];
  const part = makeEncrypted(encrypted, typeof id === "string" ? id : null);
  start(state, open, "encrypted", markPart(open, "encrypted", part));
}

function finish(state: ReaderState, event: Fields): void {
  const response = asFields(event["response"]) ?? {};
  fillOutput(state, response["output"]);
  for (const item of state.items.values()) for (const part of item.parts.values()) end(state, part);
  state.events.push({ kind: "extras", extras: markExtras(decodeFrame(response)) });
  const tier = readTier(response);
  if (tier !== null) state.events.push({ kind: "service-tier", tier });
  const usage = decodeUsage(response, state.searches);
  if (usage !== null) state.events.push({ kind: "usage", usage });
  const ended = { status: String(event["type"]).replace("response.", ""), ...response };
  state.events.push({ kind: "finish", choice: 0, finish: decodeFinish(ended, state.hasCalls) });
  state.isDone = true;
}

/** A host that streams nothing but the end has its output there. */
function fillOutput(state: ReaderState, output: unknown): void {
  if (!Array.isArray(output) || state.items.size > 0) return;
  for (const [place, item] of output.entries()) closeItem(state, { output_index: place, item });
}

function failResponse(state: ReaderState, event: Fields): void {
  const response = asFields(event["response"]) ?? {};
  const error = asFields(response["error"]);
  endWithError(
    state,
    error === null
      ? brokenAnswer(`the upstream ended with ${String(event["type"])}`)
      : readVendorError(200, { error }),
  );
}

function end(state: ReaderState, part: OpenPart): void {
  if (!part.isOpen) return;
  part.isOpen = false;
  state.events.push({ kind: "part-end", choice: 0, at: part.at });
}
