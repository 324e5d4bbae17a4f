import { BOUNDS } from "../../base/bounds.ts";
import type { AnswerEvent, PartDelta } from "../canonical/answer.ts";
import type { AnswerReader } from "../canonical/format.ts";
import { type Part, REASONING_ORIGINS } from "../canonical/parts.ts";
import { brokenAnswer, type VendorError } from "../conversation/vendor-error.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { parseJson } from "../json/parse-json.ts";
import {
  decodeCitation,
  failedFinish,
  NO_REASONING,
  readText,
  readTier,
  redactedReasoning,
} from "./decode-response.ts";
import { createFrameSplitter, type Frame, type FrameSplitter } from "./event-frames.ts";
import { isFailedFinish, readFinish } from "./finish-reason.ts";
import { readException } from "./read-exception.ts";
import { readUsage } from "./usage.ts";

/** A part that has started and not ended. */
interface OpenPart {
  readonly at: number;
  readonly kind: Part["kind"];
  /** Of a tool call: whether arguments have come. */
  hasArguments: boolean;
}

interface State {
  /** Open parts by Bedrock's index of their block; null for a block that is passed over. */
  readonly open: Map<number, OpenPart | null>;
  parts: number;
  hasCalls: boolean;
  hasFinished: boolean;
  hasUsage: boolean;
  hasFailed: boolean;
}

/**
 * Reads ConverseStream. Its usage may come before the stop as well as after it, a block may lack its start, and the last
 * blocks their stop.
 */
export function createReader(): AnswerReader {
  const frames = createFrameSplitter(BOUNDS.eventBytes);
  const state: State = {
    open: new Map(),
    parts: 0,
    hasCalls: false,
    hasFinished: false,
    hasUsage: false,
    hasFailed: false,
  };
  return {
    step: (piece) => (isDone(state) ? [] : readPiece(state, frames, piece)),
    end: () => [],
    get isDone() {
      return isDone(state);
    },
  };
}

function isDone(state: State): boolean {
  return state.hasFailed || (state.hasFinished && state.hasUsage);
}

function readPiece(state: State, frames: FrameSplitter, piece: string): AnswerEvent[] {
  const { complete, problem } = frames.push(piece);
  const events = complete.flatMap((frame) => (isDone(state) ? [] : readFrame(state, frame)));
  if (problem === null || isDone(state)) return events;
  return [...events, ...failWith(state, brokenAnswer(`the upstream's stream is broken: ${problem}`))];
}

function failWith(state: State, error: VendorError): AnswerEvent[] {
  state.hasFailed = true;
  return [{ kind: "error", error }];
}

function readFrame(state: State, { headers, payload }: Frame): AnswerEvent[] {
  const body = parsePayload(payload);
  const type = headers.get(":message-type");
  if (type === "exception") return failWith(state, readException(headers.get(":exception-type") ?? "", body));
  if (type === "error") {
    const message = headers.get(":error-message");
    return failWith(state, readException(headers.get(":error-code") ?? "", { message }));
  }
  if (body === null) return failWith(state, brokenAnswer("the upstream sent an event that is not JSON"));
  return readEvent(state, headers.get(":event-type") ?? "", body);
}

function parsePayload(payload: string): Fields | null {
  try {
    return asFields(parseJson(Buffer.from(payload, "latin1").toString("utf8")));
  } catch {
    return null;
  }
}

function readEvent(state: State, type: string, body: Fields): AnswerEvent[] {
  if (type === "metadata") return readMetadata(state, body);
  if (state.hasFinished) return [];
  const index = typeof body["contentBlockIndex"] === "number" ? body["contentBlockIndex"] : 0;
  switch (type) {
    case "contentBlockStart":
      return startBlock(state, index, asFields(body["start"]) ?? {});
    case "contentBlockDelta":
      return growBlock(state, index, asFields(body["delta"]) ?? {});
    case "contentBlockStop":
      return closeBlock(state, index);
    case "messageStop":
      return finish(state, body);
    default:
      return [];
  }
}

function readMetadata(state: State, body: Fields): AnswerEvent[] {
  const usage = readUsage(asFields(body["usage"]));
  const tier = readTier(body);
  state.hasUsage ||= usage !== null;
  return [
    ...(tier === null ? [] : [{ kind: "service-tier", tier } as const]),
    ...(usage === null ? [] : [{ kind: "usage", usage } as const]),
  ];
}

