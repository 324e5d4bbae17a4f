import { createTable } from "../../base/json/fields.ts";
import type { Finish, FinishReason } from "../canonical/model/answer.ts";

/** Stop reasons of Converse, and those of Claude that it passes through. */
const KNOWN: Readonly<Record<string, FinishReason>> = createTable({
  end_turn: "stop",
  stop_sequence: "stop-sequence",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool-calls",
  content_filtered: "content-filter",
  guardrail_intervened: "content-filter",
  refusal: "refusal",
  pause_turn: "pause",
});

/** Reasons that mean the generation failed. */
const FAILED = new Set(["malformed_model_output", "malformed_tool_use"]);

/** Returns whether a stop reason means that the generation failed. */
export function isFailedFinish(reason: string): boolean {
  return FAILED.has(reason);
}

/** Converts a stop reason: `tool-calls` if there were calls, `stop` for unknown reasons. */
export function readFinish(native: string, hasToolCalls: boolean, stopSequence: unknown): Finish {
  const known = KNOWN[native] ?? "stop";
  return {
    reason: hasToolCalls && known === "stop" ? "tool-calls" : known,
    native,
    stopSequence: typeof stopSequence === "string" ? stopSequence : null,
  };
}
