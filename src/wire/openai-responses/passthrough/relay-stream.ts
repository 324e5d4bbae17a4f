import { BOUNDS } from "../../../base/bounds.ts";
import type { AnswerEnd, StreamError } from "../../canonical/format.ts";
import type { AnswerRelay, RelayFinish, RelayIdentity, RelayVerdict } from "../../canonical/relay.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import { brokenAnswer, readVendorError, type VendorError } from "../../conversation/vendor-error.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { parseJson } from "../../json/parse-json.ts";
import {
  closingQuote,
  decodeUtf8,
  encodeLatin1,
  fields,
  type JsonNode,
  LEAF,
  memberOf,
  numberOf,
  scanJson,
  stringOf,
} from "../../json/scan.ts";
import type { Splice } from "../../json/splice.ts";
import { EventSplitter, EventTooLargeError, type OnEvent } from "../../sse/split-events.ts";
import { encodeFailure } from "../errors.ts";
import { encodeEvent } from "../stream-events.ts";
import { decodeUsage, isSearch } from "../usage.ts";
import {
  DELTA,
  type DeltaPattern,
  learnPattern,
  placeBehind,
  readWholeNumber,
  SEQUENCE,
} from "./delta-pattern.ts";
import { createOpenItems, type OpenItems, TEXT_EVENTS } from "./open-items.ts";
import {
  type CallIds,
  claimResponse,
  createCallIds,
  encodePriced,
  isCall,
  isEmptyResponse,
  readFinish,
} from "./rewrite-response.ts";

/** A Responses stream on its way to a Responses client. The functions below change it, nothing else does. */
interface RelayState {
  readonly identity: RelayIdentity;
  readonly splitter: EventSplitter;
  /** What the client gets for the piece that is being read, bytes read as Latin-1. */
  readonly out: string[];
  /** The events that the stream's text comes in at the moment. */
  delta: DeltaPattern | null;
  readonly callIds: CallIds;
  /** The number of the next event, should the gateway have to say something itself. */
  sequence: number;
  /** The response as it began, for the event that says it failed. */
  begun: Fields;
  /** Items that are over, by their place, for a last event that leaves them out. */
  readonly items: Map<number, string>;
  /** Items that are not over, for a last event that says that the response failed. */
  readonly openItems: OpenItems;
  /** The last event, held back until the answer is priced. */
  terminal: Fields | null;
  sawToken: boolean;
  sawCall: boolean;
  isDone: boolean;
  usage: TokenUsage | null;
  searches: number;
  producedBytes: number;
  error: VendorError | null;
}

/**
 * A relay between two that speak this format: events pass as they came, but for those that name the response, which get
 * the gateway's id and model, and the last one, which waits for its price.
 */
export function createResponsesRelay(identity: RelayIdentity): AnswerRelay {
  const state: RelayState = {
    identity,
    splitter: new EventSplitter(BOUNDS.eventBytes, (text, from) => passDelta(state, text, from)),
    out: [],
    delta: null,
    callIds: createCallIds(identity),
    sequence: 0,
    begun: {},
    items: new Map(),
    openItems: createOpenItems(),
    terminal: null,
    sawToken: false,
    sawCall: false,
    isDone: false,
    usage: null,
    searches: 0,
    producedBytes: 0,
    error: null,
  };
  return {
    step: (piece) => collect(state, (onEvent) => state.splitter.push(piece, onEvent)),
    end: () => collect(state, (onEvent) => state.splitter.end(onEvent)),
    get sawToken() {
      return state.sawToken;
    },
    get isDone() {
      return state.isDone;
    },
    /** Nothing follows the finish here. */
    get isFinished() {
      return state.isDone;
    },
    get error() {
      return state.error;
    },
    get usage() {
      return state.usage;
    },
    get searches() {
      return state.searches;
    },
    get producedBytes() {
      return state.producedBytes;
    },
    judge: () => judge(state),
    finish: () => finishOf(state),
    stopShort() {
      state.isDone = true;
      state.terminal = { type: "response.incomplete", response: describeShort(state) };
      return "";
    },
    encodeEnd: (end) => encodeEnd(state, end),
    encodeError: (error) => encodeError(state, error),
  };
}

function collect(state: RelayState, feed: (onEvent: OnEvent) => void): string {
  try {
    feed((text, start, end, name) => {
      state.out.push(stepEvent(state, text.slice(start, end), name));
    });
  } catch (error) {
    // Whatever a vendor sends must end in an error event, never in a client that hangs.
    const isTooLarge = error instanceof EventTooLargeError;
    state.error ??= brokenAnswer(isTooLarge ? error.message : "an event of the stream cannot be read");
  }
  return state.out.splice(0).join("");
}

