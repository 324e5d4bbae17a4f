import { type AnswerEmitter, PartEmitter } from "../../canonical/answer-emitter.ts";
import {
  type Citation,
  type Part,
  plainReasoning,
  REASONING_ORIGINS,
  type ReasoningPart,
} from "../../canonical/parts.ts";
import { asFields, asObjects, asText, type Fields, omit } from "../../json/fields.ts";
import { OWN_CHOICE_FIELDS, OWN_MESSAGE_FIELDS } from "../own-fields.ts";
import { readSpoken } from "../reasoning.ts";
import { isWholeObject, listCalls, nameOf, ToolCallTracker, textOf } from "../tool-calls.ts";
import { decodeCitation } from "./citations.ts";
import { decodePart, keepNative } from "./decode-part.ts";
import { decodeFinish, keepChoice } from "./decode-response.ts";
import { decodeDetail, readProof, readThoughtSignature } from "./reasoning-details.ts";

/** Reads the deltas of one choice and emits its parts. */
export interface ChoiceReader {
  step(choice: Fields): void;
  /** Whether the vendor has given a finish reason. */
  readonly hasFinish: boolean;
  /**
   * Ends all open parts and finishes the choice, if the finish reason has come or `isWhole` says that the answer is complete.
   * The pages in `listed` are cited unless the choice has citations of its own.
   */
  close(isWhole: boolean, listed: readonly Citation[]): void;
}

/** The text, refusal or reasoning that is open; there is at most one. */
interface Speech {
  readonly at: number;
  /** Deltas with the same key continue it: the kind, and for reasoning its detail. */
  readonly key: string;
}

interface OpenCall {
  readonly at: number;
  readonly tool: "function" | "custom";
  readonly id: string;
  text: string;
  isOpen: boolean;
  /** The length of its text when it was last checked for completeness. */
  checkedChars: number;
}

interface State {
  readonly index: number;
  readonly emitter: AnswerEmitter;
  readonly parts: PartEmitter;
  speech: Speech | null;
  hasCited: boolean;
  readonly tracker: ToolCallTracker;
  /** All calls, by the tracker's index. */
  readonly calls: OpenCall[];
  /** The open calls, by id. */
  readonly openCalls: Map<string, OpenCall>;
  /** Open calls that may have become complete since the last check. */
  readonly grown: Set<OpenCall>;
  /** Details that may sign a call that has not started, by the call's id. */
  readonly held: Map<string, ReasoningPart[]>;
  finish: string | null;
  fields: Record<string, unknown>;
  message: Record<string, unknown>;
}

/** Returns a reader for the choice with this index; it emits to `emitter`. */
export function createChoiceReader(emitter: AnswerEmitter, index: number): ChoiceReader {
  const state: State = {
    index,
    emitter,
    parts: new PartEmitter(emitter, index),
    speech: null,
    hasCited: false,
    // Missing ids stay empty; `createNormaliser` makes them.
    tracker: new ToolCallTracker(() => "", null),
    calls: [],
    openCalls: new Map(),
    grown: new Set(),
    held: new Map(),
    finish: null,
    fields: {},
    message: {},
  };
  return {
    step: (choice) => stepChoice(state, choice),
    get hasFinish() {
      return state.finish !== null;
    },
    close(isWhole, listed) {
      if (isWhole) state.finish ??= "stop";
      closeChoice(state, listed);
    },
  };
}

const OTHER_CHOICE_FIELDS: ReadonlySet<string> = new Set([...OWN_CHOICE_FIELDS, "logprobs"]);
const OTHER_DELTA_FIELDS: ReadonlySet<string> = new Set([
  ...OWN_MESSAGE_FIELDS,
  "refusal",
  "annotations",
  "audio",
  "images",
]);
const PROVEN_DELTA_FIELDS = new Set(OTHER_DELTA_FIELDS).add("extra_content");

