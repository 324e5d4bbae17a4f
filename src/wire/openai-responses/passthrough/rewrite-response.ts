import { FINISH_WORDS } from "../../canonical/finish-words.ts";
import type { AnswerEnd } from "../../canonical/format.ts";
import type { RelayFinish, RelayIdentity } from "../../canonical/relay.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { decodeFinish } from "../finish-reason.ts";
import { encodeUsage } from "../usage.ts";

/** A vendor's response as the gateway's own: its id, the model by its name here, and the call ids the client knows. */
export function claimResponse(
  response: Fields,
  identity: RelayIdentity,
  ids: CallIds,
): Record<string, unknown> {
  const { id, model, created } = identity;
  const { output } = response;
  const known = Array.isArray(output) ? { output: output.map((item, place) => ids.claim(item, place)) } : {};
  return { ...response, id, model, created_at: created, store: false, ...known };
}

/** Gives calls the ids that the client knows. */
export interface CallIds {
  /** The id for a call that came with this one, at this place of the output. */
  idFor(vendorId: string, place: number): string;
  /** An item with the right id; the item itself where it is no call, or its id is right. */
  claim(item: unknown, place: number): unknown;
}

const CALLS = new Set<unknown>(["function_call", "custom_tool_call"]);

/** Whether an item of this type is a call that the client has to answer. */
export function isCall(type: unknown): boolean {
  return CALLS.has(type);
}

/** Ids of calls for one answer: mapped ones become the client's, and a call without one gets one, once. */
export function createCallIds({ originalIds, makeCallId }: RelayIdentity): CallIds {
  const made = new Map<number, string>();
  const idFor = (vendorId: string, place: number): string => {
    if (vendorId !== "") return originalIds?.get(vendorId) ?? vendorId;
    const id = made.get(place) ?? makeCallId();
    made.set(place, id);
    return id;
  };
  return {
    idFor,
    claim(raw, place) {
      const item = asFields(raw);
      if (item === null || !isCall(item["type"])) return raw;
      const vendorId = typeof item["call_id"] === "string" ? item["call_id"] : "";
      const id = idFor(vendorId, place);
      return id === item["call_id"] ? raw : { ...item, call_id: id };
    },
  };
}

/** The response as the client gets it at the end: with its price, and what the gateway did to it. */
export function encodePriced(response: Fields, end: AnswerEnd): Record<string, unknown> {
  const usage = encodeUsage(end.report, asFields(response["usage"]) ?? {});
  return { ...response, usage, ...(end.metadata === null ? {} : { gateway_metadata: end.metadata }) };
}

/** Whether a response has come to its end and holds nothing that a person or agent would read. */
export function isEmptyResponse(response: Fields): boolean {
  const { output, status } = response;
  return status !== "incomplete" && (!Array.isArray(output) || output.every(isEmptyItem));
}

/** Messages and reasoning may be empty; any other item is a call, or what came of one. */
function isEmptyItem(raw: unknown): boolean {
  const item = asFields(raw) ?? {};
  if (item["type"] !== "message" && item["type"] !== "reasoning") return false;
  const parts = [item["content"], item["summary"]].filter(Array.isArray).flat().map(asFields);
  return parts.every((part) => !part?.["text"] && !part?.["refusal"]);
}

/** How a response finished. `sawCall`: a call stood in it that its output may leave out. */
export function readFinish(response: Fields, sawCall: boolean): RelayFinish {
  const { output } = response;
  const items = Array.isArray(output) ? output.map(asFields) : [];
  const { reason, native } = decodeFinish(response, sawCall || items.some((item) => isCall(item?.["type"])));
  return { client: FINISH_WORDS[reason], native };
}
