import { BOUNDS } from "../../../base/bounds.ts";
import { fail } from "../../../base/errors.ts";
import type { AnswerEvent, Finish, PartDelta } from "../../canonical/answer.ts";
import { growPart } from "../../canonical/collect-answer.ts";
import type { AnswerEnd, AnswerIdentity, AnswerWriter, AskedFor } from "../../canonical/format.ts";
import type { Part, ReasoningPart, Signature, ToolCallPart } from "../../canonical/parts.ts";
import { wrapReasoning } from "../../canonical/reasoning-envelope.ts";
import { NO_TOKENS, type TokenUsage } from "../../conversation/usage.ts";
import { asFields, type Fields, omit } from "../../json/fields.ts";
import { encodeStopReason } from "../finish-reason.ts";
import { encodeEvent, encodeStreamError } from "../stream-events.ts";
import { encodeCounters, encodeUsage } from "../usage.ts";
import { encodeCitation } from "./citations.ts";
import { encodeText } from "./encode-part.ts";
import { encodeWholePart, signatureBlock } from "./encode-response.ts";
import { isOwn, keptFields } from "./extras.ts";
import { isAnthropics, isSignedOrEncrypted } from "./reasoning-parts.ts";
import { wrapText } from "./tool-input.ts";

/**
 * The state of a stream while it is written. This API has one block open at a time, the canonical model several parts. A text or
 * reasoning yields to a part that starts after it and continues in a further block; a tool call must stay in one piece, so other
 * parts wait for its end.
 */
interface WriterState {
  readonly identity: AnswerIdentity;
  readonly asked: AskedFor;
  hasStarted: boolean;
  nextIndex: number;
  readonly parts: Map<number, OpenPart>;
  /** The part that may write. */
  current: OpenPart | null;
  readonly waiting: OpenPart[];
  heldChars: number;
  finish: Finish | null;
  finishFields: Fields;
  isOwnFinish: boolean;
  /** The answer's fields that only this format has, and those of them that were sent already. */
  readonly extras: Record<string, unknown>;
  sentExtras: Fields;
  usage: TokenUsage | null;
  serviceTier: string | null;
  hasCalls: boolean;
}

interface OpenPart {
  /** The part so far, without texts that were written. */
  part: Part;
  /** Events that wait for its turn; null if none have to. */
  held: AnswerEvent[] | null;
  /** Whether one of its blocks is open. */
  isOpen: boolean;
  /** Whether any of it was sent. */
  isKnown: boolean;
  /** A signature that came after the start. */
  lateSignature: Signature | null;
  hasEnded: boolean;
}

/** Returns a writer of this format's streams. The API has one choice, so it is the first. */
export function createWriter(identity: AnswerIdentity, asked: AskedFor): AnswerWriter {
  const state: WriterState = {
    identity,
    asked,
    hasStarted: false,
    nextIndex: 0,
    parts: new Map(),
    current: null,
    waiting: [],
    heldChars: 0,
    finish: null,
    finishFields: {},
    isOwnFinish: false,
    extras: {},
    sentExtras: {},
    usage: null,
    serviceTier: null,
    hasCalls: false,
  };
  return {
    step: (event) => stepAnswer(state, event),
    end: (end) => writeEnd(state, end),
    fail: encodeStreamError,
  };
}

function stepAnswer(state: WriterState, event: AnswerEvent): string {
  switch (event.kind) {
    case "part-start":
    case "part-delta":
    case "part-end":
      return event.choice === 0 ? stepPart(state, event) : "";
    case "finish":
      if (event.choice === 0) holdFinish(state, event);
      return "";
    case "usage":
      state.usage = event.usage;
      return "";
    case "service-tier":
      state.serviceTier = event.tier;
      return "";
    case "extras":
      Object.assign(state.extras, keptFields(event));
      return "";
    default:
      return "";
  }
}

function holdFinish(state: WriterState, event: AnswerEvent & { readonly kind: "finish" }): void {
  state.finish = event.finish;
  state.finishFields = keptFields(event);
  state.isOwnFinish = isOwn(event);
}

type PartEvent = AnswerEvent & { readonly kind: "part-start" | "part-delta" | "part-end" };

