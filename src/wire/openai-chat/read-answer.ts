import type { RelayIdentity } from "../canonical/relay.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import { brokenAnswer, findVendorError, type VendorError } from "../conversation/vendor-error.ts";
import { asFields, type Fields, omit, tryParseFields } from "../json/fields.ts";
import { isFailedFinish, readFinishReason } from "./finish-reason.ts";
import { OWN_ANSWER_FIELDS, OWN_CHOICE_FIELDS, OWN_MESSAGE_FIELDS } from "./own-fields.ts";
import { encodeReasoning, readSpoken, saysBeside } from "./reasoning.ts";
import { createToolCallTracker, listCalls, textOf } from "./tool-calls.ts";
import { findUsage } from "./usage.ts";

/** A whole answer, or why it is none. */
export type AnswerReading =
  | {
      readonly kind: "answer";
      readonly isEmpty: boolean;
      /** The client's body, but for `usage` and `gateway_metadata`, which are known only once it is priced. */
      readonly body: Record<string, unknown>;
      /** Null where the vendor gave none. */
      readonly usage: TokenUsage | null;
      /** Bytes of text in it, for estimates. */
      readonly producedBytes: number;
      readonly finish: { readonly client: string; readonly native: string };
    }
  | { readonly kind: "error"; readonly error: VendorError };

/** Reads a vendor's answer that was not streamed. `text` is its body. */
export function readAnswer(text: string, identity: RelayIdentity): AnswerReading {
  const body = tryParseFields(text);
  if (body === null) return failed("the upstream's answer is not JSON");
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  const raw = Array.isArray(body["choices"]) ? body["choices"].map(asFields).filter((c) => c !== null) : [];
  if (raw.length === 0) return failed("the upstream's answer has no choices");
  const choices = raw.map((choice, place) => readChoice(choice, place, identity));
  const bad = choices.find((choice) => choice.problem !== null);
  if (bad) return failed(bad.problem as string);
  const { id, created, model } = identity;
  return {
    kind: "answer",
    isEmpty: choices.every((choice) => choice.isEmpty),
    body: {
      id,
      object: "chat.completion",
      created,
      model,
      ...omit(body, OWN_ANSWER_FIELDS),
      choices: choices.map((choice) => choice.encoded),
    },
    usage: findUsage(body),
    producedBytes: choices.reduce((sum, choice) => sum + choice.bytes, 0),
    finish: (choices[0] as ChoiceReading).finish,
  };
}

function failed(message: string): AnswerReading {
  return { kind: "error", error: brokenAnswer(message) };
}

interface ChoiceReading {
  readonly encoded: Record<string, unknown>;
  readonly finish: { readonly client: string; readonly native: string };
  readonly bytes: number;
  /** A plain stop without a word. */
  readonly isEmpty: boolean;
  readonly problem: string | null;
}

function readChoice(choice: Fields, place: number, identity: RelayIdentity): ChoiceReading {
  const message = asFields(choice["message"]) ?? {};
  const native = typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : "stop";
  const spoken = readSpoken(message);
  const calls = readCalls(listCalls(message), identity);
  const client = readFinishReason(native, calls.length > 0);
  const content = spoken.content === "" && calls.length > 0 ? null : spoken.content;
  const beside = omit(message, OWN_MESSAGE_FIELDS);
  const bytes =
    Buffer.byteLength(content ?? "") +
    Buffer.byteLength(spoken.reasoning ?? "") +
    calls.reduce((sum, call) => sum + Buffer.byteLength(textOf(call)), 0);
  return {
    encoded: {
      index: typeof choice["index"] === "number" ? choice["index"] : place,
      message: {
        role: "assistant",
        ...beside,
        content,
        ...encodeReasoning(spoken),
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      },
      ...omit(choice, OWN_CHOICE_FIELDS),
      finish_reason: client,
      ...(client === native ? {} : { native_finish_reason: native }),
    },
    finish: { client, native },
    bytes,
    isEmpty: bytes === 0 && calls.length === 0 && client === "stop" && !saysBeside(beside),
    problem: isFailedFinish(native) ? `the upstream ended the answer with "${native}"` : null,
  };
}

/** Each call comes whole, so one step of the tracker and its end make them complete. */
function readCalls(raw: readonly unknown[], identity: RelayIdentity) {
  if (raw.length === 0) return [];
  const tracker = createToolCallTracker(identity.makeCallId, identity.originalIds);
  const calls = tracker.step(raw.map((call, index) => ({ ...asFields(call), index })));
  const bare = new Set(tracker.end().map((call) => call.index));
  return calls.map((call) =>
    bare.has(call.index) ? { ...call, function: { ...call.function, arguments: "{}" } } : call,
  );
}
