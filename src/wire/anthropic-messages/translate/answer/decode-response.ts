import { asFields, asText, type Fields, omit } from "../../../../base/json/fields.ts";
import type { AnswerDecoding } from "../../../canonical/model/format.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import { brokenAnswer, findVendorError } from "../../../conversation/errors/vendor-error.ts";
import { decodeFinish } from "../../finish-reason.ts";
import { readUsage } from "../../usage.ts";
import { decodePart, makeNative } from "../parts/decode-part.ts";
import { makeExtras } from "../parts/extras.ts";

/** Decodes a whole answer. Unknown fields are kept, and so is `usage` as it came. */
export function decodeAnswer(body: Fields): AnswerDecoding {
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  const content = body["content"];
  if (!Array.isArray(content))
    return { kind: "error", error: brokenAnswer("the upstream's answer has no content") };
  const parts: Part[] = [];
  for (const raw of content) {
    const part = decodeAnswerBlock(raw);
    if (part !== null) parts.push(part);
  }
  const finish = decodeFinish(asText(body["stop_reason"]), asText(body["stop_sequence"]));
  const usage = asFields(body["usage"]) ?? {};
  const answer = {
    choices: [{ index: 0, parts, finish, logprobs: null, ...makeExtras(pickStopDetails(body)) }],
    usage: readUsage(usage),
    serviceTier: asText(usage["service_tier"]),
    ...makeExtras(omit(body, ANSWER_FIELDS)),
  };
  return { kind: "answer", answer };
}

/** Fields of an answer that the canonical model or its choice has, or that the gateway writes itself. */
export const ANSWER_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "type",
  "role",
  "model",
  "content",
  "stop_reason",
  "stop_sequence",
  "stop_details",
]);

/** Decodes a block of an answer. A block that cannot be decoded is not rejected but passes whole. */
export function decodeAnswerBlock(raw: unknown): Part | null {
  const part = decodePart(raw);
  const block = asFields(raw);
  if (part !== null || block === null) return part;
  return makeNative(block, typeof block["type"] === "string" ? block["type"] : "unknown");
}

const NO_DETAILS: Fields = {};

/** Returns the fields that belong to the finish. */
export function pickStopDetails({ stop_details }: Fields): Fields {
  return stop_details === undefined ? NO_DETAILS : { stop_details };
}
