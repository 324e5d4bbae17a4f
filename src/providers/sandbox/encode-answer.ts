import type { AnswerCall, SandboxAnswer, SandboxChoice } from "./answer.ts";

/** The fields that all chunks of an answer share. */
export interface Stamp {
  readonly id: string;
  /** Whole seconds since the epoch. */
  readonly created: number;
  readonly model: string;
}

/** One event of a stream. `part` names its content, by which failures choose their position. */
export interface StreamChunk {
  readonly part: "role" | "token" | "call" | "arguments" | "finish" | "usage";
  readonly json: Readonly<Record<string, unknown>>;
}

/** Matches words with the white space before them. Long words are split. */
const WORDS = /\s*\S{1,12}|\s+/gu;

/** Encodes an answer as one `chat.completion`. */
export function encodeDocument(answer: SandboxAnswer, stamp: Stamp): Record<string, unknown> {
  return {
    id: stamp.id,
    object: "chat.completion",
    created: stamp.created,
    model: stamp.model,
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

function encodeMessage({ reasoning, text, calls }: SandboxChoice): Record<string, unknown> {
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

function encodeUsage({ usage }: SandboxAnswer): Record<string, unknown> {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens, audio_tokens: 0 },
  };
}

/**
 * Encodes an answer as the events of a stream in OpenAI's order: each choice begins with its role and ends with its `finish_reason`,
 * and choices alternate. With `includeUsage` a last event has the usage and no choices.
 */
export function* encodeChunks(
  answer: SandboxAnswer,
  stamp: Stamp,
  includeUsage: boolean,
): Generator<StreamChunk> {
  const usage = includeUsage ? { usage: null } : {};
  let choices = answer.choices.map((choice, index) =>
    encodeChoice(choice, (delta, finish) => stampChunk(stamp, [encodeDelta(index, delta, finish)], usage)),
  );
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

/** Encodes a piece of text of the first choice as one event. */
export function encodeToken(text: string, stamp: Stamp): StreamChunk {
  return { part: "token", json: stampChunk(stamp, [encodeDelta(0, { content: text })], {}) };
}

function* encodeChoice(
  choice: SandboxChoice,
  encode: (delta: Delta["delta"], finish: Delta["finish"]) => StreamChunk["json"],
): Generator<StreamChunk> {
  for (const { part, delta, finish } of listDeltas(choice)) yield { part, json: encode(delta, finish) };
}

interface Delta {
  readonly part: StreamChunk["part"];
  readonly delta: Record<string, unknown>;
  readonly finish?: string | undefined;
}

function* listDeltas({ reasoning, text, calls, finish }: SandboxChoice): Generator<Delta> {
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

/** Splits arguments into pieces of at most eight characters, and into at least two if possible. */
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
    model: stamp.model,
    service_tier: "default",
    system_fingerprint: "fp_sandbox",
    choices,
    ...usage,
  };
}