/** An answer that came whole stays whole. Most have said something by then; of the others all that has come is looked at. */
function judge(state: RelayState): RelayVerdict {
  if (state.error !== null) return "failed";
  const response = asFields(state.terminal?.["response"]);
  if (response === null) return "unfinished";
  return !state.sawToken && isEmptyResponse(fillOutput(state, response)) ? "empty" : "complete";
}

function finishOf(state: RelayState): RelayFinish | null {
  const response = asFields(state.terminal?.["response"]);
  return response === null ? null : readFinish(response, state.sawCall);
}

const EVENT = fields({
  type: LEAF,
  sequence_number: LEAF,
  delta: LEAF,
  output_index: LEAF,
  content_index: LEAF,
  summary_index: LEAF,
  item: fields({ type: LEAF, call_id: LEAF }),
  response: LEAF,
  error: LEAF,
});

function stepEvent(state: RelayState, data: string, name: string): string {
  if (state.isDone || state.error !== null || data === "" || data === "[DONE]") return "";
  const event = scanJson(data, EVENT);
  const type = stringOf(data, memberOf(event, "type")) ?? name;
  if (Object.hasOwn(TEXT_EVENTS, type)) addText(state, type, name, data, event);
  if (type === "error" || (type === "" && memberOf(event, "error") !== undefined)) {
    state.error = readVendorError(200, parse(data));
    return "";
  }
  if (memberOf(event, "response")?.kind === "object") return relayResponse(state, type, parse(data));
  return relayBytes(state, type, data, event);
}

/** Takes an event with more of a text the long way, and learns what the next will look like. */
function addText(state: RelayState, type: string, name: string, data: string, event: JsonNode): void {
  const text = state.openItems.textOf(type, data, event);
  const delta = memberOf(event, "delta");
  if (delta?.kind === "string") text.add(data.slice(delta.start + 1, delta.end - 1));
  if (name === type) state.delta = learnPattern(name, data, text, event);
}

/** The shortest way: the event passes as it stands, where it looks like the vendor's own. */
function passDelta(state: RelayState, text: string, from: number): number {
  const { delta } = state;
  if (delta === null || state.isDone || state.error !== null || !text.startsWith(delta.begin, from))
    return from;
  const data = from + delta.begin.length;
  const end = text.indexOf("\n", data);
  if (end < 0 || text.charAt(end + 1) !== "\n" || text.charAt(end - 1) !== "}") return from;
  // Cut out, so that what is not in it is not looked for in all events behind it.
  const event = text.slice(data, end);
  const number = readWholeNumber(event, placeBehind(event, SEQUENCE));
  const said = placeBehind(event, DELTA);
  if (number === null || said < 0 || !event.includes(delta.type)) return from;
  const length = closingQuote(event, said) - said;
  if (length < 0) return from;
  for (const place of delta.places) if (!event.includes(place)) return from;
  state.sequence = number + 1;
  if (length > 0) state.sawToken = true;
  state.producedBytes += length;
  delta.text.add(event.slice(said, said + length));
  state.out.push(text.slice(from, end + 2));
  return end + 2;
}

function parse(data: string): Fields {
  return asFields(parseJson(decodeUtf8(data))) ?? {};
}

/** The long way: what the event says of the response becomes what the gateway says of it. */
function relayResponse(state: RelayState, type: string, event: Fields): string {
  const response = asFields(event["response"]) ?? {};
  if (type === "response.failed" || type === "response.cancelled") {
    const error = asFields(response["error"]);
    state.error =
      error === null ? brokenAnswer(`the upstream ended with ${type}`) : readVendorError(200, { error });
    return "";
  }
  const claimed = { ...event, response: claimResponse(response, state.identity, state.callIds) };
  state.usage = decodeUsage(response, state.searches) ?? state.usage;
  if (type === "response.completed" || type === "response.incomplete") {
    state.terminal = claimed;
    state.isDone = true;
    return "";
  }
  state.begun = claimed.response;
  return encodeEvent({ ...claimed, sequence_number: count(state, event["sequence_number"]) });
}

/** The vendor's number of an event, or the next where it gives none. */
function count(state: RelayState, given: unknown): number {
  const number = typeof given === "number" ? given : state.sequence;
  state.sequence = number + 1;
  return number;
}

