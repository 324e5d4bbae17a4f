import { asFields, asObjects, asText, type Fields, parseOwnFields } from "../../../base/json/fields.ts";
import type { RelayIdentity, WholeAnswer } from "../../canonical/answer/relay.ts";
import { ANSWER_NOT_JSON } from "../../conversation/errors/broken-answers.ts";
import { brokenAnswer, findVendorError } from "../../conversation/errors/vendor-error.ts";
import { correctStopReason } from "../finish-reason.ts";
import { encodeUsage, readUsage } from "../usage.ts";
import { isCall, isEmptyBlock, mapCallId, readRelayFinish, SILENT_REASONS } from "./response-blocks.ts";

/**
 * Rewrites a vendor's whole answer for a Messages client. Unknown fields are kept. `text` is its body. The parsed body itself is changed
 * and printed.
 */
export function relayMessagesAnswer(text: string, identity: RelayIdentity): WholeAnswer {
  const body = parseOwnFields(text);
  if (body === null) return { kind: "error", error: ANSWER_NOT_JSON };
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  if (!Array.isArray(body["content"]))
    return { kind: "error", error: brokenAnswer("the upstream's answer has no content") };
  const blocks = asObjects(body["content"]);
  const usage = asFields(body["usage"]) ?? {};
  const native = asText(body["stop_reason"]) ?? "end_turn";
  const hasCalls = blocks.some(isCall);
  const reason = correctStopReason(native, hasCalls);
  body["id"] = identity.id;
  body["type"] = "message";
  body["role"] = "assistant";
  body["model"] = identity.model;
  body["content"] = blocks.map((block) => mapCallId(identity, block));
  body["stop_reason"] = reason;
  body["stop_sequence"] ??= null;
  return {
    kind: "answer",
    isEmpty: blocks.every(isEmptyBlock) && SILENT_REASONS.has(reason),
    usage: readUsage(usage),
    producedBytes: blocks.reduce((sum, block) => sum + countBytes(block), 0),
    finish: readRelayFinish(native, hasCalls),
    encode({ report, metadata }) {
      body["usage"] = encodeUsage(report, usage, asText(usage["service_tier"]));
      if (metadata !== null) body["gateway_metadata"] = metadata;
      return JSON.stringify(body);
    },
  };
}

/** Counts the bytes of texts and inputs; tool results were not produced by the model. */
function countBytes({ text, thinking, input }: Fields): number {
  return (
    Buffer.byteLength(asText(text) ?? "") +
    Buffer.byteLength(asText(thinking) ?? "") +
    (input === undefined ? 0 : Buffer.byteLength(JSON.stringify(input)))
  );
}