function stepPart(state: WriterState, event: PartEvent): string {
  const open = event.kind === "part-start" ? addPart(state, event.at, event.part) : state.parts.get(event.at);
  if (open === undefined || open.hasEnded) return "";
  if (open.held !== null) {
    hold(state, open, event);
    return "";
  }
  if (open === state.current) return play(state, open, event) + playWaiting(state);
  if (event.kind === "part-end" && !hasPendingSignature(open)) {
    open.hasEnded = true;
    return "";
  }
  const mayTakeTurn = state.current === null || isText(state.current.part);
  if (!mayTakeTurn) {
    open.held = [];
    state.waiting.push(open);
    hold(state, open, event);
    return "";
  }
  return takeTurn(state, open) + play(state, open, event) + playWaiting(state);
}

/** Returns whether the end of a part that yielded still has to send something. */
function hasPendingSignature({ part, lateSignature }: OpenPart): boolean {
  return lateSignature !== null || (part.kind === "reasoning" && isSignedOrEncrypted(part));
}

function addPart(state: WriterState, at: number, part: Part): OpenPart {
  const open: OpenPart = {
    part,
    held: null,
    isOpen: false,
    isKnown: false,
    lateSignature: null,
    hasEnded: false,
  };
  state.parts.set(at, open);
  return open;
}

/** Texts can be split into several blocks, so nothing has to wait for their end. */
function isText({ kind }: Part): boolean {
  return kind === "text" || kind === "refusal" || kind === "reasoning";
}

function hold(state: WriterState, open: OpenPart, event: PartEvent): void {
  open.held?.push(event);
  state.heldChars += event.kind === "part-delta" && "text" in event.delta ? event.delta.text.length : 0;
  if (state.heldChars > BOUNDS.eventBytes) {
    fail("upstream_error", "The upstream's answer interleaves more text than the gateway can buffer.");
  }
}

/** Gives the turn to a part; the part that had it closes its block for now. */
function takeTurn(state: WriterState, open: OpenPart): string {
  const out = state.current === null ? "" : suspend(state, state.current);
  state.current = open;
  return out;
}

/** Writes the held events, part by part, until a part has not ended. */
function playWaiting(state: WriterState): string {
  let out = "";
  while (state.current === null) {
    const next = state.waiting.shift();
    if (next === undefined) {
      state.heldChars = 0;
      break;
    }
    const events = next.held ?? [];
    next.held = null;
    state.current = next;
    for (const event of events) out += play(state, next, event as PartEvent);
  }
  return out;
}

function play(state: WriterState, open: OpenPart, event: PartEvent): string {
  if (event.kind === "part-start") return startPart(state, open);
  if (event.kind === "part-delta") return growOpen(state, open, event.delta);
  open.hasEnded = true;
  if (state.current === open) state.current = null;
  return endPart(state, open);
}

function startPart(state: WriterState, open: OpenPart): string {
  const { part } = open;
  switch (part.kind) {
    case "text":
      return writeBlocks(state, signatureBlock(part.signature, { kind: "text" })) + startText(state, open);
    case "refusal":
      return startText(state, open);
    case "reasoning":
      return part.text === "" ? "" : writeText(state, open, takeText(open));
    case "tool-call":
      return startCall(state, open, part);
    default:
      return writeBlocks(state, encodeWholePart(part));
  }
}

/**
 * Starts a text. A text that was a block of this format, or has a signature, opens its block at once, even if it stays empty;
 * others open theirs with the first text.
 */
function startText(state: WriterState, open: OpenPart): string {
  const { part } = open;
  if (part.kind !== "text") return writeText(state, open, takeText(open));
  const citations = part.citations ?? [];
  const text = takeText(open);
  const opensAtOnce = isOwn(part) || part.signature !== undefined;
  const out = opensAtOnce ? openBlock(state, open, textBlock(part)) : "";
  const cited = citations.map((citation) => growOpen(state, open, { kind: "citation", citation }));
  return out + writeText(state, open, text) + cited.join("");
}

function takeText(open: OpenPart): string {
  const { part } = open;
  if (!("text" in part)) return "";
  open.part = { ...part, text: "" };
  return part.text;
}

function textBlock(part: Part): Fields {
  return part.kind === "text" ? { ...encodeText(part, undefined), text: "" } : { type: "text", text: "" };
}

