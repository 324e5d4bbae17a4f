import type { AnswerEnd } from "../../canonical/format.ts";
import type { RelayIdentity, WholeAnswer } from "../../canonical/relay.ts";
import { ANSWER_NOT_JSON } from "../../conversation/broken-answers.ts";
import { brokenAnswer, findVendorError } from "../../conversation/vendor-error.ts";
import { asFields, asObjects, asText, type Fields, tryParseFields } from "../../json/fields.ts";
import { encodeUsage, readUsage } from "../usage.ts";
import { isEmptyBlock, mapCallId, readRelayFinish, SILENT_REASONS } from "./response-blocks.ts";

/** Rewrites a vendor's whole answer for a Messages client. Unknown fields are kept. `text` is its body. */
export function relayMessagesAnswer(text: string, identity: RelayIdentity): WholeAnswer {
  const body = tryParseFields(text);
  if (body === null) return { kind: "error", error: ANSWER_NOT_JSON };
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  if (!Array.isArray(body["content"]))
    return { kind: "error", error: brokenAnswer("the upstream's answer has no content") };
  const blocks = asObjects(body["content"]);
  const usage = asFields(body["usage"]) ?? {};
  const reason = asText(body["stop_reason"]) ?? "end_turn";
  const content = blocks.map((block) => mapCallId(identity, block));
  return {
    kind: "answer",
    isEmpty: blocks.every(isEmptyBlock) && SILENT_REASONS.has(reason),
    usage: readUsage(usage),
    producedBytes: blocks.reduce((sum, block) => sum + countBytes(block), 0),
    finish: readRelayFinish(reason),
    encode: (end) => encodeAnswer({ ...body, content, stop_reason: reason, usage }, identity, end),
  };
}

/** Counts the bytes of texts and inputs; tool results were not produced by the model. */
function countBytes(block: Fields): number {
  const { text, thinking, input } = block;
  const texts = [text, thinking].filter((value) => typeof value === "string").join("");
  return Buffer.byteLength(texts) + (input === undefined ? 0 : Buffer.byteLength(JSON.stringify(input)));
}

function encodeAnswer(body: Fields, identity: RelayIdentity, { report, metadata }: AnswerEnd): string {
  const usage = asFields(body["usage"]) ?? {};
  return JSON.stringify({
    stop_sequence: null,
    ...body,
    id: identity.id,
    type: "message",
    role: "assistant",
    model: identity.model,
    usage: encodeUsage(report, usage, asText(usage["service_tier"])),
    ...(metadata === null ? {} : { gateway_metadata: metadata }),
  });
}
