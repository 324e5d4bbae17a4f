import type { AnswerEnd } from "../../canonical/format.ts";
import type { RelayIdentity, WholeAnswer } from "../../canonical/relay.ts";
import { brokenAnswer, findVendorError } from "../../conversation/vendor-error.ts";
import { asFields, type Fields, tryParseFields } from "../../json/fields.ts";
import { encodeUsage, readUsage } from "../usage.ts";
import { describeFinish, isEmptyBlock, mapCallId, SILENT_REASONS } from "./relay-stream.ts";

/** Reads a Messages answer that was not streamed, for a Messages client. `text` is its body; what is not ours in it stays. */
export function readMessagesAnswer(text: string, identity: RelayIdentity): WholeAnswer {
  const body = tryParseFields(text);
  if (body === null) return failed("the upstream's answer is not JSON");
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  const blocks = Array.isArray(body["content"])
    ? body["content"].map(asFields).filter((b) => b !== null)
    : null;
  if (blocks === null) return failed("the upstream's answer has no content");
  const raw = asFields(body["usage"]) ?? {};
  const reason = typeof body["stop_reason"] === "string" ? body["stop_reason"] : "end_turn";
  const content = blocks.map((block) => nameCall(block, identity));
  return {
    kind: "answer",
    isEmpty: blocks.every(isEmptyBlock) && SILENT_REASONS.has(reason),
    usage: readUsage(raw),
    producedBytes: blocks.reduce((sum, block) => sum + countBytes(block), 0),
    finish: describeFinish(reason),
    encode: (end) => printAnswer({ ...body, content, stop_reason: reason }, identity, raw, end),
  };
}

function failed(message: string): WholeAnswer {
  return { kind: "error", error: brokenAnswer(message) };
}

function nameCall(block: Fields, identity: RelayIdentity): Fields {
  const id = mapCallId(identity, block);
  return id === null ? block : { ...block, id };
}

/** Words and inputs; what tools brought was not produced by the model. */
function countBytes(block: Fields): number {
  const { text, thinking, input } = block;
  const words = [text, thinking].filter((value) => typeof value === "string").join("");
  return Buffer.byteLength(words) + (input === undefined ? 0 : Buffer.byteLength(JSON.stringify(input)));
}

function printAnswer(body: Fields, identity: RelayIdentity, raw: Fields, end: AnswerEnd): string {
  const tier = raw["service_tier"];
  return JSON.stringify({
    stop_sequence: null,
    ...body,
    id: identity.id,
    type: "message",
    role: "assistant",
    model: identity.model,
    usage: encodeUsage(end.report, raw, typeof tier === "string" ? tier : null),
    ...(end.metadata === null ? {} : { gateway_metadata: end.metadata }),
  });
}
