import { collectAnswer } from "../canonical/collect-answer.ts";
import type { AnswerDecoding } from "../canonical/format.ts";
import { brokenAnswer } from "../conversation/vendor-error.ts";
import type { Fields } from "../json/fields.ts";
import { createResponseReader } from "./read-response.ts";

/** Reads a whole `GenerateContentResponse` as a stream of one chunk, so that both give the same answer. */
export function decodeAnswer(body: Fields): AnswerDecoding {
  const reader = createResponseReader();
  const events = [...reader.step(body), ...reader.end(true)];
  for (const event of events) if (event.kind === "error") return { kind: "error", error: event.error };
  const answer = collectAnswer(events);
  const hasCandidates = Array.isArray(body["candidates"]) && body["candidates"].length > 0;
  if (!hasCandidates && answer.choices.length === 0) {
    return { kind: "error", error: brokenAnswer("the upstream's answer has no candidates") };
  }
  return { kind: "answer", answer };
}
