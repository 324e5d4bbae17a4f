import type { AnswerEvent, Finish, PartDelta } from "../../canonical/answer.ts";
import type { AnswerIdentity, AnswerWriter, AskedFor } from "../../canonical/format.ts";
import type {
  Extras,
  Part,
  ReasoningPart,
  RefusalPart,
  Signature,
  TextPart,
  ToolCallPart,
} from "../../canonical/parts.ts";
import { asFields, type Fields, isEmpty, omit } from "../../json/fields.ts";
import { encodeLatin1 } from "../../json/scan.ts";
import { encodeReasoning, SUMMARY_BREAK } from "../reasoning.ts";
import { encodeChunkEvent, encodeEnding, encodeStreamError, TEXT_HOLE } from "../stream-events.ts";
import { encodeUsage } from "../usage.ts";
import { encodeCitation } from "./citations.ts";
import { encodeFinish, hidesReasoning, readAudio } from "./encode-response.ts";
import { keptFields } from "./extras.ts";
import { encodeMadeImage } from "./made-images.ts";
import {
  encodeDetails,
  encodeExtraContent,
  encodeProofDetail,
  spreadExtraContent,
} from "./reasoning-details.ts";
import { encodeCall } from "./tool-call-parts.ts";

interface OpenReasoning {
  readonly kind: "reasoning";
  /** The part as it started, without its text. */
  readonly part: ReasoningPart;
  /** Its index among the details; null until something of it was sent. */
  index: number | null;
  /** The signature so far. It is sent whole, because clients keep only the last piece. */
  signature: string;
}

/** The call of a client that only knows `function_call`. */
interface OpenFunctionCall {
  readonly kind: "function-call";
}

interface OpenCall {
  readonly kind: "tool-call";
  readonly index: number;
  readonly part: ToolCallPart;
}

/** A part that may still grow. Parts that the client does not see are not tracked. */
type OpenPart = OpenReasoning | OpenCall | OpenFunctionCall | { readonly kind: "text" | "refusal" };

interface ChoiceState {
  readonly index: number;
  hasRole: boolean;
  /** Open parts by their index. */
  readonly open: Map<number, OpenPart>;
  details: number;
  /** Whether the latest reasoning was a summary; null before there was any. */
  saidSummary: boolean | null;
  callCount: number;
  /** Log probabilities of the next delta's tokens, sent with it. */
  logprobs: unknown;
  finish: Finish | null;
  extras: Extras | undefined;
  /** The bytes before and after the text of a chunk that has nothing else; null until there was one. */
  frame: readonly [string, string] | null;
}

interface WriterState {
  readonly identity: AnswerIdentity;
  readonly hidesReasoning: boolean;
  /** The client only knows `function_call`, which holds a single call. */
  readonly usesFunctions: boolean;
  readonly choices: Map<number, ChoiceState>;
  /** Fields of the answer as a whole that are sent with the next chunk. */
  carried: Record<string, unknown>;
}

/** Returns a writer of a stream for a client of this format (docs/api/chat.md, "Stream"). */
export function createWriter(identity: AnswerIdentity, asked: AskedFor): AnswerWriter {
  const state: WriterState = {
    identity,
    hidesReasoning: hidesReasoning(asked),
    usesFunctions: asked.usesFunctions === true,
    choices: new Map(),
    carried: {},
  };
  return {
    step: (event) => stepWriter(state, event),
    end({ report, metadata }) {
      const choices = [...state.choices.values()].toSorted((a, b) => a.index - b.index);
      const { wantsUsageChunk } = asked;
      const ending = { ...identity, wantsUsageChunk };
      const usage = encodeUsage(report);
      return encodeEnding(
        ending,
        choices.map((choice) => encodeLast(choice, state.usesFunctions)),
        state.carried,
        usage,
        metadata,
      );
    },
    fail: encodeStreamError,
  };
}

const MESSAGE: ReadonlySet<string> = new Set(["message"]);

/** Encodes the last entry of a choice: its finish, which is held until the end, and its unknown fields. */
function encodeLast(
  { index, finish, extras, logprobs, hasRole }: ChoiceState,
  usesFunctions: boolean,
): Fields {
  const kept = extras === undefined ? {} : keptFields({ extras });
  return {
    index,
    delta: { ...(hasRole ? {} : { role: "assistant", content: "" }), ...asFields(kept["message"]) },
    ...omit(kept, MESSAGE),
    ...(logprobs === null ? {} : { logprobs }),
    ...(finish === null ? { finish_reason: "stop" } : encodeFinish(finish, usesFunctions)),
  };
}

function stepWriter(state: WriterState, event: AnswerEvent): string {
  switch (event.kind) {
    case "extras":
      Object.assign(state.carried, keptFields(event));
      return "";
    case "service-tier":
      state.carried["service_tier"] = event.tier;
      return "";
    case "usage":
    case "error":
      return "";
    default:
      return stepChoice(state, choiceOf(state, event.choice), event);
  }
}

