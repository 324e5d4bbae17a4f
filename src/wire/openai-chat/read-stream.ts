import { isDeepStrictEqual } from "node:util";
import { BOUNDS } from "../../base/bounds.ts";
import type { AnswerEvent } from "../canonical/answer.ts";
import type { AnswerReader } from "../canonical/format.ts";
import { brokenAnswer, findVendorError } from "../conversation/vendor-error.ts";
import { asFields, type Fields, omit, tryParseFields } from "../json/fields.ts";
import { decodeUtf8 } from "../json/scan.ts";
import { EventSplitter, EventTooLargeError } from "../sse/split-events.ts";
import { isFailedFinish } from "./finish-reason.ts";
import { decodeListed } from "./hub-citations.ts";
import { OWN_ANSWER_FIELDS } from "./own-fields.ts";
import { type ChoiceReader, createChoiceReader } from "./read-choice.ts";
import { asText } from "./reasoning.ts";
import { findUsage } from "./usage.ts";

interface ReaderState {
  readonly splitter: EventSplitter;
  readonly choices: Map<number, ChoiceReader>;
  /** Fields of the answer as a whole, as they were last told. */
  told: Record<string, unknown>;
  tier: string | null;
  hasUsage: boolean;
  isDone: boolean;
  hasFailed: boolean;
}

const DONE = "[DONE]";

/**
 * Reads a vendor's stream, as leniently as `stepRelay` does: missing indexes and ids, calls that come twice, usage in odd
 * places. Finishes are held back to the end, because text may come behind them.
 */
export function createReader(): AnswerReader {
  const state: ReaderState = {
    splitter: new EventSplitter(BOUNDS.eventBytes),
    choices: new Map(),
    told: {},
    tier: null,
    hasUsage: false,
    isDone: false,
    hasFailed: false,
  };
  return {
    step: (piece) => collect(state, (onData) => state.splitter.push(piece, onData)),
    end() {
      if (state.isDone || state.hasFailed) return [];
      const events = collect(state, (onData) =>
        state.splitter.end((text, start, end, name) => {
          // What is cut off behind a whole answer takes nothing away from it.
          if (!isWhole(state) || isReadable(text.slice(start, end))) onData(text, start, end, name);
        }),
      );
      return state.isDone || state.hasFailed ? events : [...events, ...close(state)];
    },
    get isDone() {
      return state.isDone;
    },
  };
}

function isWhole({ choices }: ReaderState): boolean {
  return choices.size > 0 && [...choices.values()].every((choice) => choice.hasFinish);
}

function isReadable(data: string): boolean {
  return data === DONE || tryParseFields(decodeUtf8(data)) !== null;
}

type OnData = (text: string, start: number, end: number, name: string) => void;

function collect(state: ReaderState, feed: (onData: OnData) => void): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  if (state.hasFailed || state.isDone) return events;
  try {
    feed((text, start, end, name) => {
      // An event without data is no event (WHATWG); some use it as a sign of life.
      if (state.isDone || state.hasFailed || start === end) return;
      for (const event of stepEvent(state, text.slice(start, end), name)) events.push(event);
    });
  } catch (error) {
    if (!(error instanceof EventTooLargeError)) throw error;
    events.push(failWith(state, error.message));
  }
  return events;
}

function stepEvent(state: ReaderState, data: string, name: string): AnswerEvent[] {
  if (data === DONE) {
    state.isDone = true;
    // Usage and an end marker make an answer whole whose vendor gives no reason to finish.
    return close(state, state.hasUsage);
  }
  const chunk = tryParseFields(decodeUtf8(data));
  if (chunk === null) return [failWith(state, "an event of the stream is not JSON")];
  const error =
    name === "error" ? (findVendorError(chunk) ?? findVendorError({ error: chunk })) : findVendorError(chunk);
  if (error !== null) {
    state.hasFailed = true;
    return [{ kind: "error", error }];
  }
  return stepChunk(state, chunk);
}

function failWith(state: ReaderState, message: string): AnswerEvent {
  state.hasFailed = true;
  return { kind: "error", error: brokenAnswer(message) };
}

function stepChunk(state: ReaderState, chunk: Fields): AnswerEvent[] {
  const events: AnswerEvent[] = tellAnswer(state, chunk);
  const usage = findUsage(chunk);
  if (usage !== null) {
    state.hasUsage = true;
    events.push({ kind: "usage", usage });
  }
  const choices = Array.isArray(chunk["choices"]) ? chunk["choices"] : [];
  for (const raw of choices) {
    const choice = asFields(raw);
    if (choice === null) continue;
    const reason = asText(choice["finish_reason"]);
    const hasFailed = reason !== null && isFailedFinish(reason);
    const reader = choiceOf(state, choice);
    if (reader === null) return [...events, failWith(state, "the upstream's answer has too many choices")];
    const read = reader.step(hasFailed ? { ...choice, finish_reason: null } : choice);
    for (const event of read) events.push(event);
    if (hasFailed) {
      return [...events, failWith(state, `the upstream ended the answer with "${reason}"`)];
    }
  }
  return events;
}

/** Null where there are more than anybody asks for. */
function choiceOf(state: ReaderState, choice: Fields): ChoiceReader | null {
  const index = typeof choice["index"] === "number" ? choice["index"] : 0;
  let reader = state.choices.get(index);
  if (reader === undefined) {
    if (state.choices.size >= BOUNDS.choices) return null;
    reader = createChoiceReader(index);
    state.choices.set(index, reader);
  }
  return reader;
}

/** The tier is told by name; padding is none of the answer. */
const OTHER_FIELDS: ReadonlySet<string> = new Set([...OWN_ANSWER_FIELDS, "service_tier", "obfuscation"]);

/** What a chunk says of the answer as a whole, where it says something new. */
function tellAnswer(state: ReaderState, chunk: Fields): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  const tier = asText(chunk["service_tier"]);
  if (tier !== null && tier !== state.tier) {
    state.tier = tier;
    events.push({ kind: "service-tier", tier });
  }
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(omit(chunk, OTHER_FIELDS))) {
    if (value !== null && !isDeepStrictEqual(value, state.told[name])) fields[name] = value;
  }
  if (Object.keys(fields).length === 0) return events;
  Object.assign(state.told, fields);
  return [...events, { kind: "extras", extras: { format: "openai-chat", fields } }];
}

/** Ends what has finished; `isWhole`: all of it. Pages that the whole answer lists are cited by its first choice. */
function close(state: ReaderState, isWhole = false): AnswerEvent[] {
  const listed = decodeListed(state.told);
  return [...state.choices].flatMap(([index, choice]) => choice.close(isWhole, index === 0 ? listed : []));
}
