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
import { encodeText } from "./encode-block.ts";
import { encodeWholePart, proofOf } from "./encode-response.ts";
import { isOwn, keptFields } from "./extras.ts";
import { hasProof, isAnthropics } from "./reasoning.ts";
import { wrapText } from "./tool-input.ts";

/**
 * A stream while it is written. This API has one block open at a time, the hub several parts: a text or reasoning gives
 * way to what starts after it and goes on in a further block; behind a tool call, which must stay in one piece, others
 * wait.
 */
interface WriterState {
  readonly identity: AnswerIdentity;
  readonly asked: AskedFor;
  hasStarted: boolean;
  nextIndex: number;
  readonly parts: Map<number, OpenPart>;
  /** The part whose turn it is. */
  current: OpenPart | null;
  readonly waiting: OpenPart[];
  heldChars: number;
  finish: Finish | null;
  finishFields: Fields;
  isOwnFinish: boolean;
  /** The answer's fields that only this format has, and those of them that clients know already. */
  readonly extras: Record<string, unknown>;
  sentExtras: Fields;
  usage: TokenUsage | null;
  serviceTier: string | null;
  hasCalls: boolean;
}

interface OpenPart {
  /** As far as it has come; texts that were written are not in it. */
  part: Part;
  /** Events that wait for its turn; null while none have to. */
  held: AnswerEvent[] | null;
  /** Whether a block of it is open. */
  isOpen: boolean;
  /** Whether clients have anything of it. */
  isKnown: boolean;
  /** A proof that came behind the start. */
  lateProof: Signature | null;
  hasEnded: boolean;
}

/** A writer of this format's streams. The API knows one choice, so it is the first. */
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
  if (event.kind === "part-end" && !owesMore(open)) {
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

/** Whether the end of a part that gave way has anything to tell. */
function owesMore({ part, lateProof }: OpenPart): boolean {
  return lateProof !== null || (part.kind === "reasoning" && hasProof(part));
}

function addPart(state: WriterState, at: number, part: Part): OpenPart {
  const open: OpenPart = {
    part,
    held: null,
    isOpen: false,
    isKnown: false,
    lateProof: null,
    hasEnded: false,
  };
  state.parts.set(at, open);
  return open;
}

/** Texts can be cut into several blocks; what waits for them would wait in vain. */
function isText({ kind }: Part): boolean {
  return kind === "text" || kind === "refusal" || kind === "reasoning";
}

function hold(state: WriterState, open: OpenPart, event: PartEvent): void {
  open.held?.push(event);
  state.heldChars += event.kind === "part-delta" && "text" in event.delta ? event.delta.text.length : 0;
  if (state.heldChars > BOUNDS.eventBytes) {
    fail("upstream_error", "The upstream's answer has too much at once that must be told one after another.");
  }
}

/** Gives the turn to a part; the one that had it closes its block for now. */
function takeTurn(state: WriterState, open: OpenPart): string {
  const out = state.current === null ? "" : suspend(state, state.current);
  state.current = open;
  return out;
}

/** Plays what waited, part by part, until one of them is not at its end. */
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
      return writeBlocks(state, proofOf(part.signature, { kind: "text" })) + startText(state, open);
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

/** Ours, and those with a proof, begin with a block even where they stay empty; others with their first words. */
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
  const proof = writeBlocks(state, proofOf(part.signature, { kind: "call", id: part.id }));
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
    case "proof":
      open.lateProof = { value: delta.value, origin: delta.origin };
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

/** Closes a text's block for now. */
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
  return input + closeBlock(state, open) + writeLateProof(state, open);
}

/**
 * A text's proof that comes late has no place: agents take the last block of an answer for its text. It comes back from
 * the gateway's memory of turns.
 */
function writeLateProof(state: WriterState, { part, lateProof }: OpenPart): string {
  if (lateProof === null || part.kind !== "tool-call") return "";
  return writeBlocks(state, proofOf(lateProof, { kind: "call", id: part.id }));
}

/** What its vendor wants back is complete now; what clients have not been told of it goes into a block of its own. */
function endReasoning(state: WriterState, open: OpenPart, part: ReasoningPart): string {
  if (open.isOpen) {
    const isApart = isAnthropics(part) && part.encrypted !== null;
    const signature = writeSignature(state, open, part) + closeBlock(state, open);
    return isApart ? signature + writeRedacted(state, part, part.encrypted ?? "") : signature;
  }
  if (isAnthropics(part) && part.encrypted === null) {
    const isNothing = open.isKnown || (part.signature === null && !isOwn(part));
    if (isNothing) return "";
    return (
      openBlock(state, open, thinkingBlock(part)) +
      writeSignature(state, open, part) +
      closeBlock(state, open)
    );
  }
  if (!hasProof(part)) return "";
  return writeRedacted(state, part, isAnthropics(part) ? (part.encrypted ?? "") : wrapReasoning(part));
}

/** Clients take the last signature as the whole, so it goes out once; what went out is not due again. */
function writeSignature(state: WriterState, open: OpenPart, part: ReasoningPart): string {
  const signature = isAnthropics(part) ? part.signature : wrapReasoning(part);
  if (isAnthropics(part) || hasProof(part)) open.part = { ...part, signature: null, encrypted: null };
  return signature === null ? "" : writeDelta(state, { type: "signature_delta", signature });
}

function writeRedacted(state: WriterState, part: ReasoningPart, data: string): string {
  return writeBlocks(state, [{ type: "redacted_thinking", data, ...keptFields(part) }]);
}

/** Whole blocks, between those of parts. */
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

/** Clients know inputs and summaries to come in deltas, as the vendor sends them. */
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

/** The beginning, once: with the vendor's count of the prompt where it is known, else with an estimate. */
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

/** Fields of the answer that stand in `delta`; all others stand beside it. */
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
