import { asFields, type Fields } from "../../base/json/fields.ts";
import type { Finish, FinishReason } from "../canonical/model/answer.ts";
import type { Part } from "../canonical/model/parts.ts";

/** Decodes how a response finished. A response with calls gets `tool-calls`, which this format has no reason for. */
export function decodeFinish(response: Fields, hasCalls: boolean): Finish {
  const status = String(response["status"] ?? "completed");
  const cause = asFields(response["incomplete_details"])?.["reason"];
  if (status !== "incomplete") {
    return { reason: hasCalls ? "tool-calls" : "stop", native: status, stopSequence: null };
  }
  const native = typeof cause === "string" ? cause : status;
  const reason = native === "content_filter" ? "content-filter" : "length";
  return { reason, native, stopSequence: null };
}

/** Returns whether parts contain a call that the client has to answer. */
export function hasCalls(parts: Iterable<Part>): boolean {
  for (const part of parts) if (part.kind === "tool-call") return true;
  return false;
}

/** Encodes the fields of a response that tell how it ended. */
export function encodeFinish(reason: FinishReason | null, hasRefusal: boolean): Record<string, unknown> {
  const cause = CAUSES[reason ?? "stop"];
  // A refusal with text is an answer; one without text comes from the content filter.
  if (cause === undefined || (reason === "refusal" && hasRefusal)) {
    return { status: "completed", incomplete_details: null };
  }
  return { status: "incomplete", incomplete_details: { reason: cause } };
}

const CAUSES: Partial<Record<FinishReason, string>> = {
  length: "max_output_tokens",
  "content-filter": "content_filter",
  refusal: "content_filter",
};
