import type { Fields } from "../../../../base/json/fields.ts";
import { replayAnswer } from "../../../canonical/answer/collect-answer.ts";
import type { Answer } from "../../../canonical/model/answer.ts";
import type { AnswerFrame } from "../../../canonical/model/format.ts";
import { keepForAnswer } from "./keep-for-answer.ts";
import { encodeEcho, encodeResponse, encodeStart } from "./response-fields.ts";
import { ItemWriter } from "./write-items.ts";

/** Encodes a whole answer as a response: the items that a stream of it would end with. */
export function encodeAnswer(answer: Answer, { identity, end, asked }: AnswerFrame): Fields {
  const choice = answer.choices[0];
  const request = keepForAnswer(asked.request);
  const items = new ItemWriter(identity.id, request.tools, () => {});
  // Before the texts, so that each of them takes its own.
  if (choice !== undefined) items.step({ kind: "logprobs", choice: 0, value: choice.logprobs });
  for (const event of replayAnswer(answer)) {
    if (event.kind === "part-start" || event.kind === "part-delta" || event.kind === "part-end") {
      if (event.choice === choice?.index) items.step(event);
    }
  }
  items.end(choice?.finish.reason ?? null);
  const { serviceTier, extras } = answer;
  const finish = choice?.finish ?? null;
  const outcome = { output: items.readOutput(), finish, serviceTier, extras, hasRefusal: items.hasRefusal() };
  return encodeResponse(encodeStart(identity, encodeEcho(request)), outcome, end);
}
