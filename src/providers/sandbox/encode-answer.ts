import type { Answer, AnswerCall, AnswerChoice } from "./answer.ts";
import { SANDBOX_MODEL } from "./read-request.ts";

/** What every chunk and document of one answer says of it. */
export interface Stamp {
  readonly id: string;
  /** Whole seconds since the epoch. */
  readonly created: number;
}

/** One event of a stream; `part` says what it carries, so that failures find their place. */
export interface StreamChunk {
  readonly part: "role" | "token" | "call" | "arguments" | "finish" | "usage";
  readonly json: Readonly<Record<string, unknown>>;
}

/** The words of a text, each with the white space before it; long ones in pieces. */
const WORDS = /\s*\S{1,12}|\s+/gu;

/** The answer as one `chat.completion`. */
export function encodeDocument(answer: Answer, stamp: Stamp): Record<string, unknown> {
  return {
    id: stamp.id,
    object: "chat.completion",
    created: stamp.created,
    model: SANDBOX_MODEL,
    choices: answer.choices.map((choice, index) => ({
      index,
      message: encodeMessage(choice),
      logprobs: null,
      finish_reason: choice.finish,
    })),
    usage: encodeUsage(answer),
    service_tier: "default",
    system_fingerprint: "fp_sandbox",
  };
}

function encodeMessage({ reasoning, text, calls }: AnswerChoice): Record<string, unknown> {
  return {
    role: "assistant",
    content: text,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    refusal: null,
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(encodeCall) }),
  };
}

function encodeCall({ id, name, arguments: json }: AnswerCall): Record<string, unknown> {
  return { id, type: "function", function: { name, arguments: json } };
}

function encodeUsage({ usage }: Answer): Record<string, unknown> {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens, audio_tokens: 0 },
  };
}

/**
 * The answer as the events of a stream, as OpenAI sends them: of each choice first its role, last its
 * `finish_reason`, the choices taking turns; and where `includeUsage`, one event more with `choices: []`.
 */
export function* encodeChunks(answer: Answer, stamp: Stamp, includeUsage: boolean): Generator<StreamChunk> {
  const usage = includeUsage ? { usage: null } : {};
  let choices = answer.choices.map((choice, index) => encodeChoice(choice, index, stamp, usage));
  while (choices.length > 0) {
    const left: typeof choices = [];
    for (const choice of choices) {
      const next = choice.next();
      if (next.done) continue;
      yield next.value;
      left.push(choice);
    }
    choices = left;
  }
  if (includeUsage) yield { part: "usage", json: stampChunk(stamp, [], { usage: encodeUsage(answer) }) };
}

/** One event with a piece of text, of the first choice. */
export function encodeToken(text: string, stamp: Stamp): StreamChunk {
  return { part: "token", json: stampChunk(stamp, [encodeDelta(0, { content: text })], {}) };
}

function* encodeChoice(
  choice: AnswerChoice,
  index: number,
  stamp: Stamp,
  usage: Record<string, unknown>,
): Generator<StreamChunk> {
  for (const { part, delta, finish } of listDeltas(choice)) {
    yield { part, json: stampChunk(stamp, [encodeDelta(index, delta, finish)], usage) };
  }
}

interface Delta {
  readonly part: StreamChunk["part"];
  readonly delta: Record<string, unknown>;
  readonly finish?: string;
}

function* listDeltas({ reasoning, text, calls, finish }: AnswerChoice): Generator<Delta> {
  const opening = { role: "assistant", content: text === null ? null : "", refusal: null };
  yield { part: "role", delta: opening };
  for (const word of reasoning.match(WORDS) ?? [])
    yield { part: "token", delta: { reasoning_content: word } };
  for (const word of text?.match(WORDS) ?? []) yield { part: "token", delta: { content: word } };
  for (const [index, call] of calls.entries()) yield* listCallDeltas(call, index);
  yield { part: "finish", delta: {}, finish };
}

function* listCallDeltas(call: AnswerCall, index: number): Generator<Delta> {
  yield { part: "call", delta: { tool_calls: [{ index, ...encodeCall({ ...call, arguments: "" }) }] } };
  for (const piece of splitArguments(call.arguments)) {
    yield { part: "arguments", delta: { tool_calls: [{ index, function: { arguments: piece } }] } };
  }
}

/** Pieces of eight characters, and two at least where there are two characters. */
function splitArguments(json: string): string[] {
  const characters = [...json];
  const size = Math.max(1, Math.min(8, Math.ceil(characters.length / 2)));
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""));
  return pieces;
}

function encodeDelta(index: number, delta: Record<string, unknown>, finish: string | null = null) {
  return { index, delta, logprobs: null, finish_reason: finish };
}

function stampChunk(
  stamp: Stamp,
  choices: readonly unknown[],
  usage: Record<string, unknown>,
): Record<string, unknown> {
  return {
    id: stamp.id,
    object: "chat.completion.chunk",
    created: stamp.created,
    model: SANDBOX_MODEL,
    service_tier: "default",
    system_fingerprint: "fp_sandbox",
    choices,
    ...usage,
  };
}
