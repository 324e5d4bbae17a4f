import { createTable } from "../../base/json/fields.ts";
import type { Finish, FinishReason } from "../canonical/model/answer.ts";

/** The canonical reason of each stop reason. */
const REASONS: Readonly<Record<string, FinishReason>> = createTable({
  end_turn: "stop",
  stop_sequence: "stop-sequence",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool-calls",
  refusal: "refusal",
  pause_turn: "pause",
  // The client sends the compacted turn back to go on.
  compaction: "pause",
});

/** Decodes a stop reason; `native` is null if the vendor sent none. */
export function decodeFinish(native: string | null, stopSequence: string | null): Finish {
  return { reason: REASONS[native ?? ""] ?? "stop", native: native ?? "", stopSequence };
}

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  "stop-sequence": "stop_sequence",
  length: "max_tokens",
  "tool-calls": "tool_use",
  "content-filter": "refusal",
  refusal: "refusal",
  pause: "pause_turn",
};

/**
 * Returns the stop reason of this API that a vendor gave, corrected: `tool_use` without a call is `end_turn`, because an agent that
 * reads `tool_use` and finds no call repeats its request endlessly.
 */
export function correctStopReason(native: string, hasCalls: boolean): string {
  return REASONS[native] === "tool-calls" && !hasCalls ? STOP_REASONS.stop : native;
}

/**
 * Encodes the stop reason for a client. It is the vendor's own if it is one of this API (`isOwn`: this format read it, known or
 * not) and its calls came, and `tool_use` for a plain stop with calls.
 */
export function encodeStopReason(finish: Finish, isOwn: boolean, hasCalls: boolean): string {
  const isNative = finish.native !== "" && (isOwn || REASONS[finish.native] === finish.reason);
  if (isNative) return correctStopReason(finish.native, hasCalls);
  return hasCalls && finish.reason === "stop" ? STOP_REASONS["tool-calls"] : STOP_REASONS[finish.reason];
}
