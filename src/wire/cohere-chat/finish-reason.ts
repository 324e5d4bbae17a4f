import type { Finish, FinishReason } from "../canonical/answer.ts";
import { readVendorError, type VendorError } from "../conversation/vendor-error.ts";

const KNOWN: Readonly<Record<string, FinishReason>> = {
  COMPLETE: "stop",
  STOP_SEQUENCE: "stop-sequence",
  MAX_TOKENS: "length",
  TOOL_CALL: "tool-calls",
  ERROR_TOXIC: "content-filter",
};

/** A finish reason in the hub's words: tool calls wherever there were any, a plain stop for what nobody knows. */
export function readFinish(native: string, hasToolCalls: boolean): Finish {
  const known = KNOWN[native] ?? "stop";
  return { reason: hasToolCalls && known === "stop" ? "tool-calls" : known, native, stopSequence: null };
}

/** HTTP statuses that the reasons mean by which Cohere says that it failed. */
const FAILED: Readonly<Record<string, number>> = { ERROR: 500, TIMEOUT: 504 };

/** The failure that a finish reason is, with Cohere's words for it; null for any other. */
export function findFailedFinish(native: string, words: unknown): VendorError | null {
  const status = FAILED[native];
  if (status === undefined) return null;
  const message =
    typeof words === "string" && words !== "" ? words : `the upstream ended the answer with "${native}"`;
  return readVendorError(status, { message });
}