function startCall(state: WriterState, open: OpenPart, part: ToolCallPart): string {
  state.hasCalls = true;
  const block = { type: "tool_use", id: part.id, name: part.name, input: {}, ...keptFields(part) };
  const proof = writeBlocks(state, signatureBlock(part.signature, { kind: "call", id: part.id }));
  const start = proof + openBlock(state, open, block);
  if (part.tool === "custom") return start;
  open.part = { ...part, arguments: "" };
  return start + writeArguments(state, part.arguments);
}

function growOpen(state: WriterState, open: OpenPart, delta: PartDelta): string {
  const { part } = open;
  switch (delta.kind) {
    case "text":
      return isText(part) ? writeText(state, open, delta.text) : "";
    case "arguments":
      if (part.kind === "tool-call" && part.tool === "function") return writeArguments(state, delta.text);
      break;
    case "citation": {
      if (part.kind !== "text") return "";
      const start = open.isOpen ? "" : openBlock(state, open, textBlock(part));
      return start + writeDelta(state, { type: "citations_delta", citation: encodeCitation(delta.citation) });
    }
    case "part-signature":
      open.lateSignature = { value: delta.value, origin: delta.origin };
      return "";
  }
  open.part = growPart(part, delta);
  return "";
}

function writeText(state: WriterState, open: OpenPart, text: string): string {
  if (text === "") return "";
  const isThinking = open.part.kind === "reasoning";
  const block = isThinking ? thinkingBlock(open.part) : textBlock(open.part);
  const start = open.isOpen ? "" : openBlock(state, open, block);
  const delta = isThinking ? { type: "thinking_delta", thinking: text } : { type: "text_delta", text };
  return start + writeDelta(state, delta);
}

function thinkingBlock(part: Part): Fields {
  return { type: "thinking", thinking: "", signature: "", ...keptFields(part) };
}

function writeArguments(state: WriterState, json: string): string {
  return json === "" ? "" : writeDelta(state, { type: "input_json_delta", partial_json: json });
}

/** Closes the block of a text for now. */
function suspend(state: WriterState, open: OpenPart): string {
  const signature =
    open.isOpen && open.part.kind === "reasoning" ? writeSignature(state, open, open.part) : "";
  return signature + closeBlock(state, open);
}

function endPart(state: WriterState, open: OpenPart): string {
  const { part } = open;
  if (part.kind === "reasoning") return endReasoning(state, open, part);
  const isCustom = part.kind === "tool-call" && part.tool === "custom";
  const input = isCustom ? writeArguments(state, JSON.stringify(wrapText(part.arguments))) : "";
  return input + closeBlock(state, open) + writeLateSignature(state, open);
}

/**
 * Writes a signature that came late. A text's has no place, because agents take the last block of an answer for its text; it is
 * restored from the gateway's memory of turns.
 */
function writeLateSignature(state: WriterState, { part, lateSignature }: OpenPart): string {
  if (lateSignature === null || part.kind !== "tool-call") return "";
  return writeBlocks(state, signatureBlock(lateSignature, { kind: "call", id: part.id }));
}

/** Ends reasoning. What its vendor wants back is complete now; what was not sent goes into a block of its own. */
function endReasoning(state: WriterState, open: OpenPart, part: ReasoningPart): string {
  if (open.isOpen) {
    const isSeparate = isAnthropics(part) && part.encrypted !== null;
    const signature = writeSignature(state, open, part) + closeBlock(state, open);
    return isSeparate ? signature + writeRedacted(state, part, part.encrypted ?? "") : signature;
  }
  if (isAnthropics(part) && part.encrypted === null) {
    const isEmpty = open.isKnown || (part.signature === null && !isOwn(part));
    if (isEmpty) return "";
    return (
      openBlock(state, open, thinkingBlock(part)) +
      writeSignature(state, open, part) +
      closeBlock(state, open)
    );
  }
  if (!isSignedOrEncrypted(part)) return "";
  return writeRedacted(state, part, isAnthropics(part) ? (part.encrypted ?? "") : wrapReasoning(part));
}