/** The short way: the event's bytes, with a number where it has none and a call's id where the client knows another. */
function relayBytes(state: RelayState, type: string, data: string, event: JsonNode): string {
  watch(state, type, data, event);
  const splices: Splice[] = [];
  const number = memberOf(event, "sequence_number");
  const next = count(state, numberOf(data, number));
  if (number === undefined) splices.push(insertAt(event.start + 1, `"sequence_number":${next},`));
  const call = claimCall(state, data, event);
  if (call !== null) splices.push(call);
  // Data of several lines have been joined; JSON does not mind a space there.
  const line = spliceText(data, splices).replaceAll("\n", " ");
  return type === "" ? `data: ${line}\n\n` : `event: ${type}\ndata: ${line}\n\n`;
}

/** Takes from an event what the gateway has to know. */
function watch(state: RelayState, type: string, data: string, event: JsonNode): void {
  const delta = memberOf(event, "delta");
  if (delta?.kind === "string" && delta.end - delta.start > 2) {
    state.sawToken = true;
    state.producedBytes += delta.end - delta.start - 2;
  }
  const item = memberOf(event, "item");
  if (item === undefined) return;
  const itemType = stringOf(data, memberOf(item, "type"));
  if (itemType !== "message" && itemType !== "reasoning") state.sawToken = true;
  if (isCall(itemType)) state.sawCall = true;
  const whole = data.slice(item.start, item.end);
  if (type === "response.output_item.added") state.openItems.begin(placeOf(data, event), whole);
  if (type !== "response.output_item.done") return;
  state.openItems.end(placeOf(data, event));
  state.items.set(placeOf(data, event), whole);
  if (itemType?.endsWith("_search_call") && isSearch(parse(whole))) state.searches += 1;
}

function placeOf(data: string, event: JsonNode): number {
  return numberOf(data, memberOf(event, "output_index")) ?? 0;
}

function claimCall(state: RelayState, data: string, event: JsonNode): Splice | null {
  const item = memberOf(event, "item");
  const type = stringOf(data, memberOf(item, "type"));
  if (item === undefined || !isCall(type)) return null;
  const node = memberOf(item, "call_id");
  const vendorId = stringOf(data, node) ?? "";
  const id = state.callIds.idFor(vendorId, placeOf(data, event));
  if (id === vendorId) return null;
  const json = encodeLatin1(JSON.stringify(id));
  if (node === undefined) return insertAt(item.start + 1, `"call_id":${json},`);
  return { start: node.start, end: node.end, insert: json };
}

function insertAt(place: number, insert: string): Splice {
  return { start: place, end: place, insert };
}

/** Few and in order, so that text is joined and no buffer made. */
function spliceText(text: string, splices: readonly Splice[]): string {
  let out = "";
  let from = 0;
  for (const { start, end, insert } of splices.toSorted((a, b) => a.start - b.start)) {
    out += text.slice(from, start) + insert;
    from = end;
  }
  return out + text.slice(from);
}

function encodeEnd(state: RelayState, end: AnswerEnd): string {
  const { terminal } = state;
  if (terminal === null) return "";
  const response = fillOutput(state, asFields(terminal["response"]) ?? {});
  const sequence_number = count(state, terminal["sequence_number"]);
  return encodeEvent({ ...terminal, sequence_number, response: encodePriced(response, end) });
}

/** Some vendors leave the output out of the last event, where clients look for all of it. */
function fillOutput(state: RelayState, response: Fields): Fields {
  const { output } = response;
  if (Array.isArray(output) && output.length > 0) return response;
  return { ...response, output: readItems(state) };
}

function readItems(state: RelayState, more: readonly [number, Fields][] = []): unknown[] {
  const whole = [...state.items].map(([place, item]) => [place, parse(item)] as const);
  return [...whole, ...more]
    .toSorted(([a], [b]) => a - b)
    .map(([place, item]) => state.callIds.claim(item, place));
}

/** The response of an answer that ends where it is, as one that has reached its bound. */
function describeShort(state: RelayState): Fields {
  const { id, model, created } = state.identity;
  return {
    object: "response",
    error: null,
    ...state.begun,
    id,
    model,
    created_at: created,
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    output: readItems(state, state.openItems.read()),
  };
}

/** Agents look at no bare `error` event, so an answer that broke off is a response that failed. */
function encodeError(state: RelayState, error: StreamError): string {
  const { id, model, created } = state.identity;
  const response = {
    object: "response",
    incomplete_details: null,
    usage: null,
    ...state.begun,
    id,
    model,
    created_at: created,
    status: "failed",
    error: encodeFailure(error),
    output: readItems(state, state.openItems.read()),
  };
  return encodeEvent({ type: "response.failed", sequence_number: count(state, null), response });
}
