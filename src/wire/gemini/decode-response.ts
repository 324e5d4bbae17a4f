import type { Fields } from "../../base/json/fields.ts";
import { AnswerEmitter } from "../canonical/answer/answer-emitter.ts";
import { collectAnswer } from "../canonical/answer/collect-answer.ts";
import type { AnswerDecoding } from "../canonical/model/format.ts";
import { brokenAnswer } from "../conversation/errors/vendor-error.ts";
import { ResponseReader } from "./read-response.ts";

/** Reads a whole `GenerateContentResponse` as a stream of one chunk, so that both give the same answer. */
export function decodeAnswer(body: Fields): AnswerDecoding {
  const emitter = new AnswerEmitter();
  const reader = new ResponseReader(emitter);
  reader.read(body);
  reader.end(true);
  if (emitter.error !== null) return { kind: "error", error: emitter.error };
  const answer = collectAnswer(emitter.take());
  const hasCandidates = Array.isArray(body["candidates"]) && body["candidates"].length > 0;
  if (!hasCandidates && answer.choices.length === 0) {
    return { kind: "error", error: brokenAnswer("the upstream's answer has no candidates") };
  }
  return { kind: "answer", answer };
}
