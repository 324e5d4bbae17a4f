import { BOUNDS } from "../../base/bounds.ts";
import type { AnswerEvent, PartDelta } from "../canonical/answer.ts";
import type { AnswerReader } from "../canonical/format.ts";
import type { Part } from "../canonical/parts.ts";
import { plainReasoning } from "../canonical/parts.ts";
import { brokenAnswer, type VendorError } from "../conversation/vendor-error.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { parseJson } from "../json/parse-json.ts";
import { EventSplitter, EventTooLargeError } from "../sse/split-events.ts";
import { type ArgumentsHold, createArgumentsHold } from "./arguments.ts";
import { findFailure, readText } from "./decode-response.ts";
import { findFailedFinish, readFinish } from "./finish-reason.ts";
import { readCitations } from "./read-citations.ts";
import { readLogprobs } from "./read-logprobs.ts";
import { readUsage } from "./usage.ts";

/** A part that has started and not ended. */
interface OpenPart {
  readonly at: number;
  readonly kind: Part["kind"];
  /** Of a tool call. */
  readonly held: ArgumentsHold | null;
}

interface State {
  /** By kind and Cohere's index, which contents and tool calls count apart. */
  readonly open: Map<string, OpenPart>;
  parts: number;
  hasCalls: boolean;
  isDone: boolean;
}

/** Reads Cohere's stream of chat events; its last is `message-end`. */
export function createReader(): AnswerReader {
  const splitter = new EventSplitter(BOUNDS.eventBytes);
  const state: State = { open: new Map(), parts: 0, hasCalls: false, isDone: false };
  const collect = (split: (onEvent: Parameters<typeof splitter.end>[0]) => void): AnswerEvent[] => {
    const events: AnswerEvent[] = [];
    if (state.isDone) return events;
    try {
      split((text, start, end, name) => events.push(...readData(state, text.slice(start, end), name)));
    } catch (error) {
      if (!(error instanceof EventTooLargeError)) throw error;
      events.push(...failWith(state, brokenAnswer(`the upstream sent ${error.message}`)));
    }
    return events;
  };
  return {
    step: (piece) => collect((onEvent) => splitter.push(piece, onEvent)),
    end: () => collect((onEvent) => splitter.end(onEvent)),
    get isDone() {
      return state.isDone;
    },
  };
}

function failWith(state: State, error: VendorError): AnswerEvent[] {
  state.isDone = true;
  return [{ kind: "error", error }];
}

/** `data` is bytes read as Latin-1; `name` the event's, for the case that its data does not say its type. */
function readData(state: State, data: string, name: string): AnswerEvent[] {
  if (state.isDone || data.trim() === "[DONE]") return [];
  const event = parseData(data);
  if (event === null) return failWith(state, brokenAnswer("the upstream sent an event that is not JSON"));
  const type = readText(event["type"]) || name;
  const error = findFailure(event);
  return error === null ? readEvent(state, type, event) : failWith(state, error);
}

function parseData(data: string): Fields | null {
  try {
    return asFields(parseJson(Buffer.from(data, "latin1").toString("utf8")));
  } catch {
    return null;
  }
}

function readEvent(state: State, type: string, event: Fields): AnswerEvent[] {
  const delta = asFields(event["delta"]) ?? {};
  const message = asFields(delta["message"]) ?? {};
  const index = typeof event["index"] === "number" ? event["index"] : 0;
  switch (type) {
    case "tool-plan-delta":
      return growPart(state, "plan", NO_REASONING, textDelta(readText(message["tool_plan"])));
    case "content-start":
      return [...closeAll(state), ...growContent(state, index, event, message)];
    case "content-delta":
      return growContent(state, index, event, message);
    case "content-end":
      return endContent(state, `content ${index}`);
    case "tool-call-start":
      return startCall(state, index, message);
    case "tool-call-delta":
      return growCall(state, index, message);
    case "tool-call-end":
      return closePart(state, `call ${index}`);
    case "citation-start":
      return cite(state, message["citations"]);
    case "message-end":
      return finish(state, delta);
    default:
      return [];
  }
}

const NO_REASONING: Part = plainReasoning("");
const NO_TEXT: Part = { kind: "text", text: "" };

