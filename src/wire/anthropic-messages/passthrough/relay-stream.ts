import { BOUNDS } from "../../../base/bounds.ts";
import { FINISH_WORDS } from "../../canonical/finish-words.ts";
import type { AnswerEnd, AskedFor, StreamError } from "../../canonical/format.ts";
import type { AnswerRelay, RelayFinish, RelayIdentity, RelayVerdict } from "../../canonical/relay.ts";
import { NO_TOKENS } from "../../conversation/usage.ts";
import { brokenAnswer, type VendorError } from "../../conversation/vendor-error.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { EventSplitter, EventTooLargeError, type OnEvent } from "../../sse/split-events.ts";
import { decodeFinish } from "../finish-reason.ts";
import { findStreamError, parseEvent, printEvent, printStreamError } from "../stream-events.ts";
import { encodeCounters, encodeUsage, foldUsage, readUsage } from "../usage.ts";

/**
 * A Messages stream on its way to a Messages client. What holds the words passes as the bytes it came in; only the
 * events around it are read: the beginning, each block's start, and the end, which waits for its price. Changed in
 * place, as in openai-chat/relay-stream.
 */
interface RelayState {
  readonly identity: RelayIdentity;
  readonly estimatedPromptTokens: number;
  readonly splitter: EventSplitter;
  hasStarted: boolean;
  /** Index of the block that is open; null where none is. */
  openIndex: number | null;
  hasBlocks: boolean;
  sawToken: boolean;
  isDone: boolean;
  error: VendorError | null;
  /** All counters so far, as the vendor spells them. */
  usage: Fields;
  /** Searches of the vendor's that have begun. */
  searches: number;
  producedBytes: number;
  /** What `message_delta` has said: its `delta`, and what stood beside. */
  delta: Record<string, unknown>;
  readonly beside: Record<string, unknown>;
}

/** A relay at its beginning. */
export function createMessagesRelay(
  identity: RelayIdentity,
  asked: Pick<AskedFor, "estimatedPromptTokens">,
): AnswerRelay {
  const state: RelayState = {
    identity,
    estimatedPromptTokens: asked.estimatedPromptTokens,
    splitter: new EventSplitter(BOUNDS.eventBytes),
    hasStarted: false,
    openIndex: null,
    hasBlocks: false,
    sawToken: false,
    isDone: false,
    error: null,
    usage: {},
    searches: 0,
    producedBytes: 0,
    delta: {},
    beside: {},
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
    get isFinished() {
      return typeof state.delta["stop_reason"] === "string";
    },
    get error() {
      return state.error;
    },
    get usage() {
      return readUsage(state.usage);
    },
    get searches() {
      return state.searches;
    },
    get producedBytes() {
      return state.producedBytes;
    },
    judge: () => judge(state),
    finish: () => readFinish(state),
    stopShort() {
      state.isDone = true;
      state.delta = { ...state.delta, stop_reason: "max_tokens" };
      return "";
    },
    encodeEnd: (end) => encodeEnd(state, end),
    encodeError: (error: StreamError) => printStreamError(error),
  };
}

function collect(state: RelayState, feed: (onEvent: OnEvent) => void): string {
  const out: string[] = [];
  try {
    feed((text, start, end, name) => {
      if (state.isDone || state.error !== null || start === end) return;
      out.push(stepEvent(state, text, start, end, name));
    });
  } catch (error) {
    const isTooLarge = error instanceof EventTooLargeError;
    state.error ??= brokenAnswer(isTooLarge ? error.message : "an event of the stream cannot be read");
  }
  return out.join("");
}

/** How the events that are most of a stream begin, as the vendor writes them. */
const DELTA_HEAD = '{"type":"content_block_delta"';

function stepEvent(state: RelayState, text: string, start: number, end: number, name: string): string {
  const isDelta = name === "content_block_delta" || (name === "" && text.startsWith(DELTA_HEAD, start));
  if (isDelta) return passDelta(state, text, start, end);
  return stepParsed(state, text.slice(start, end), name);
}

function passDelta(state: RelayState, text: string, start: number, end: number): string {
  const size = countText(text, start, end);
  state.producedBytes += size;
  if (size > 0 && !text.startsWith(SIGNATURE_HEAD, text.indexOf(DELTA_MARK, start))) state.sawToken = true;
  return passBytes("content_block_delta", text.slice(start, end));
}

const DELTA_MARK = '"delta":{';
/** Nobody reads a signature. */
const SIGNATURE_HEAD = '"delta":{"type":"signature_delta"';

/** A delta ends with its text, so that is what stands behind the last `":"`, which no string has in it unescaped. */
function countText(text: string, start: number, end: number): number {
  const before = text.lastIndexOf(VALUE_MARK, end);
  return before < start ? 0 : Math.max(0, end - before - VALUE_MARK.length - DELTA_TAIL.length);
}

const VALUE_MARK = '":"';
const DELTA_TAIL = '"}}';

/** An event as it came. */
function passBytes(name: string, data: string): string {
  return `event: ${name}\ndata: ${data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data}\n\n`;
}

function stepParsed(state: RelayState, data: string, name: string): string {
  if (data === "[DONE]") {
    state.isDone = true;
    return "";
  }
  const event = parseEvent(data);
  if (event === null) {
    state.error = brokenAnswer("an event of the stream is not JSON");
    return "";
  }
  state.error = findStreamError(event, name);
  if (state.error !== null) return "";
  const type = typeof event["type"] === "string" ? event["type"] : name;
  const step = Object.hasOwn(STEPS, type) ? STEPS[type] : undefined;
  return step === undefined ? passBytes(type, data) : step(state, event, data);
}

