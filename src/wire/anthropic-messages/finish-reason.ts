import type { Finish, FinishReason } from "../canonical/answer.ts";

/** What each stop reason means. */
const MEANINGS: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop-sequence",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool-calls",
  refusal: "refusal",
  pause_turn: "pause",
  // The client sends the compacted turn back to go on.
  compaction: "pause",
};

/** Reads a stop reason; `native` is null where the vendor said none. */
export function decodeFinish(native: string | null, stopSequence: string | null): Finish {
  return { reason: MEANINGS[native ?? ""] ?? "stop", native: native ?? "", stopSequence };
}

const WORDS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  "stop-sequence": "stop_sequence",
  length: "max_tokens",
  "tool-calls": "tool_use",
  "content-filter": "refusal",
  refusal: "refusal",
  pause: "pause_turn",
};

/**
 * The stop reason that a client reads: the vendor's own where it is one of this API (`isOwn`: read by it, known or
 * not), and `tool_use` whenever there are calls and nothing worse.
 */
export function encodeStopReason(finish: Finish, isOwn: boolean, hasCalls: boolean): string {
  const isNative = finish.native !== "" && (isOwn || MEANINGS[finish.native] === finish.reason);
  if (isNative) return finish.native;
  return hasCalls && finish.reason === "stop" ? WORDS["tool-calls"] : WORDS[finish.reason];
}
