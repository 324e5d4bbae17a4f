import type { AnswerDecoding } from "../../canonical/format.ts";
import type { Part } from "../../canonical/parts.ts";
import { brokenAnswer, findVendorError } from "../../conversation/vendor-error.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { decodeFinish } from "../finish-reason.ts";
import { readUsage } from "../usage.ts";
import { decodePart, makeNative } from "./decode-part.ts";
import { makeExtras } from "./extras.ts";
import { type FieldTaker, takeFields } from "./take-fields.ts";

/** Decodes a whole answer. Unknown fields are kept, and so is `usage` as it came. */
export function decodeAnswer(body: Fields): AnswerDecoding {
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  const content = body["content"];
  if (!Array.isArray(content))
    return { kind: "error", error: brokenAnswer("the upstream's answer has no content") };
  const take = takeFields(body);
  for (const name of ["id", "type", "role", "model", "content"]) take.drop(name);
  const choice = {
    index: 0,
    parts: content.map(decodeAnswerBlock).filter((part) => part !== null),
    finish: takeFinish(take),
    logprobs: null,
    ...makeExtras(takeStopDetails(take)),
  };
  const usage = asFields(take.peek("usage")) ?? {};
  const serviceTier = typeof usage["service_tier"] === "string" ? usage["service_tier"] : null;
  const answer = { choices: [choice], usage: readUsage(usage), serviceTier, ...makeExtras(take.rest()) };
  return { kind: "answer", answer };
}

/** Decodes a block of an answer. A block that cannot be decoded is not rejected but passes whole. */
export function decodeAnswerBlock(raw: unknown): Part | null {
  const part = decodePart(raw);
  const block = asFields(raw);
  if (part !== null || block === null) return part;
  return makeNative(block, typeof block["type"] === "string" ? block["type"] : "unknown");
}

function takeFinish(take: FieldTaker) {
  const native = take.text("stop_reason");
  take.drop("stop_reason");
  const stopSequence = take.text("stop_sequence");
  take.drop("stop_sequence");
  return decodeFinish(native, stopSequence);
}

/** Takes the fields that belong to the finish. */
export function takeStopDetails(take: FieldTaker): Fields {
  const details = take.drop("stop_details");
  return details === undefined ? {} : { stop_details: details };
}
