import type { Fields } from "../../../base/json/fields.ts";
import type { Answer, AnswerChoice, Finish } from "../../canonical/model/answer.ts";
import { FINISH_WORDS } from "../../canonical/model/finish-words.ts";
import type { AnswerFrame } from "../../canonical/model/format.ts";
import type { Part } from "../../canonical/model/parts.ts";
import { encodeUsage } from "../../openai-chat/usage.ts";

/** Encodes a whole answer (docs/api/completions.md). Of its parts, clients of this API get texts and reasoning. */
export function encodeAnswer(answer: Answer, { identity, end: { report, metadata } }: AnswerFrame): Fields {
  const { id, model, created } = identity;
  return {
    id,
    object: "text_completion",
    created,
    model,
    choices: answer.choices.map(encodeChoice),
    usage: encodeUsage(report),
    ...(metadata === null ? {} : { gateway_metadata: metadata }),
  };
}

/** Encodes a finish, with the vendor's own word where it differs. */
export function encodeFinish({ reason, native }: Finish): Fields {
  const word = FINISH_WORDS[reason];
  return { finish_reason: word, ...(word === native ? {} : { native_finish_reason: native }) };
}

function encodeChoice({ index, parts, finish }: AnswerChoice): Fields {
  const reasoning = joinTexts(parts, REASONING);
  return {
    text: joinTexts(parts, TEXTS),
    index,
    logprobs: null,
    ...(reasoning === "" ? {} : { reasoning }),
    ...encodeFinish(finish),
  };
}

/** The kinds of parts whose text is the completion. */
export const TEXTS: ReadonlySet<Part["kind"]> = new Set(["text", "refusal"]);
const REASONING: ReadonlySet<Part["kind"]> = new Set(["reasoning"]);

function joinTexts(parts: readonly Part[], kinds: ReadonlySet<Part["kind"]>): string {
  return parts.map((part) => (kinds.has(part.kind) && "text" in part ? part.text : "")).join("");
}