type Step = (state: RelayState, event: Fields, data: string) => string;

const STEPS: Readonly<Record<string, Step>> = {
  message_start: stepStart,
  content_block_start: stepBlockStart,
  /** With its fields in another order, or without a name. */
  content_block_delta: (state, _event, data) => passDelta(state, data, 0, data.length),
  content_block_stop(state, _event, data) {
    state.openIndex = null;
    return passBytes("content_block_stop", data);
  },
  message_delta: holdDelta,
  message_stop(state) {
    state.isDone = true;
    return "";
  },
};

function stepStart(state: RelayState, event: Fields): string {
  const message = asFields(event["message"]) ?? {};
  if (state.hasBlocks) {
    state.error = brokenAnswer("the upstream began its answer anew in the middle of it");
    return "";
  }
  state.usage = foldUsage(state.usage, asFields(message["usage"]) ?? {});
  if (state.hasStarted) return "";
  state.hasStarted = true;
  const { id, model } = state.identity;
  return printEvent({
    ...event,
    type: "message_start",
    message: { ...message, ...readBeginning(state, message), id, model, usage: startUsage(state) },
  });
}

/** A turn that goes on for a tool of the vendor's comes whole in its beginning, its end with it. */
function readBeginning(state: RelayState, { content, stop_reason: reason, stop_sequence }: Fields): Fields {
  if (!Array.isArray(content) || content.length === 0) return {};
  if (typeof reason === "string") state.delta = { stop_reason: reason, stop_sequence: stop_sequence ?? null };
  state.hasBlocks = true;
  state.sawToken = true;
  return { content: content.map((block) => claimBlock(state.identity, asFields(block) ?? {})) };
}

function claimBlock(identity: RelayIdentity, block: Fields): Fields {
  const id = mapCallId(identity, block);
  return id === null ? block : { ...block, id };
}

/** Clients add to the counters of the beginning; a vendor that has none yet gets an estimate. */
function startUsage(state: RelayState): Fields {
  const estimate = { ...NO_TOKENS, promptTokens: state.estimatedPromptTokens };
  const counted = readUsage(state.usage);
  return { ...encodeCounters(counted ?? estimate), ...(counted === null ? {} : state.usage) };
}

function stepBlockStart(state: RelayState, event: Fields, data: string): string {
  const block = asFields(event["content_block"]) ?? {};
  state.openIndex = typeof event["index"] === "number" ? event["index"] : 0;
  state.hasBlocks = true;
  if (!isEmptyBlock(block)) state.sawToken = true;
  if (block["type"] === "server_tool_use" && block["name"] === "web_search") state.searches += 1;
  const id = mapCallId(state.identity, block);
  return id === null
    ? passBytes("content_block_start", data)
    : printEvent({ ...event, type: "content_block_start", content_block: { ...block, id } });
}

/** Whether a block says nothing, or nothing yet. */
export function isEmptyBlock({ type, text, thinking }: Fields): boolean {
  return WORDS.has(String(type)) && !text && !thinking;
}

const WORDS: ReadonlySet<string> = new Set(["text", "thinking", "redacted_thinking"]);

/** The id that the client knows a tool call by; null where it is the vendor's, or the block is no call. */
export function mapCallId(identity: RelayIdentity, block: Fields): string | null {
  if (block["type"] !== "tool_use") return null;
  const id = block["id"];
  if (typeof id !== "string" || id === "") return identity.makeCallId();
  return identity.originalIds?.get(id) ?? null;
}

function holdDelta(state: RelayState, event: Fields): string {
  const { type: _type, delta, usage, ...beside } = event;
  const said = Object.entries(asFields(delta) ?? {});
  // A later event that repeats a field without a value takes nothing back.
  const news = Object.fromEntries(said.filter(([name, value]) => value !== null || !(name in state.delta)));
  Object.assign(state.delta, news);
  Object.assign(state.beside, beside);
  state.usage = foldUsage(state.usage, asFields(usage) ?? {});
  return "";
}

function readFinish(state: RelayState): RelayFinish | null {
  const reason = state.delta["stop_reason"];
  if (typeof reason === "string") return describeFinish(reason);
  // A message that has stopped and does not say why has come to its end.
  return state.isDone ? describeFinish("end_turn") : null;
}

/** A stop reason as records have it. */
export function describeFinish(native: string): RelayFinish {
  return { client: FINISH_WORDS[decodeFinish(native, null).reason], native };
}

function judge(state: RelayState): RelayVerdict {
  if (state.error !== null) return "failed";
  const finish = readFinish(state);
  if (finish === null) return "unfinished";
  return !state.sawToken && SILENT_REASONS.has(finish.native) ? "empty" : "complete";
}

/** Reasons that explain no answer without a word. */
export const SILENT_REASONS: ReadonlySet<string> = new Set(["end_turn", "stop_sequence"]);

function encodeEnd(state: RelayState, end: AnswerEnd): string {
  const closing =
    state.openIndex === null ? "" : printEvent({ type: "content_block_stop", index: state.openIndex });
  const { service_tier: tier } = state.usage;
  const last = {
    type: "message_delta",
    delta: { stop_sequence: null, ...state.delta, stop_reason: readFinish(state)?.native ?? "end_turn" },
    usage: encodeUsage(end.report, state.usage, typeof tier === "string" ? tier : null),
    ...state.beside,
    ...(end.metadata === null ? {} : { gateway_metadata: end.metadata }),
  };
  return closing + printEvent(last) + printEvent({ type: "message_stop" });
}
