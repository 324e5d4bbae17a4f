/** The finish reasons a client may see (specification 2.4). */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

const KNOWN: Readonly<Record<string, FinishReason>> = {
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
};

/** Reasons by which vendors say that they failed. */
const FAILED = new Set(["error", "network_error", "insufficient_system_resource", "engine_overloaded"]);

/** Whether a vendor's finish reason means that the generation failed. */
export function isFailedFinish(reason: string): boolean {
  return FAILED.has(reason.toLowerCase());
}

/**
 * A vendor's finish reason as a client's: `tool_calls` whenever there were calls, whatever the vendor said,
 * and `stop` for words that nobody knows.
 */
export function readFinishReason(reason: string, hasToolCalls: boolean): FinishReason {
  const known = KNOWN[reason.toLowerCase()] ?? "stop";
  return hasToolCalls && known !== "length" && known !== "content_filter" ? "tool_calls" : known;
}