function stepChoice(state: State, choice: Fields): void {
  const delta = asFields(choice["delta"]) ?? asFields(choice["message"]) ?? {};
  const { index } = state;
  const logprobs = choice["logprobs"] ?? null;
  if (logprobs !== null) state.emitter.emit({ kind: "logprobs", choice: index, value: logprobs });
  readReasoning(state, delta);
  readSpeech(state, delta);
  readPieces(state, listCalls(delta));
  readWhole(state, delta);
  keep(state.fields, omit(choice, OTHER_CHOICE_FIELDS));
  const isProof = readThoughtSignature(delta["extra_content"]) !== null;
  keep(state.message, omit(delta, isProof ? PROVEN_DELTA_FIELDS : OTHER_DELTA_FIELDS));
  // A second finish is dropped, because clients ran tools twice on it.
  state.finish ??= asText(choice["finish_reason"]);
}

/** Keeps unknown fields. Lists are concatenated, other values are replaced. */
function keep(kept: Record<string, unknown>, fields: Fields): void {
  for (const [name, value] of Object.entries(fields)) {
    const before = kept[name];
    if (value === null) continue;
    if (!Array.isArray(value)) kept[name] = value;
    // Copied, because it will grow.
    else if (!Array.isArray(before)) kept[name] = [...value];
    else for (const one of value) before.push(one);
  }
}

/** Returns the index of the open text, refusal or reasoning with this key; starts it with `begin` where there is none. */
function speak(state: State, key: string, begin: () => Part): number {
  if (state.speech?.key === key) return state.speech.at;
  endSpeech(state);
  const at = state.parts.open(begin());
  state.speech = { at, key };
  return at;
}

function endSpeech(state: State): void {
  if (state.speech !== null) state.parts.close(state.speech.at);
  state.speech = null;
}

function readReasoning(state: State, delta: Fields): void {
  const { reasoning, details } = readSpoken(delta);
  const read = (details ?? []).map(asFields).filter((detail) => detail !== null);
  const parts = read.map((raw) => ({ raw, part: decodeDetail(raw) }));
  // The reasoning text repeats that of the details, unless no detail has a text.
  if (reasoning !== null && parts.every(({ part }) => part.text === "")) {
    sayText(state, "reasoning", reasoning, () => plainReasoning(""));
  }
  for (const { raw, part } of parts) readDetail(state, raw, part);
}

function readDetail(state: State, raw: Fields, part: ReasoningPart): void {
  const { extras: _, ...read } = part;
  if (read.encrypted !== null) {
    readEncrypted(state, read);
    return;
  }
  const isProofOnly = read.text === "" && read.signature !== null;
  // Continues a text that came in `reasoning`: its signature comes as a detail.
  const goesOn = isProofOnly && state.speech?.key.startsWith("reasoning");
  const key = goesOn ? (state.speech as Speech).key : keyOf(raw);
  if (read.text === "" && !isProofOnly) return;
  const at = speak(state, key, () => ({ ...read, text: "", signature: null }));
  state.parts.append(at, { kind: "text", text: read.text });
  if (read.signature !== null) state.parts.append(at, { kind: "signature", value: read.signature });
}

/** Returns a key that all pieces of one detail share. */
function keyOf(raw: Fields): string {
  return `reasoning ${raw["type"]} ${raw["index"] ?? ""}`;
}

function readEncrypted(state: State, part: ReasoningPart): void {
  const mayProve = part.origin === REASONING_ORIGINS.gemini && part.id !== null;
  if (!mayProve) {
    endSpeech(state);
    state.parts.emitWhole(part);
    return;
  }
  const id = part.id as string;
  const call = state.openCalls.get(id);
  const held = state.held.get(id);
  if (call !== undefined) prove(state, call.at, part.encrypted as string);
  else if (held === undefined) state.held.set(id, [part]);
  else held.push(part);
}

function prove(state: State, at: number, value: string): void {
  state.parts.append(at, { kind: "part-signature", value, origin: REASONING_ORIGINS.gemini });
}

