import { createTable } from "../../base/json/fields.ts";

/** The finish reasons that a client may see. */
export type ChatFinishReason = "stop" | "length" | "tool_calls" | "content_filter";

const KNOWN: Readonly<Record<string, ChatFinishReason>> = createTable({
  stop: "stop",
  stop_sequence: "stop",
  end_turn: "stop",
  eos: "stop",
  eos_token: "stop",
  complete: "stop",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  tool_calls: "tool_calls",
  tool_use: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
  safety: "content_filter",
  sensitive: "content_filter",
  refusal: "content_filter",
});

/** Returns whether a text is a finish reason of a vendor. */
export function isFinishReason(text: string): boolean {
  return KNOWN[text.toLowerCase()] !== undefined;
}

/** Finish reasons with which vendors report a failure. */
const FAILED = new Set(["error", "network_error", "insufficient_system_resource", "engine_overloaded"]);

/** Returns whether a vendor's finish reason means that the generation failed. */
export function isFailedFinish(reason: string): boolean {
  return FAILED.has(reason.toLowerCase());
}

/**
 * Maps a vendor's finish reason to the client's: `stop` for unknown reasons, and `tool_calls` if and only if there were calls. An
 * agent that reads `tool_calls` and finds no call repeats its request endlessly.
 */
export function readFinishReason(reason: string, hasToolCalls: boolean): ChatFinishReason {
  const known = lookUpFinishReason(reason);
  if (known === "length" || known === "content_filter") return known;
  return hasToolCalls ? "tool_calls" : "stop";
}

/** Maps a vendor's finish reason to the client's, whatever the answer contains: `stop` for unknown reasons. */
export function lookUpFinishReason(reason: string): ChatFinishReason {
  return KNOWN[reason.toLowerCase()] ?? "stop";
}
