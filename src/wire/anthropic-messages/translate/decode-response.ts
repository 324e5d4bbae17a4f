import type { AnswerDecoding } from "../../canonical/format.ts";
import type { Part } from "../../canonical/parts.ts";
import { brokenAnswer, findVendorError } from "../../conversation/vendor-error.ts";
import { asFields, asText, type Fields } from "../../json/fields.ts";
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
  for (const name of OWN_FIELDS) take.drop(name);
  const parts: Part[] = [];
  for (const raw of content) {
    const part = decodeAnswerBlock(raw);
    if (part !== null) parts.push(part);
  }
  const finish = takeFinish(take);
  const { extras } = makeExtras(takeStopDetails(take));
  const usage = asFields(take.peek("usage")) ?? {};
  const answer = {
    choices: [{ index: 0, parts, finish, logprobs: null, extras }],
    usage: readUsage(usage),
    serviceTier: asText(usage["service_tier"]),
    extras: makeExtras(take.rest()).extras,
  };
  return { kind: "answer", answer };
}

/** Fields of an answer that the canonical model has, or that the gateway writes itself. */
const OWN_FIELDS = ["id", "type", "role", "model", "content"] as const;

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

const NO_DETAILS: Fields = {};

/** Takes the fields that belong to the finish. */
export function takeStopDetails(take: FieldTaker): Fields {
  const details = take.drop("stop_details");
  return details === undefined ? NO_DETAILS : { stop_details: details };
}
