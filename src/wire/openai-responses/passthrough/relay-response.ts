import { asFields, asObjects, assignFields, type Fields, parseOwnFields } from "../../../base/json/fields.ts";
import type { RelayIdentity, WholeAnswer } from "../../canonical/answer/relay.ts";
import { correctOpenaiTier } from "../../canonical/model/service-tiers.ts";
import { ANSWER_NOT_JSON } from "../../conversation/errors/broken-answers.ts";
import { findFailure } from "../find-failure.ts";
import { listMissing } from "../required-fields.ts";
import { encodeUsage, readUsage } from "../usage.ts";
import { completionOf, isEmptyResponse, ResponseCallIds, readFinish } from "./rewrite-response.ts";

/**
 * Rewrites a vendor's whole answer for a Responses client. Unknown fields are kept. `text` is its body. The parsed body itself is changed
 * and printed.
 */
export function relayResponsesAnswer(text: string, identity: RelayIdentity): WholeAnswer {
  const body = parseOwnFields(text);
  if (body === null) return { kind: "error", error: ANSWER_NOT_JSON };
  const error = findFailure(body);
  if (error !== null) return { kind: "error", error };
  const output = body["output"] as readonly unknown[];
  const answer: Omit<Extract<WholeAnswer, { kind: "answer" }>, "encode"> = {
    kind: "answer",
    isEmpty: isEmptyResponse(body),
    usage: readUsage(body),
    producedBytes: output.reduce<number>((sum, item) => sum + countBytes(asFields(item) ?? {}), 0),
    finish: readFinish(body, false),
  };
  const ids = new ResponseCallIds(identity);
  body["id"] = identity.id;
  body["model"] = identity.model;
  body["created_at"] = identity.created;
  body["store"] = false;
  correctOpenaiTier(body);
  assignFields(body, listMissing(body));
  body["output"] = output.map((item, index) => ids.rewrite(item, index));
  return {
    ...answer,
    encode(end) {
      const { report, metadata } = end;
      assignFields(body, completionOf(body, end));
      body["usage"] = encodeUsage(report, asFields(body["usage"]) ?? {});
      if (metadata !== null) body["gateway_metadata"] = metadata;
      return JSON.stringify(body);
    },
  };
}

/** Counts the bytes of text in an item: contents, summaries, arguments. */
function countBytes(item: Fields): number {
  let bytes = bytesOf(item["arguments"]) + bytesOf(item["input"]);
  for (const { text, refusal } of asObjects(item["content"])) bytes += bytesOf(text ?? refusal);
  for (const { text, refusal } of asObjects(item["summary"])) bytes += bytesOf(text ?? refusal);
  return bytes;
}

function bytesOf(text: unknown): number {
  return typeof text === "string" ? Buffer.byteLength(text) : 0;
}