function readSpeech(state: State, delta: Fields): void {
  const { content } = readSpoken(delta);
  if (content) sayText(state, "text", content, startText);
  const { signature } = readProof(delta["extra_content"]);
  if (signature !== undefined) {
    state.parts.append(speak(state, "text", startText), { kind: "part-signature", ...signature });
  }
  const refusal = asText(delta["refusal"]);
  if (refusal) sayText(state, "refusal", refusal, () => ({ kind: "refusal", text: "" }));
}

function sayText(state: State, key: string, text: string, begin: () => Part): void {
  state.parts.append(speak(state, key, begin), { kind: "text", text });
}

function startText(): Part {
  return { kind: "text", text: "" };
}

/** Reads what comes in one piece: citations, images and pieces of spoken answers. */
function readWhole(state: State, delta: Fields): void {
  for (const raw of asObjects(delta["annotations"])) {
    const citation = decodeCitation(raw);
    if (citation === null) keep(state.message, { annotations: [raw] });
    else citeIn(state, citation);
  }
  const audio = asFields(delta["audio"]);
  const whole = [
    ...asObjects(delta["images"]).map(decodePart),
    ...(audio === null ? [] : [keepNative(audio, "audio", { place: "audio" })]),
  ];
  for (const part of whole) {
    endSpeech(state);
    state.parts.emitWhole(part);
  }
}

function citeIn(state: State, citation: Citation): void {
  state.hasCited = true;
  state.parts.append(speak(state, "text", startText), { kind: "citation", citation });
}

function readPieces(state: State, pieces: unknown): void {
  for (const raw of asObjects(pieces)) {
    const [out] = state.tracker.step([raw]);
    if (out?.id !== undefined) startCall(state, out.id, nameOf(out), out.type ?? "function");
    const index =
      out?.index ?? (typeof raw["index"] === "number" ? state.tracker.indexOf(raw["index"]) : null);
    const call = index === null ? undefined : state.calls[index];
    if (call?.isOpen) growCall(state, call, out === undefined ? "" : textOf(out), raw);
  }
}

function growCall(state: State, call: OpenCall, text: string, raw: Fields): void {
  const proof = readThoughtSignature(raw["extra_content"]);
  if (proof !== null) prove(state, call.at, proof);
  call.text += text;
  // Checked again only after its text has doubled, so that all checks together are linear in its length.
  if (call.tool === "function" && call.text.length > 2 * call.checkedChars) state.grown.add(call);
  state.parts.append(call.at, { kind: "arguments", text });
}

function startCall(state: State, id: string, name: string, tool: OpenCall["tool"]): void {
  endSpeech(state);
  // Vendors may interleave calls, so only a call with complete arguments has certainly ended.
  for (const grown of state.grown) {
    grown.checkedChars = grown.text.length;
    if (isWholeObject(grown.text)) endCall(state, grown);
  }
  state.grown.clear();
  const at = state.parts.open({ kind: "tool-call", id, name, tool, arguments: "" });
  const call: OpenCall = { at, tool, id, text: "", isOpen: true, checkedChars: 0 };
  state.calls.push(call);
  state.openCalls.set(id, call);
  for (const { encrypted } of state.held.get(id) ?? []) prove(state, at, encrypted as string);
  state.held.delete(id);
}

function endCall(state: State, call: OpenCall): void {
  call.isOpen = false;
  state.grown.delete(call);
  if (state.openCalls.get(call.id) === call) state.openCalls.delete(call.id);
  state.parts.close(call.at);
}

function closeChoice(state: State, listed: readonly Citation[]): void {
  if (state.finish === null) return;
  if (!state.hasCited) for (const citation of listed) citeIn(state, citation);
  endSpeech(state);
  for (const call of state.calls) if (call.isOpen) endCall(state, call);
  for (const part of [...state.held.values()].flat()) state.parts.emitWhole(part);
  state.held.clear();
  const finish = decodeFinish(state.finish);
  const extras = keepChoice(state.fields, state.message);
  state.emitter.emit({ kind: "finish", choice: state.index, finish, ...extras });
}
