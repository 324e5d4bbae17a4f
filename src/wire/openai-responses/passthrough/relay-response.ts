import type { RelayIdentity, WholeAnswer } from "../../canonical/relay.ts";
import { brokenAnswer } from "../../conversation/vendor-error.ts";
import { asFields, type Fields, tryParseFields } from "../../json/fields.ts";
import { findFailure } from "../find-failure.ts";
import { decodeUsage } from "../usage.ts";
import {
  claimResponse,
  createCallIds,
  encodePriced,
  isEmptyResponse,
  readFinish,
} from "./rewrite-response.ts";

/**
 * Reads a vendor's whole response for a client of the same format; unknown fields stay. `text` is its body.
 */
export function readResponsesAnswer(text: string, identity: RelayIdentity): WholeAnswer {
  const body = tryParseFields(text);
  if (body === null) return failed("the upstream's answer is not JSON");
  const error = findFailure(body);
  if (error !== null) return { kind: "error", error };
  const output = body["output"] as readonly unknown[];
  const claimed = claimResponse(body, identity, createCallIds(identity));
  return {
    kind: "answer",
    isEmpty: isEmptyResponse(body),
    usage: decodeUsage(body),
    producedBytes: output.reduce<number>((sum, item) => sum + countBytes(asFields(item) ?? {}), 0),
    finish: readFinish(body, false),
    encode: (end) => JSON.stringify(encodePriced(claimed, end)),
  };
}

function failed(message: string): WholeAnswer {
  return { kind: "error", error: brokenAnswer(message) };
}

/** Bytes of text in an item: contents, summaries, arguments. */
function countBytes(item: Fields): number {
  const lists = [item["content"], item["summary"]].filter(Array.isArray).flat().map(asFields);
  const texts = [
    item["arguments"],
    item["input"],
    ...lists.map((part) => part?.["text"] ?? part?.["refusal"]),
  ];
  return texts.reduce<number>(
    (sum, text) => sum + (typeof text === "string" ? Buffer.byteLength(text) : 0),
    0,
  );
}