function choiceOf(state: WriterState, index: number): ChoiceState {
  let choice = state.choices.get(index);
  if (choice === undefined) {
    choice = {
      index,
      hasRole: false,
      open: new Map(),
      details: 0,
      saidSummary: null,
      callCount: 0,
      logprobs: null,
      finish: null,
      extras: undefined,
      frame: null,
    };
    state.choices.set(index, choice);
  }
  return choice;
}

type ChoiceEvent = Extract<AnswerEvent, { readonly choice: number }>;

function stepChoice(state: WriterState, choice: ChoiceState, event: ChoiceEvent): string {
  switch (event.kind) {
    case "part-start":
      return send(state, choice, startPart(state, choice, event.at, event.part));
    case "part-delta":
      return (
        sendText(state, choice, event.at, event.delta) ??
        send(state, choice, growPart(choice, event.at, event.delta))
      );
    case "part-end":
      return send(state, choice, endPart(choice, event.at));
    case "logprobs":
      choice.logprobs = event.value;
      return "";
    case "finish":
      choice.finish = event.finish;
      choice.extras = event.extras;
      return "";
  }
}

/** Prints only the text of a chunk that has nothing else, as most have. Returns null for any other delta. */
function sendText(state: WriterState, choice: ChoiceState, at: number, delta: PartDelta): string | null {
  if (delta.kind !== "text" || delta.text === "" || choice.open.get(at)?.kind !== "text") return null;
  if (!choice.hasRole || choice.logprobs !== null || !isEmpty(state.carried)) return null;
  choice.frame ??= makeFrame(state.identity, choice.index);
  return choice.frame[0] + encodeLatin1(JSON.stringify(delta.text)) + choice.frame[1];
}

function makeFrame(identity: AnswerIdentity, index: number): readonly [string, string] {
  const entry = { index, delta: { content: TEXT_HOLE }, finish_reason: null };
  const [head = "", tail = ""] = encodeChunkEvent(identity, {}, [entry]).split(JSON.stringify(TEXT_HOLE));
  return [head, tail];
}

/** Prints a chunk with this delta; nothing for null. The first chunk of a choice names the role. */
function send(state: WriterState, choice: ChoiceState, delta: Fields | null): string {
  if (delta === null) return "";
  const { carried } = state;
  const { index, logprobs, hasRole } = choice;
  state.carried = {};
  choice.logprobs = null;
  choice.hasRole = true;
  const said = hasRole ? delta : { role: "assistant", ...delta };
  const entry = { index, delta: said, ...(logprobs === null ? {} : { logprobs }), finish_reason: null };
  return encodeChunkEvent(state.identity, carried, [entry]);
}

function startPart(state: WriterState, choice: ChoiceState, at: number, part: Part): Fields | null {
  switch (part.kind) {
    case "text":
    case "refusal":
      choice.open.set(at, { kind: part.kind });
      return sayWhole(choice, part);
    case "reasoning":
      return state.hidesReasoning ? null : startReasoning(choice, at, part);
    case "tool-call":
      return state.usesFunctions ? startFunctionCall(choice, at, part) : startCall(choice, at, part);
    case "image":
      return { images: [encodeMadeImage(part, "", () => {})] };
    default: {
      const audio = readAudio(part);
      return audio === null ? null : { audio };
    }
  }
}

/** Encodes what a text or refusal holds from its start. */
function sayWhole(choice: ChoiceState, part: TextPart | RefusalPart): Fields | null {
  const cited = part.kind === "text" ? (part.citations ?? []) : [];
  const annotations = cited.flatMap((citation) => encodeCitation(citation) ?? []);
  const said = part.text === "" ? {} : { [SPOKEN[part.kind]]: part.text };
  const proof = part.kind === "text" ? proveText(choice, part.signature) : {};
  const delta = { ...said, ...(annotations.length === 0 ? {} : { annotations }), ...proof };
  return Object.keys(delta).length === 0 ? null : delta;
}

/** Encodes a text's thought signature in both spellings that clients know; nothing where it has none that belongs there. */
function proveText(choice: ChoiceState, signature: Signature | undefined): Fields {
  const proven = { kind: "text", ...(signature === undefined ? {} : { signature }) } as const;
  const detail = encodeProofDetail(proven, choice.details);
  if (detail === null) return {};
  choice.details++;
  return { reasoning_details: [detail], ...spreadExtraContent(proven) };
}

const SPOKEN = { text: "content", refusal: "refusal" } as const;