/** Writes the signature once: clients take the last one as the whole. */
function writeSignature(state: WriterState, open: OpenPart, part: ReasoningPart): string {
  const signature = isAnthropics(part) ? part.signature : wrapReasoning(part);
  if (isAnthropics(part) || isSignedOrEncrypted(part))
    open.part = { ...part, signature: null, encrypted: null };
  return signature === null ? "" : writeDelta(state, { type: "signature_delta", signature });
}

function writeRedacted(state: WriterState, part: ReasoningPart, data: string): string {
  return writeBlocks(state, [{ type: "redacted_thinking", data, ...keptFields(part) }]);
}

/** Writes whole blocks between those of parts. */
function writeBlocks(state: WriterState, blocks: readonly Fields[]): string {
  return blocks.map((block) => writeWhole(state, block)).join("");
}

function writeWhole(state: WriterState, block: Fields): string {
  const { start, delta } = splitWhole(block);
  const index = state.nextIndex;
  state.nextIndex++;
  return (
    writeStart(state) +
    encodeEvent({ type: "content_block_start", index, content_block: start }) +
    (delta === null ? "" : encodeEvent({ type: "content_block_delta", index, delta })) +
    encodeEvent({ type: "content_block_stop", index })
  );
}

/** Splits a whole block, because clients expect inputs and summaries in deltas, as the vendor sends them. */
function splitWhole(block: Fields): { readonly start: Fields; readonly delta: Fields | null } {
  const input = asFields(block["input"]);
  if (input !== null && Object.keys(input).length > 0) {
    return {
      start: { ...block, input: {} },
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    };
  }
  if (block["type"] === "compaction" && typeof block["content"] === "string") {
    return {
      start: { ...block, content: null },
      delta: { type: "compaction_delta", content: block["content"] },
    };
  }
  return { start: block, delta: null };
}

function openBlock(state: WriterState, open: OpenPart, block: Fields): string {
  open.isOpen = true;
  open.isKnown = true;
  const start = writeStart(state);
  return start + encodeEvent({ type: "content_block_start", index: state.nextIndex, content_block: block });
}

function writeDelta(state: WriterState, delta: Fields): string {
  return encodeEvent({ type: "content_block_delta", index: state.nextIndex, delta });
}

function closeBlock(state: WriterState, open: OpenPart): string {
  if (!open.isOpen) return "";
  open.isOpen = false;
  return encodeEvent({ type: "content_block_stop", index: state.nextIndex++ });
}

/** Writes the start of the stream once, with the vendor's count of the prompt if it is known, else with an estimate. */
function writeStart(state: WriterState): string {
  if (state.hasStarted) return "";
  state.hasStarted = true;
  const { usage: raw, ...extras } = state.extras;
  state.sentExtras = extras;
  const estimate = { ...NO_TOKENS, promptTokens: state.asked.estimatedPromptTokens };
  const message = {
    id: state.identity.id,
    type: "message",
    role: "assistant",
    model: state.identity.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...extras,
    usage: { ...encodeCounters(state.usage ?? estimate), ...(state.usage === null ? {} : asFields(raw)) },
  };
  return encodeEvent({ type: "message_start", message });
}

/** Fields of the answer that belong into `delta`; all others stand next to it. */
const DELTA_FIELDS: ReadonlySet<string> = new Set(["container"]);

function writeEnd(state: WriterState, end: AnswerEnd): string {
  let out = writeStart(state);
  for (const at of state.parts.keys()) out += stepPart(state, { kind: "part-end", choice: 0, at });
  const { usage: raw, ...extras } = state.extras;
  const known = new Set(Object.keys(extras).filter((name) => extras[name] === state.sentExtras[name]));
  const news = omit(extras, known);
  const finish = state.finish ?? { reason: "stop", native: "", stopSequence: null };
  const delta = {
    stop_reason: encodeStopReason(finish, state.isOwnFinish, state.hasCalls),
    stop_sequence: finish.stopSequence,
    ...state.finishFields,
    ...Object.fromEntries(Object.entries(news).filter(([name]) => DELTA_FIELDS.has(name))),
  };
  const last = {
    type: "message_delta",
    delta,
    usage: encodeUsage(end.report, asFields(raw) ?? {}, state.serviceTier),
    ...omit(news, DELTA_FIELDS),
    ...(end.metadata === null ? {} : { gateway_metadata: end.metadata }),
  };
  return out + encodeEvent(last) + encodeEvent({ type: "message_stop" });
}