/** Only tools' blocks are described at their start; others are known by their first delta. */
function startBlock(state: State, index: number, start: Fields): AnswerEvent[] {
  const closed = closeBlock(state, index);
  const use = asFields(start["toolUse"]);
  if (use?.["type"] === "server_tool_use" || start["toolResult"] !== undefined) {
    state.open.set(index, null);
    return closed;
  }
  if (use === null) return closed;
  state.hasCalls = true;
  const id = readText(use["toolUseId"]);
  const name = readText(use["name"]);
  return [
    ...closed,
    openPart(state, index, { kind: "tool-call", id, name, tool: "function", arguments: "" }),
  ];
}

function openPart(state: State, index: number, part: Part): AnswerEvent {
  const at = state.parts++;
  state.open.set(index, { at, kind: part.kind, hasArguments: false });
  return { kind: "part-start", choice: 0, at, part };
}

function growBlock(state: State, index: number, delta: Fields): AnswerEvent[] {
  if (state.open.get(index) === null) return [];
  const use = asFields(delta["toolUse"]);
  const reasoning = asFields(delta["reasoningContent"]);
  const citation = asFields(delta["citation"]);
  if (use !== null) return growCall(state, index, readText(use["input"]));
  if (reasoning !== null) return growReasoning(state, index, reasoning);
  if (citation !== null) {
    return growPart(state, index, NO_TEXT, [{ kind: "citation", citation: decodeCitation(citation) }]);
  }
  return growPart(state, index, NO_TEXT, textDelta(readText(delta["text"])));
}

const NO_TEXT: Part = { kind: "text", text: "" };

function textDelta(text: string): PartDelta[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

/** Adds to the block's open part if it is of this kind, else to a new one. */
function growPart(state: State, index: number, part: Part, deltas: readonly PartDelta[]): AnswerEvent[] {
  if (deltas.length === 0) return [];
  const fits = state.open.get(index)?.kind === part.kind;
  const opening = fits ? [] : [...closeBlock(state, index), openPart(state, index, part)];
  const { at } = state.open.get(index) as OpenPart;
  return [...opening, ...deltas.map((delta) => ({ kind: "part-delta", choice: 0, at, delta }) as const)];
}

function growCall(state: State, index: number, text: string): AnswerEvent[] {
  const open = state.open.get(index);
  if (open?.kind !== "tool-call" || text === "") return [];
  open.hasArguments = true;
  return [{ kind: "part-delta", choice: 0, at: open.at, delta: { kind: "arguments", text } }];
}

function growReasoning(state: State, index: number, reasoning: Fields): AnswerEvent[] {
  const redacted = readText(reasoning["redactedContent"]);
  if (redacted !== "") {
    const opening = [...closeBlock(state, index), openPart(state, index, redactedReasoning(redacted))];
    return [...opening, ...closeBlock(state, index)];
  }
  const signature = readText(reasoning["signature"]);
  const deltas: PartDelta[] = textDelta(readText(reasoning["text"]));
  if (signature !== "") deltas.push({ kind: "signature", value: signature });
  // The signature comes last, when it is too late to say whose it is; only Claude signs.
  return growPart(state, index, { ...NO_REASONING, origin: REASONING_ORIGINS.anthropic }, deltas);
}

function closeBlock(state: State, index: number): AnswerEvent[] {
  const open = state.open.get(index);
  state.open.delete(index);
  if (!open) return [];
  const end = { kind: "part-end", choice: 0, at: open.at } as const;
  if (open.kind !== "tool-call" || open.hasArguments) return [end];
  return [{ kind: "part-delta", choice: 0, at: open.at, delta: { kind: "arguments", text: "{}" } }, end];
}

function finish(state: State, body: Fields): AnswerEvent[] {
  const native = readText(body["stopReason"]) || "end_turn";
  if (isFailedFinish(native)) return failWith(state, failedFinish(native));
  const closed = [...state.open.keys()].flatMap((index) => closeBlock(state, index));
  const own = asFields(body["additionalModelResponseFields"]);
  const stopSequence = asFields(own?.["delta"])?.["stop_sequence"];
  state.hasFinished = true;
  return [...closed, { kind: "finish", choice: 0, finish: readFinish(native, state.hasCalls, stopSequence) }];
}
