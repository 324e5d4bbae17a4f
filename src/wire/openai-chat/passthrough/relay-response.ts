import type { RelayFinish, RelayIdentity, WholeAnswer } from "../../canonical/relay.ts";
import { ANSWER_NOT_JSON, failedFinish, NO_CHOICES } from "../../conversation/broken-answers.ts";
import { findVendorError } from "../../conversation/vendor-error.ts";
import { asFields, asObjects, type Fields, omit, tryParseFields } from "../../json/fields.ts";
import { isFailedFinish, readFinishReason } from "../finish-reason.ts";
import { OWN_ANSWER_FIELDS, OWN_CHOICE_FIELDS, OWN_MESSAGE_FIELDS } from "../own-fields.ts";
import { encodeReasoning, hasOtherContent, readDeltaText } from "../reasoning.ts";
import { listCalls, ToolCallTracker, textOf } from "../tool-calls.ts";
import { encodeUsage, findUsage } from "../usage.ts";

/** Corrects a vendor's whole answer for a chat client. `text` is its body. */
export function relayChatAnswer(text: string, identity: RelayIdentity): WholeAnswer {
  const body = tryParseFields(text);
  if (body === null) return { kind: "error", error: ANSWER_NOT_JSON };
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  const choices = asObjects(body["choices"]).map((choice, index) => readChoice(choice, index, identity));
  const [first] = choices;
  if (first === undefined) return { kind: "error", error: NO_CHOICES };
  const failed = choices.find(({ finish }) => isFailedFinish(finish.native));
  if (failed !== undefined) return { kind: "error", error: failedFinish(failed.finish.native) };
  const { id, created, model } = identity;
  const encoded = choices.map((choice) => choice.encoded);
  const answer = {
    id,
    object: "chat.completion",
    created,
    model,
    ...omit(body, OWN_ANSWER_FIELDS),
    choices: encoded,
  };
  return {
    kind: "answer",
    isEmpty: choices.every((choice) => choice.isEmpty),
    usage: findUsage(body),
    producedBytes: choices.reduce((sum, choice) => sum + choice.bytes, 0),
    finish: first.finish,
    encode: ({ report, metadata }) =>
      JSON.stringify({
        ...answer,
        usage: encodeUsage(report),
        ...(metadata === null ? {} : { gateway_metadata: metadata }),
      }),
  };
}

interface ChoiceReading {
  readonly encoded: Record<string, unknown>;
  readonly finish: RelayFinish;
  readonly bytes: number;
  /** It finished with a plain stop and has no content. */
  readonly isEmpty: boolean;
}

function readChoice(choice: Fields, position: number, identity: RelayIdentity): ChoiceReading {
  const message = asFields(choice["message"]) ?? {};
  const native = typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : "stop";
  const text = readDeltaText(message);
  const calls = readCalls(listCalls(message), identity);
  const client = readFinishReason(native, calls.length > 0);
  const content = text.content === "" && calls.length > 0 ? null : text.content;
  const others = omit(message, OWN_MESSAGE_FIELDS);
  const bytes =
    Buffer.byteLength(content ?? "") +
    Buffer.byteLength(text.reasoning ?? "") +
    calls.reduce((sum, call) => sum + Buffer.byteLength(textOf(call)), 0);
  return {
    encoded: {
      index: typeof choice["index"] === "number" ? choice["index"] : position,
      message: {
        role: "assistant",
        ...others,
        content,
        ...encodeReasoning(text),
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      },
      ...omit(choice, OWN_CHOICE_FIELDS),
      finish_reason: client,
      ...(client === native ? {} : { native_finish_reason: native }),
    },
    finish: { client, native },
    bytes,
    isEmpty: bytes === 0 && calls.length === 0 && client === "stop" && !hasOtherContent(others),
  };
}

/** Reads complete calls: one step of the tracker and its end suffice. */
function readCalls(raw: readonly unknown[], identity: RelayIdentity) {
  if (raw.length === 0) return [];
  const tracker = new ToolCallTracker(identity.makeCallId, identity.originalIds);
  const calls = tracker.step(raw.map((call, index) => ({ ...asFields(call), index })));
  const bare = new Set(tracker.end().map((call) => call.index));
  return calls.map((call) =>
    bare.has(call.index) ? { ...call, function: { ...call.function, arguments: "{}" } } : call,
  );
}
