import {
  asFields,
  asObjects,
  assignFields,
  dropField,
  type MutableFields,
  parseOwnFields,
} from "../../../base/json/fields.ts";
import type { RelayFinish, RelayIdentity, WholeAnswer } from "../../canonical/answer/relay.ts";
import type { AnswerEnd } from "../../canonical/model/format.ts";
import { correctOpenaiTier } from "../../canonical/model/service-tiers.ts";
import { ANSWER_NOT_JSON, failedFinish, NO_CHOICES } from "../../conversation/errors/broken-answers.ts";
import { findVendorError } from "../../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import { isFailedFinish, readFinishReason } from "../finish-reason.ts";
import { OWN_MESSAGE_FIELDS } from "../own-fields.ts";
import { type DeltaText, encodeReasoning, hasOtherContent, readDeltaText } from "../reasoning.ts";
import { ToolCallTracker } from "../tool-call-tracker.ts";
import { listCalls, type ToolCallOut, textOf } from "../tool-calls.ts";
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
  const answer = new ChatAnswer(body, identity);
  if (answer.finish === null) return { kind: "error", error: NO_CHOICES };
  return answer.failed === null ? answer : { kind: "error", error: failedFinish(answer.failed) };
}

/** A vendor's answer, whose body is corrected in its place. */
class ChatAnswer {
  readonly kind = "answer";
  readonly usage: TokenUsage | null;
  producedBytes = 0;
  /** All choices have finished with a plain stop and without content. */
  isEmpty = true;
  /** The finish of the first choice; null if there is none. */
  finish: RelayFinish | null = null;
  /** The first finish reason that reports a failure; null if there is none. */
  failed: string | null = null;

  constructor(
    private readonly body: MutableFields,
    identity: RelayIdentity,
  ) {
    // Before the choices lose the usage that some of them have.
    this.usage = findUsage(body);
    const choices = asObjects(body["choices"]) as MutableFields[];
    for (let at = 0; at < choices.length; at++)
      this.correctChoice(choices[at] as MutableFields, at, identity);
    body["id"] = identity.id;
    body["object"] = "chat.completion";
    body["created"] = identity.created;
    body["model"] = identity.model;
    body["choices"] = choices;
    dropField(body, "error");
    correctOpenaiTier(body);
    // Clients generated from OpenRouter's description require it.
    body["system_fingerprint"] ??= null;
  }

  encode({ report, metadata }: AnswerEnd): string {
    const { body } = this;
    body["usage"] = encodeUsage(report);
    if (metadata !== null) body["gateway_metadata"] = metadata;
    return JSON.stringify(body);
  }

  /** Corrects a choice in its place. `position` is its index where the vendor gives none. */
  private correctChoice(choice: MutableFields, position: number, identity: RelayIdentity): void {
    const message = (asFields(choice["message"]) ?? {}) as MutableFields;
    const native = typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : "stop";
    const text = readDeltaText(message);
    const calls = readCalls(listCalls(message), identity);
    const client = readFinishReason(native, calls.length > 0);
    const content = text.content === "" && calls.length > 0 ? null : text.content;
    correctMessage(message, content, text, calls);
    if (typeof choice["index"] !== "number") choice["index"] = position;
    choice["message"] = message;
    choice["finish_reason"] = client;
    if (client !== native) choice["native_finish_reason"] = native;
    dropField(choice, "delta");
    dropField(choice, "usage");
    const bytes = bytesOf(content) + bytesOf(text.reasoning) + bytesOfCalls(calls);
    const isSilent = bytes === 0 && calls.length === 0 && client === "stop";
    this.finish ??= { client, native };
    if (isFailedFinish(native)) this.failed ??= native;
    this.producedBytes += bytes;
    this.isEmpty &&= isSilent && !hasOtherContent(message, OWN_MESSAGE_FIELDS);
  }
}

function bytesOf(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(text);
}

function bytesOfCalls(calls: readonly ToolCallOut[]): number {
  let bytes = 0;
  for (const call of calls) bytes += Buffer.byteLength(textOf(call));
  return bytes;
}

function correctMessage(
  message: MutableFields,
  content: string | null,
  text: DeltaText,
  calls: readonly ToolCallOut[],
): void {
  message["role"] = "assistant";
  message["content"] = content;
  dropField(message, "reasoning");
  dropField(message, "reasoning_content");
  dropField(message, "reasoning_details");
  if (text.reasoning !== null || text.details !== null) assignFields(message, encodeReasoning(text));
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
