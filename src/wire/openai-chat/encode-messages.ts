import type { Repair, RepairedMessage } from "../conversation/outline.ts";
import { INTERRUPTED } from "../conversation/repair-tool-calls.ts";
import { decodeUtf8, type JsonNode, memberOf } from "../json/scan.ts";
import { appendMember, applySplices, removeMembers, renameMember, type Splice } from "../json/splice.ts";
import type { ChatRequest } from "./decode-request.ts";

/** The splice that puts the repaired conversation in place of the client's `messages`. */
export function encodeMessages(request: ChatRequest, repair: Repair, wantsReasoningContent: boolean): Splice {
  const node = memberOf(request.root, "messages") as JsonNode;
  const messages = repair.messages.map((message) =>
    encodeMessage(request, node.items ?? [], message, wantsReasoningContent),
  );
  return { start: node.start, end: node.end, insert: `[${messages.join(",")}]` };
}

function encodeMessage(
  request: ChatRequest,
  items: readonly JsonNode[],
  repaired: RepairedMessage,
  wantsReasoningContent: boolean,
): string {
  if (repaired.kind === "placeholder") {
    return JSON.stringify({ role: "tool", tool_call_id: repaired.callId, content: INTERRUPTED });
  }
  const message = items[repaired.from] as JsonNode;
  const splices = repaired.calls === null ? removeEmptyCalls(request.text, message) : [];
  if (wantsReasoningContent) splices.push(...renameInMessage(request.text, message));
  if (repaired.callId !== null)
    splices.push(setMember(message, "tool_call_id", JSON.stringify(repaired.callId)));
  if (repaired.calls !== null) splices.push(...replaceCalls(request, message, repaired.calls));
  return splice(request, message, splices);
}

/** The reasoning of earlier turns under the name that a vendor wants; one that stands there already is kept. */
export function renameReasoning(text: string, root: JsonNode): Splice[] {
  return (memberOf(root, "messages")?.items ?? []).flatMap((message) => renameInMessage(text, message));
}

function renameInMessage(text: string, message: JsonNode): Splice[] {
  const reasoning = memberOf(message, "reasoning");
  if (reasoning?.kind !== "string" || memberOf(message, "reasoning_content") !== undefined) return [];
  return [renameMember(text, reasoning, "reasoning_content")];
}

const CALLS: ReadonlySet<string> = new Set(["tool_calls"]);

/** An empty list of calls disappears (rule 6); some vendors refuse one. */
export function removeEmptyCalls(text: string, message: JsonNode): Splice[] {
  const isEmpty = memberOf(message, "tool_calls")?.items?.length === 0;
  return isEmpty ? removeMembers(text, message, CALLS) : [];
}

function replaceCalls(
  request: ChatRequest,
  message: JsonNode,
  calls: readonly { readonly from: number; readonly id: string }[],
): Splice[] {
  const node = memberOf(message, "tool_calls") as JsonNode;
  if (calls.length === 0) return removeMembers(request.text, message, CALLS);
  const kept = calls.map(({ from, id }) => {
    const call = (node.items ?? [])[from] as JsonNode;
    return splice(request, call, [setMember(call, "id", JSON.stringify(id))]);
  });
  return [{ start: node.start, end: node.end, insert: `[${kept.join(",")}]` }];
}

function setMember(object: JsonNode, key: string, json: string): Splice {
  const node = memberOf(object, key);
  return node === undefined
    ? appendMember(object, key, json)
    : { start: node.start, end: node.end, insert: json };
}

/** A part of the request with splices made in it. */
function splice(request: ChatRequest, node: JsonNode, splices: readonly Splice[]): string {
  if (splices.length === 0) return decodeUtf8(request.text.slice(node.start, node.end));
  const shifted = splices.map(({ start, end, insert }) => ({
    start: start - node.start,
    end: end - node.start,
    insert,
  }));
  return applySplices(request.bytes.subarray(node.start, node.end) as Buffer, shifted).toString("utf8");
}
