import type { RelayIdentity } from "../../../../src/wire/canonical/answer/relay.ts";
import { TranslatedRelay } from "../../../../src/wire/canonical/answer/translate-relay.ts";
import type { AnswerEnd, AskedFor } from "../../../../src/wire/canonical/model/format.ts";
import { EMPTY_REQUEST } from "../../../../src/wire/canonical/model/request.ts";
import { NO_TOKENS } from "../../../../src/wire/conversation/usage.ts";
import { openaiChat } from "../../../../src/wire/openai-chat/translate/codec.ts";

export const IDENTITY: RelayIdentity = {
  id: "gen_test",
  model: "acme/model",
  created: 1_700_000_000,
  originalIds: null,
  makeCallId: () => "call_made",
  onTurn: () => {},
};

export const ASKED: AskedFor = {
  request: { ...EMPTY_REQUEST, messages: [] },
  wantsUsageChunk: false,
  estimatedPromptTokens: 1,
};

export const END: AnswerEnd = {
  report: {
    usage: { ...NO_TOKENS, promptTokens: 3, completionTokens: 2 },
    cost: 0,
    upstreamInferenceCost: 0,
    upstreamPromptCost: 0,
    upstreamCompletionCost: 0,
    isByok: false,
  },
  metadata: null,
};

/** Translates a chat vendor's stream for a chat client. */
export function translate(pieces: Iterable<string>, asked: AskedFor = ASKED, identity = IDENTITY) {
  const relay = new TranslatedRelay(
    openaiChat.createReader(),
    openaiChat.createWriter(identity, asked),
    identity,
  );
  let out = "";
  for (const piece of pieces) out += relay.step(piece);
  out += relay.end();
  return { out, relay };
}

export interface Delta {
  role?: string;
  content?: string | null;
  refusal?: string;
  reasoning?: string | null;
  reasoning_content?: string | null;
  reasoning_details?: unknown[];
  annotations?: unknown[];
  tool_calls?: {
    index: number;
    id?: string;
    type?: string;
    extra_content?: unknown;
    function?: { name?: string; arguments?: string };
    custom?: { name?: string; input?: string };
  }[];
}

export interface Chunk {
  choices: {
    index: number;
    delta: Delta;
    finish_reason: string | null;
    native_finish_reason?: string;
    logprobs?: unknown;
  }[];
  usage?: unknown;
  error?: unknown;
  [field: string]: unknown;
}

/** Parses the events of a client's stream, bytes as Latin-1. */
export function readEvents(out: string): Chunk[] {
  return Buffer.from(out, "latin1")
    .toString("utf8")
    .split("\n\n")
    .filter((block) => block !== "" && block !== "data: [DONE]")
    .map((block) => JSON.parse(block.slice("data: ".length)) as Chunk);
}

export interface Folded {
  content: string;
  refusal: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: string }[];
  finishes: string[];
}

/** Collects a stream into messages by choice, as a simple client does. */
export function collectMessages(out: string): Record<number, Folded> {
  const choices: Record<number, Folded> = {};
  for (const { index, delta, finish_reason } of readEvents(out).flatMap((chunk) => chunk.choices)) {
    choices[index] ??= { content: "", refusal: "", reasoning: "", calls: [], finishes: [] };
    const folded = choices[index];
    folded.content += delta.content ?? "";
    folded.refusal += delta.refusal ?? "";
    folded.reasoning += delta.reasoning ?? "";
    for (const piece of delta.tool_calls ?? []) {
      folded.calls[piece.index] ??= { id: "", name: "", arguments: "" };
      const call = folded.calls[piece.index]!;
      call.id += piece.id ?? "";
      call.name += piece.function?.name ?? piece.custom?.name ?? "";
      call.arguments += piece.function?.arguments ?? piece.custom?.input ?? "";
    }
    if (finish_reason !== null) folded.finishes.push(finish_reason);
  }
  return choices;
}
