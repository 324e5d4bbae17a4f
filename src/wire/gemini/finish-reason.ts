import { createTable } from "../../base/json/fields.ts";
import type { Finish, FinishReason } from "../canonical/model/answer.ts";

const KNOWN: Readonly<Record<string, FinishReason>> = createTable({
  STOP: "stop",
  FINISH_REASON_UNSPECIFIED: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  LANGUAGE: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  MODEL_ARMOR: "content-filter",
  IMAGE_SAFETY: "content-filter",
  IMAGE_PROHIBITED_CONTENT: "content-filter",
  IMAGE_RECITATION: "content-filter",
});

/** Reasons that mean the generation failed. */
const FAILED = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "MISSING_THOUGHT_SIGNATURE",
  "TOO_MANY_TOOL_CALLS",
  "UNEXPECTED_TOOL_CALL",
]);

/** Returns whether a finish reason means that the generation failed. */
export function isFailedFinish(native: string): boolean {
  return FAILED.has(native);
}

/**
 * Returns whether a finish reason means that Google ended the answer without saying why: `OTHER`, `IMAGE_OTHER`, `NO_IMAGE`, and reasons
 * that are newer than this list. The answer so far is incomplete.
 */
export function isUnexplainedFinish(native: string): boolean {
  return KNOWN[native] === undefined && !FAILED.has(native);
}

/**
 * Reads a finish reason: `tool-calls` if there were calls. An unexplained reason counts as a content filter, because the answer is
 * incomplete and no length limit ended it. The vendor's reason is kept next to it.
 */
export function readFinish(native: string, hasCalls: boolean): Finish {
  const known = KNOWN[native] ?? "content-filter";
  return { reason: known === "stop" && hasCalls ? "tool-calls" : known, native, stopSequence: null };
}

/** Returns the finish of an answer whose prompt was blocked. */
export function readBlockReason(native: string): Finish {
  return { reason: "content-filter", native, stopSequence: null };
}
