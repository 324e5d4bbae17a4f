import type { KeptCall, Repair, RepairedMessage } from "../../conversation/outline.ts";
import { INTERRUPTED } from "../../conversation/repair-tool-calls.ts";
import { decodeUtf8, type JsonNode, memberOf } from "../../json/scan.ts";
import { appendMember, applySplices, removeMembers, renameMember, type Splice } from "../../json/splice.ts";
import { joinAssistants } from "./join-assistants.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** The splice that puts the repaired conversation in place of the client's `messages`. */
export function forwardMessages(
  request: ScannedChatRequest,
  repair: Repair,
  wantsReasoningContent: boolean,
): Splice {
  const node = memberOf(request.root, "messages") as JsonNode;
  const items = node.items ?? [];
  const encoded: string[] = [];
  /** Assistant messages that become one. */
  let joined: string[] = [];
  const endJoined = (): void => {
    if (joined.length > 0) encoded.push(joinAssistants(joined));
    joined = [];
  };
  for (const message of repair.messages) {
    if (message.kind !== "kept" || !message.joins) endJoined();
    if (isEmptied(message, items)) continue;
    const json = encodeMessage(request, items, message, wantsReasoningContent);
    if (message.kind === "kept" && request.outline[message.from]?.kind === "assistant") joined.push(json);
    else encoded.push(json);
  }
  endJoined();
  return { start: node.start, end: node.end, insert: `[${encoded.join(",")}]` };
}

function encodeMessage(
  request: ScannedChatRequest,
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

/** Whether an assistant message said nothing but calls, all of which were duplicates. */
function isEmptied(repaired: RepairedMessage, items: readonly JsonNode[]): boolean {
  if (repaired.kind === "placeholder" || repaired.calls?.length !== 0) return false;
  const message = items[repaired.from];
  return !SAID.some((field) => hasWords(memberOf(message, field)));
}

/** Members that may hold what an assistant message says, beside its calls and the reasoning that led to them. */
const SAID = ["content", "refusal", "audio"] as const;

function hasWords(node: JsonNode | undefined): boolean {
  if (node === undefined || node.kind === "null") return false;
  // The shortest of each: "" and [].
  return node.items === null ? node.kind !== "string" || node.end - node.start > 2 : node.items.length > 0;
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

/** Removes an empty list of calls; some vendors refuse one. */
export function removeEmptyCalls(text: string, message: JsonNode): Splice[] {
  const isEmpty = memberOf(message, "tool_calls")?.items?.length === 0;
  return isEmpty ? removeMembers(text, message, CALLS) : [];
}

function replaceCalls(request: ScannedChatRequest, message: JsonNode, calls: readonly KeptCall[]): Splice[] {
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
function splice(request: ScannedChatRequest, node: JsonNode, splices: readonly Splice[]): string {
  if (splices.length === 0) return decodeUtf8(request.text.slice(node.start, node.end));
  const shifted = splices.map(({ start, end, insert }) => ({
    start: start - node.start,
    end: end - node.start,
    insert,
  }));
  return applySplices(request.bytes.subarray(node.start, node.end) as Buffer, shifted).toString("utf8");
}
