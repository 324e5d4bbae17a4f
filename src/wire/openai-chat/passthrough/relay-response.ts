import type { RelayFinish, RelayIdentity, WholeAnswer } from "../../canonical/relay.ts";
import { ANSWER_NOT_JSON, failedFinish, NO_CHOICES } from "../../conversation/broken-answers.ts";
import { findVendorError } from "../../conversation/vendor-error.ts";
import { asFields, asObjects, dropField, type MutableFields, parseOwnFields } from "../../json/fields.ts";
import { isFailedFinish, readFinishReason } from "../finish-reason.ts";
import { OWN_MESSAGE_FIELDS } from "../own-fields.ts";
import { type DeltaText, encodeReasoning, hasOtherContent, readDeltaText } from "../reasoning.ts";
import { listCalls, type ToolCallOut, ToolCallTracker, textOf } from "../tool-calls.ts";
import { encodeUsage, findUsage } from "../usage.ts";

/**
 * Corrects a vendor's whole answer for a chat client. `text` is its body. The parsed body itself is changed and printed, so that its
 * fields stay in the vendor's order, and an ordinary answer costs no copies.
 */
export function relayChatAnswer(text: string, identity: RelayIdentity): WholeAnswer {
  const body = parseOwnFields(text);
  if (body === null) return { kind: "error", error: ANSWER_NOT_JSON };
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  const usage = findUsage(body);
  const choices = asObjects(body["choices"]) as MutableFields[];
  const readings = choices.map((choice, index) => correctChoice(choice, index, identity));
  const [first] = readings;
  if (first === undefined) return { kind: "error", error: NO_CHOICES };
  const failed = readings.find(({ finish }) => isFailedFinish(finish.native));
  if (failed !== undefined) return { kind: "error", error: failedFinish(failed.finish.native) };
  body["id"] = identity.id;
  body["object"] = "chat.completion";
  body["created"] = identity.created;
  body["model"] = identity.model;
  body["choices"] = choices;
  dropField(body, "error");
  return {
    kind: "answer",
    isEmpty: readings.every((reading) => reading.isEmpty),
    usage,
    producedBytes: readings.reduce((sum, reading) => sum + reading.bytes, 0),
    finish: first.finish,
    encode({ report, metadata }) {
      body["usage"] = encodeUsage(report);
      if (metadata !== null) body["gateway_metadata"] = metadata;
      return JSON.stringify(body);
    },
  };
}

interface ChoiceReading {
  readonly finish: RelayFinish;
  readonly bytes: number;
  /** It finished with a plain stop and has no content. */
  readonly isEmpty: boolean;
}

/** Corrects a choice in its place. `position` is its index where the vendor gives none. */
function correctChoice(choice: MutableFields, position: number, identity: RelayIdentity): ChoiceReading {
  const message = (asFields(choice["message"]) ?? {}) as MutableFields;
  const native = typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : "stop";
  const text = readDeltaText(message);
  const calls = readCalls(listCalls(message), identity);
  const client = readFinishReason(native, calls.length > 0);
  const content = text.content === "" && calls.length > 0 ? null : text.content;
  correctMessage(message, { ...text, content }, calls);
  if (typeof choice["index"] !== "number") choice["index"] = position;
  choice["message"] = message;
  choice["finish_reason"] = client;
  if (client !== native) choice["native_finish_reason"] = native;
  dropField(choice, "delta");
  dropField(choice, "usage");
  const bytes =
    Buffer.byteLength(content ?? "") +
    Buffer.byteLength(text.reasoning ?? "") +
    calls.reduce((sum, call) => sum + Buffer.byteLength(textOf(call)), 0);
  const isSilent = bytes === 0 && calls.length === 0 && client === "stop";
  return {
    finish: { client, native },
    bytes,
    isEmpty: isSilent && !hasOtherContent(message, OWN_MESSAGE_FIELDS),
  };
}

function correctMessage(message: MutableFields, text: DeltaText, calls: readonly ToolCallOut[]): void {
  message["role"] = "assistant";
  message["content"] = text.content;
  dropField(message, "reasoning");
  dropField(message, "reasoning_content");
  dropField(message, "reasoning_details");
  if (text.reasoning !== null || text.details !== null) Object.assign(message, encodeReasoning(text));
  dropField(message, "function_call");
  if (calls.length > 0) message["tool_calls"] = calls;
  else dropField(message, "tool_calls");
}

const NO_CALLS: readonly ToolCallOut[] = [];

/** Reads complete calls: one step of the tracker and its end suffice. */
function readCalls(raw: readonly unknown[], identity: RelayIdentity): readonly ToolCallOut[] {
  if (raw.length === 0) return NO_CALLS;
  const tracker = new ToolCallTracker(identity.makeCallId, identity.originalIds);
  const calls = tracker.step(raw.map((call, index) => ({ ...asFields(call), index })));
  const bare = new Set(tracker.end().map((call) => call.index));
  return calls.map((call) =>
    bare.has(call.index) ? { ...call, function: { ...call.function, arguments: "{}" } } : call,
  );
}
