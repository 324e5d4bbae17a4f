import type { RelayIdentity, WholeAnswer } from "../../canonical/relay.ts";
import { ANSWER_NOT_JSON } from "../../conversation/broken-answers.ts";
import { asFields, asObjects, type Fields, tryParseFields } from "../../json/fields.ts";
import { findFailure } from "../find-failure.ts";
import { readUsage } from "../usage.ts";
import { CallIds, encodePriced, isEmptyResponse, readFinish, rewriteResponse } from "./rewrite-response.ts";

/** Rewrites a vendor's whole answer for a Responses client. Unknown fields are kept. `text` is its body. */
export function relayResponsesAnswer(text: string, identity: RelayIdentity): WholeAnswer {
  const body = tryParseFields(text);
  if (body === null) return { kind: "error", error: ANSWER_NOT_JSON };
  const error = findFailure(body);
  if (error !== null) return { kind: "error", error };
  const output = body["output"] as readonly unknown[];
  const rewritten = rewriteResponse(body, identity, new CallIds(identity));
  return {
    kind: "answer",
    isEmpty: isEmptyResponse(body),
    usage: readUsage(body),
    producedBytes: output.reduce<number>((sum, item) => sum + countBytes(asFields(item) ?? {}), 0),
    finish: readFinish(body, false),
    encode: (end) => JSON.stringify(encodePriced(rewritten, end)),
  };
}

/** Counts the bytes of text in an item: contents, summaries, arguments. */
function countBytes(item: Fields): number {
  const parts = [...asObjects(item["content"]), ...asObjects(item["summary"])];
  const texts = [item["arguments"], item["input"], ...parts.map(({ text, refusal }) => text ?? refusal)];
  return texts.reduce<number>(
    (sum, text) => sum + (typeof text === "string" ? Buffer.byteLength(text) : 0),
    0,
  );
}
