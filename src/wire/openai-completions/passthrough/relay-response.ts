import { asObjects, asText, type Fields, omit, tryParseFields } from "../../../base/json/fields.ts";
import type { RelayFinish, RelayIdentity, WholeAnswer } from "../../canonical/answer/relay.ts";
import { ANSWER_NOT_JSON, failedFinish, NO_CHOICES } from "../../conversation/errors/broken-answers.ts";
import { findVendorError } from "../../conversation/errors/vendor-error.ts";
import { isFailedFinish, readFinishReason } from "../../openai-chat/finish-reason.ts";
import { OWN_ANSWER_FIELDS } from "../../openai-chat/own-fields.ts";
import { encodeUsage, findUsage } from "../../openai-chat/usage.ts";

/** Fields of a choice that the gateway writes itself. */
export const OWN_CHOICE_FIELDS: ReadonlySet<string> = new Set(["index", "text", "finish_reason"]);

/** Returns a vendor's finish reason in the client's words and in its own. A vendor that gives none has stopped. */
export function readFinish(reason: unknown): RelayFinish {
  const native = typeof reason === "string" ? reason : "stop";
  return { client: readFinishReason(native, false), native };
}

/** Returns the fields of a choice for a finish, with the vendor's own word where it differs. */
export function encodeFinish({ client, native }: RelayFinish): Fields {
  return { finish_reason: client, ...(client === native ? {} : { native_finish_reason: native }) };
}

/** Corrects a vendor's whole answer for a client of this API. `text` is its body. An empty completion is valid. */
export function relayCompletion(text: string, identity: RelayIdentity): WholeAnswer {
  const body = tryParseFields(text);
  if (body === null) return { kind: "error", error: ANSWER_NOT_JSON };
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  const choices = asObjects(body["choices"]);
  const finishes = choices.map((choice) => readFinish(choice["finish_reason"]));
  const [finish] = finishes;
  if (finish === undefined) return { kind: "error", error: NO_CHOICES };
  const failed = finishes.find(({ native }) => isFailedFinish(native));
  if (failed !== undefined) return { kind: "error", error: failedFinish(failed.native) };
  const { id, created, model } = identity;
  const answer = {
    id,
    object: "text_completion",
    created,
    model,
    ...omit(body, OWN_ANSWER_FIELDS),
    choices: choices.map((choice, at) => encodeChoice(choice, at, finishes[at] as RelayFinish)),
  };
  return {
    kind: "answer",
    isEmpty: false,
    usage: findUsage(body),
    producedBytes: choices.reduce((sum, choice) => sum + Buffer.byteLength(asText(choice["text"]) ?? ""), 0),
    finish,
    encode: ({ report, metadata }) =>
      JSON.stringify({
        ...answer,
        usage: encodeUsage(report),
        ...(metadata === null ? {} : { gateway_metadata: metadata }),
      }),
  };
}

function encodeChoice(choice: Fields, position: number, finish: RelayFinish): Fields {
  return {
    text: asText(choice["text"]) ?? "",
    index: typeof choice["index"] === "number" ? choice["index"] : position,
    logprobs: null,
    ...omit(choice, OWN_CHOICE_FIELDS),
    ...encodeFinish(finish),
  };
}