function textDelta(text: string): PartDelta[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

function growContent(state: State, index: number, event: Fields, message: Fields): AnswerEvent[] {
  const content = asFields(message["content"]) ?? {};
  const key = `content ${index}`;
  const logprobs = readLogprobs(event["logprobs"] ?? asFields(event["delta"])?.["logprobs"]);
  return [
    // Ahead of the text that they are of.
    ...(logprobs === null ? [] : [{ kind: "logprobs", choice: 0, value: logprobs } as const]),
    ...growPart(state, key, NO_REASONING, textDelta(readText(content["thinking"]))),
    ...growPart(state, key, NO_TEXT, textDelta(readText(content["text"]))),
  ];
}

/** Adds to the open part of this key if it is of this kind, else to a new one. */
function growPart(state: State, key: string, part: Part, deltas: readonly PartDelta[]): AnswerEvent[] {
  if (deltas.length === 0) return [];
  const fits = state.open.get(key)?.kind === part.kind;
  const opening = fits ? [] : openPart(state, key, part, null);
  const { at } = state.open.get(key) as OpenPart;
  return [...opening, ...deltas.map((delta) => ({ kind: "part-delta", choice: 0, at, delta }) as const)];
}

/** Starts a part. Cohere writes one after the other, so the ones before have ended. */
function openPart(state: State, key: string, part: Part, held: ArgumentsHold | null): AnswerEvent[] {
  const closed = closeAll(state);
  const at = state.parts++;
  state.open.set(key, { at, kind: part.kind, held });
  return [...closed, { kind: "part-start", choice: 0, at, part }];
}

/** Citations come behind the end of their text, so a text stays open until something else begins. */
function endContent(state: State, key: string): AnswerEvent[] {
  return state.open.get(key)?.kind === "text" ? [] : closePart(state, key);
}

function startCall(state: State, index: number, message: Fields): AnswerEvent[] {
  const call = readCall(message);
  const fn = asFields(call["function"]) ?? {};
  state.hasCalls = true;
  const part: Part = {
    kind: "tool-call",
    id: readText(call["id"]),
    name: readText(fn["name"]),
    tool: "function",
    arguments: "",
  };
  return [
    ...openPart(state, `call ${index}`, part, createArgumentsHold()),
    ...growCall(state, index, message),
  ];
}

function growCall(state: State, index: number, message: Fields): AnswerEvent[] {
  const open = state.open.get(`call ${index}`);
  const piece = readText(asFields(readCall(message)["function"])?.["arguments"]);
  return open?.held ? argumentsDelta(open, open.held.push(piece)) : [];
}

/** A stream has one call in an event, where an answer has a list. */
function readCall(message: Fields): Fields {
  const calls = message["tool_calls"];
  return asFields(Array.isArray(calls) ? calls[0] : calls) ?? {};
}

function argumentsDelta({ at }: OpenPart, text: string): AnswerEvent[] {
  return text === "" ? [] : [{ kind: "part-delta", choice: 0, at, delta: { kind: "arguments", text } }];
}

function closePart(state: State, key: string): AnswerEvent[] {
  const open = state.open.get(key);
  if (open === undefined) return [];
  state.open.delete(key);
  const rest = open.held === null ? [] : argumentsDelta(open, open.held.end());
  return [...rest, { kind: "part-end", choice: 0, at: open.at }];
}

function closeAll(state: State): AnswerEvent[] {
  return [...state.open.keys()].flatMap((key) => closePart(state, key));
}

function cite(state: State, citations: unknown): AnswerEvent[] {
  return readCitations(citations).flatMap(({ index, citation }): AnswerEvent[] => {
    const texts = [...state.open].filter(
      ([key, { kind }]) => kind === "text" && (index === null || key === `content ${index}`),
    );
    return texts.map(([, { at }]) => ({
      kind: "part-delta",
      choice: 0,
      at,
      delta: { kind: "citation", citation },
    }));
  });
}

function finish(state: State, delta: Fields): AnswerEvent[] {
  const native = readText(delta["finish_reason"]) || "COMPLETE";
  const failed = findFailedFinish(native, delta["error"]);
  if (failed !== null) return failWith(state, failed);
  const usage = readUsage(asFields(delta["usage"]));
  const closed = closeAll(state);
  state.isDone = true;
  return [
    ...closed,
    { kind: "finish", choice: 0, finish: readFinish(native, state.hasCalls) },
    ...(usage === null ? [] : [{ kind: "usage", usage } as const]),
  ];
}
