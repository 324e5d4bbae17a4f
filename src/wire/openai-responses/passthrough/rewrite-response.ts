import { asFields, assignFields, asText, type Fields, NO_FIELDS } from "../../../base/json/fields.ts";
import type { RelayFinish, RelayIdentity } from "../../canonical/answer/relay.ts";
import { FINISH_WORDS } from "../../canonical/model/finish-words.ts";
import type { AnswerEnd } from "../../canonical/model/format.ts";
import { correctOpenaiTier } from "../../canonical/model/service-tiers.ts";
import { decodeFinish } from "../finish-reason.ts";
import { listMissing } from "../required-fields.ts";
import { encodeUsage } from "../usage.ts";

/** Returns a vendor's response with the gateway's id, the model id of the catalog, and the call ids that the client knows. */
export function rewriteResponse(
  response: Fields,
  identity: RelayIdentity,
  ids: ResponseCallIds,
): Record<string, unknown> {
  const { id, model, created } = identity;
  const { output } = response;
  const known = Array.isArray(output)
    ? { output: output.map((item, index) => ids.rewrite(item, index)) }
    : {};
  const rewritten = { ...response, id, model, created_at: created, store: false, ...known };
  correctOpenaiTier(rewritten);
  assignFields(rewritten, listMissing(rewritten));
  return rewritten;
}

const CALLS = new Set<unknown>(["function_call", "custom_tool_call"]);

/** Returns whether an item of this type is a call that the client has to answer. */
export function isCall(type: unknown): boolean {
  return CALLS.has(type);
}

/** Maps the call ids of one answer to those that the client knows. A call without an id gets one, once. */
export class ResponseCallIds {
  /** Ids that were made, by output index. */
  private readonly made = new Map<number, string>();

  constructor(private readonly identity: RelayIdentity) {}

  /** Returns the client's id for a call with the vendor's id at this index of the output. */
  idFor(vendorId: string, outputIndex: number): string {
    if (vendorId !== "") return this.identity.originalIds?.get(vendorId) ?? vendorId;
    const id = this.made.get(outputIndex) ?? this.identity.makeCallId();
    this.made.set(outputIndex, id);
    return id;
  }

  /** Returns an ended item with the client's id and with arguments; the item itself if it is not a call or has both. */
  rewrite(raw: unknown, outputIndex: number): unknown {
    const item = asFields(raw);
    if (item === null || !isCall(item["type"])) return raw;
    const id = this.idFor(asText(item["call_id"]) ?? "", outputIndex);
    const corrected = lacksArguments(item["type"], item["arguments"]) ? { ...item, arguments: "{}" } : item;
    return id === item["call_id"] ? corrected : { ...corrected, call_id: id };
  }
}

/** Returns whether the arguments of an ended item are absent or blank, where clients parse JSON. */
export function lacksArguments(type: unknown, args: unknown): boolean {
  return type === "function_call" && (args === undefined || args === null || String(args).trim() === "");
}

/** Returns the response as the client gets it at the end, with its price and the gateway's metadata. */
export function encodePriced(response: Fields, end: AnswerEnd): Record<string, unknown> {
  const usage = encodeUsage(end.report, asFields(response["usage"]) ?? {});
  const completed = completionOf(response, end);
  return {
    ...response,
    ...completed,
    usage,
    ...(end.metadata === null ? {} : { gateway_metadata: end.metadata }),
  };
}

/** Returns `completed_at` for a completed response of a vendor that gives none; no field for any other. */
export function completionOf(response: Fields, { completedAt }: AnswerEnd): Fields {
  const isOpen = typeof response["completed_at"] !== "number" && response["status"] !== "incomplete";
  return isOpen ? { completed_at: completedAt ?? response["created_at"] } : NO_FIELDS;
}

/** Returns whether a response has ended without anything that a person or agent would read. */
export function isEmptyResponse(response: Fields): boolean {
  const { output, status } = response;
  return status !== "incomplete" && (!Array.isArray(output) || output.every(isEmptyItem));
}

/** Messages and reasoning may be empty; any other item is a call or its outcome. */
function isEmptyItem(raw: unknown): boolean {
  const item = asFields(raw) ?? {};
  if (item["type"] !== "message" && item["type"] !== "reasoning") return false;
  const parts = [item["content"], item["summary"]].filter(Array.isArray).flat().map(asFields);
  return parts.every((part) => !part?.["text"] && !part?.["refusal"]);
}

/** Returns how a response finished. `sawCall` is true if the stream had a call that the output may lack. */
export function readFinish(response: Fields, sawCall: boolean): RelayFinish {
  const { output } = response;
  const items = Array.isArray(output) ? output.map(asFields) : [];
  const { reason, native } = decodeFinish(response, sawCall || items.some((item) => isCall(item?.["type"])));
  return { client: FINISH_WORDS[reason], native };
}