function growPart(choice: ChoiceState, at: number, delta: PartDelta): Fields | null {
  const open = choice.open.get(at);
  if (open === undefined) return null;
  if (open.kind === "reasoning") return growReasoning(choice, open, delta);
  if (open.kind === "tool-call") return growCall(choice, open, delta);
  if (open.kind === "function-call") return growFunctionCall(delta);
  if (delta.kind === "text") return delta.text === "" ? null : { [SPOKEN[open.kind]]: delta.text };
  if (delta.kind === "part-signature") return proveText(choice, delta);
  const annotation = delta.kind === "citation" ? encodeCitation(delta.citation) : null;
  return annotation === null ? null : { annotations: [annotation] };
}

function startReasoning(choice: ChoiceState, at: number, part: ReasoningPart): Fields | null {
  const { extras: _, ...bare } = part;
  const open: OpenReasoning = {
    kind: "reasoning",
    part: { ...bare, text: "", encrypted: null },
    index: null,
    signature: "",
  };
  choice.open.set(at, open);
  const { text, encrypted } = part;
  open.signature = part.signature ?? "";
  if (text === "" && encrypted === null) return null;
  if (encrypted === null) return sayReasoning(choice, open, text);
  const details = encodeDetails({ ...bare, signature: null, text, encrypted }, choice.details);
  choice.details += details.length;
  if (text !== "") open.index = choice.details - details.length;
  const reasoning = text === "" ? null : breakSummary(choice, part, true) + text;
  return encodeReasoning({ content: null, reasoning, details });
}

function growReasoning(choice: ChoiceState, open: OpenReasoning, delta: PartDelta): Fields | null {
  switch (delta.kind) {
    case "text":
      return delta.text === "" ? null : sayReasoning(choice, open, delta.text);
    case "signature":
      open.signature += delta.value;
      return null;
    case "encrypted": {
      const hidden = { ...open.part, text: "", signature: null, encrypted: delta.value };
      return { reasoning_details: encodeDetails(hidden, choice.details++) };
    }
    default:
      return null;
  }
}

function sayReasoning(choice: ChoiceState, open: OpenReasoning, text: string): Fields {
  const lead = breakSummary(choice, open.part, open.index === null);
  open.index ??= choice.details++;
  const details = encodeDetails({ ...open.part, text, signature: null }, open.index);
  return encodeReasoning({ content: null, reasoning: lead + text, details });
}

/** Returns the separator before a piece of reasoning in the joined text: a break where a further part of a summary begins. */
function breakSummary(choice: ChoiceState, { isSummary }: ReasoningPart, begins: boolean): string {
  const isFurther = begins && isSummary && choice.saidSummary === true;
  choice.saidSummary = isSummary;
  return isFurther ? SUMMARY_BREAK : "";
}

function endPart(choice: ChoiceState, at: number): Fields | null {
  const open = choice.open.get(at);
  choice.open.delete(at);
  if (open?.kind !== "reasoning" || open.signature === "") return null;
  open.index ??= choice.details++;
  return { reasoning_details: encodeDetails({ ...open.part, signature: open.signature }, open.index) };
}

function startCall(choice: ChoiceState, at: number, part: ToolCallPart): Fields {
  const index = choice.callCount++;
  choice.open.set(at, { kind: "tool-call", index, part });
  const encoded = encodeCall(part);
  const inner = asFields(encoded[part.tool]) ?? {};
  // Whether arguments are missing is known only at the end of the call; until then they are an empty text.
  const text = part.tool === "function" ? { arguments: part.arguments } : {};
  const call = { ...encoded, [part.tool]: { ...inner, ...text }, index };
  const detail = encodeProofDetail(part, choice.details);
  if (detail === null) return { tool_calls: [call] };
  choice.details++;
  return { reasoning_details: [detail], tool_calls: [call] };
}

/**
 * Starts the only call of a client that knows `function_call`. Further calls are left out: the model may repeat them after it got
 * the first result.
 */
function startFunctionCall(
  choice: ChoiceState,
  at: number,
  { name, arguments: text }: ToolCallPart,
): Fields | null {
  if (choice.callCount++ > 0) return null;
  choice.open.set(at, { kind: "function-call" });
  return { function_call: { name, arguments: text } };
}

function growFunctionCall(delta: PartDelta): Fields | null {
  return delta.kind === "arguments" && delta.text !== ""
    ? { function_call: { arguments: delta.text } }
    : null;
}

function growCall(choice: ChoiceState, { index, part }: OpenCall, delta: PartDelta): Fields | null {
  if (delta.kind === "arguments") {
    if (delta.text === "") return null;
    const inner = part.tool === "function" ? { arguments: delta.text } : { input: delta.text };
    return { tool_calls: [{ index, [part.tool]: inner }] };
  }
  if (delta.kind !== "part-signature") return null;
  const proven = { ...part, signature: { value: delta.value, origin: delta.origin } };
  const detail = encodeProofDetail(proven, choice.details);
  const extra = encodeExtraContent(proven);
  if (detail === null || extra === null) return null;
  choice.details++;
  return {
    reasoning_details: [detail],
    tool_calls: [{ index, function: { arguments: "" }, extra_content: extra }],
  };
}
