import { asObjects, asText, type Fields } from "../../../base/json/fields.ts";
import type { AnswerReader, UpstreamCodec } from "../../canonical/model/format.ts";
import { decodeAnswer as decodeChatAnswer } from "../../openai-chat/translate/answer/decode-response.ts";
import { createConvertingReader } from "../../openai-chat/translate/answer/read-stream.ts";

/**
 * Reads answers of this format for a filter, which sees answers only in the canonical model. Log probabilities and unknown fields are
 * left out: they could repeat what the filter removes.
 */
export const completionAnswers: Pick<UpstreamCodec, "decodeAnswer" | "createReader"> = {
  decodeAnswer: (body) => decodeChatAnswer(toChat(body, "message")),
  createReader: (): AnswerReader => createConvertingReader((event) => toChat(event, "delta")),
};

/** Returns an answer or event with its texts where chat completions have them: in the message or the delta of a choice. */
function toChat(body: Fields, place: "message" | "delta"): Fields {
  const { choices, ...rest } = body;
  if (choices === undefined) return rest;
  return {
    ...rest,
    choices: asObjects(choices).map(({ index, text, finish_reason }, position) => ({
      index: typeof index === "number" ? index : position,
      [place]: { content: asText(text) ?? "" },
      finish_reason,
    })),
  };
}
