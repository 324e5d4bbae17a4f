import { tryParseFields } from "../../../base/json/fields.ts";
import { decodeUtf8, type JsonNode, memberOf } from "../../../base/json/scan.ts";
import {
  addAll,
  applySplices,
  NO_SPLICES,
  removeMembers,
  type Splice,
  setMember,
} from "../../../base/json/splice.ts";
import type { ChatTraits } from "../../canonical/model/chat-traits.ts";
import type { KeptCall, Repair, RepairedMessage } from "../../conversation/calls/outline.ts";
import { INTERRUPTED } from "../../conversation/calls/repair-tool-calls.ts";
import { isAbsent } from "../../conversation/check-nodes.ts";
import { fitMessage } from "../fit-messages.ts";
import { mayNeedFit, needsFit } from "./fit-scanned.ts";
import { joinAssistants } from "./join-assistants.ts";
import type { ChatMessage } from "./request-shape.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** Returns the splice that replaces the client's `messages` with the repaired conversation, in the form that the host accepts. */
export function forwardMessages(request: ScannedChatRequest, repair: Repair, traits: ChatTraits): Splice {
  const node = request.root.fields.messages as JsonNode;
  const items = request.messages;
  const outline = request.outline.read();
  const context = { request, traits };
  const encoded: string[] = [];
  /** Consecutive assistant messages that are to be joined. */
  let joined: string[] = [];
  const endJoined = (): void => {
    if (joined.length > 0) encoded.push(joinAssistants(joined));
    joined = [];
  };
  for (const message of repair.messages) {
    if (message.kind !== "kept" || !message.joins) endJoined();
    if (isEmptied(message, items)) continue;
    const json = encodeMessage(message, context);
    if (message.kind === "kept" && outline[message.from]?.kind === "assistant") joined.push(json);
    else encoded.push(json);
  }
  endJoined();
  return { start: node.start, end: node.end, insert: `[${encoded.join(",")}]` };
}

/** The state that the messages of one request share. */
interface MessagesContext {
  readonly request: ScannedChatRequest;
  readonly traits: ChatTraits;
}

function encodeMessage(repaired: RepairedMessage, context: MessagesContext): string {
  const { request, traits } = context;
  if (repaired.kind === "placeholder") {
    return JSON.stringify({ role: "tool", tool_call_id: repaired.callId, content: INTERRUPTED });
  }
  const message = request.messages[repaired.from] as ChatMessage;
  const splices = repaired.calls === null ? [...removeEmptyCalls(request.text, message)] : [];
  if (repaired.callId !== null)
    splices.push(setMember(message, "tool_call_id", JSON.stringify(repaired.callId)));
  if (repaired.calls !== null) splices.push(...replaceCalls(request, message, repaired.calls));
  const json = splice(request, message, splices);
  return needsFit(request.text, message, traits) ? fitJson(json, traits) : json;
}

function fitJson(json: string, traits: ChatTraits): string {
  return JSON.stringify(fitMessage(tryParseFields(json) ?? {}, traits));
}

/** Returns whether an assistant message had nothing but calls that were all dropped as duplicates. */
function isEmptied(repaired: RepairedMessage, items: readonly ChatMessage[]): boolean {
  if (repaired.kind === "placeholder" || repaired.calls?.length !== 0) return false;
  const message = items[repaired.from];
  return !CONTENT_FIELDS.some((field) => hasContent(memberOf(message, field)));
}

/** Fields of an assistant message that may have content other than calls and reasoning. */
const CONTENT_FIELDS = ["content", "refusal", "audio"] as const;

function hasContent(node: JsonNode | undefined): boolean {
  if (isAbsent(node)) return false;
  // `""` and `[]` are empty.
  return node.items === null ? node.kind !== "string" || node.end - node.start > 2 : node.items.length > 0;
}

/** Returns the edits of messages that need no repair: empty calls are removed, and those which the host does not take are replaced. */
export function fitMessages(request: ScannedChatRequest, traits: ChatTraits): readonly Splice[] {
  const { text, messages, facts } = request;
  if (!facts.hasEmptyCalls && !mayNeedFit(facts, traits)) return NO_SPLICES;
  let splices: Splice[] | null = null;
  for (const message of messages) {
    const edits = removeEmptyCalls(text, message);
    if (!needsFit(text, message, traits)) {
      if (edits.length === 0) continue;
      splices ??= [];
      addAll(splices, edits);
      continue;
    }
    const { start, end } = message;
    splices ??= [];
    splices.push({ start, end, insert: fitJson(splice(request, message, edits), traits) });
  }
  return splices ?? NO_SPLICES;
}

/** Returns splices that remove the cache marks of tools. */
export function removeToolMarks({ text, tools }: ScannedChatRequest): readonly Splice[] {
  return tools.flatMap((tool) => removeMembers(text, tool, MARKS));
}

const MARKS: ReadonlySet<string> = new Set(["cache_control"]);

const CALLS: ReadonlySet<string> = new Set(["tool_calls"]);

/** Returns splices that remove an empty `tool_calls`, which some vendors reject. */
function removeEmptyCalls(text: string, message: ChatMessage): readonly Splice[] {
  const isEmpty = message.fields.tool_calls?.items?.length === 0;
  return isEmpty ? removeMembers(text, message, CALLS) : NO_SPLICES;
}

function replaceCalls(
  request: ScannedChatRequest,
  message: ChatMessage,
  calls: readonly KeptCall[],
): readonly Splice[] {
  const node = message.fields.tool_calls as JsonNode;
  if (calls.length === 0) return removeMembers(request.text, message, CALLS);
  const kept = calls.map(({ from, id }) => {
    const call = (node.items ?? [])[from] as JsonNode;
    return splice(request, call, [setMember(call, "id", JSON.stringify(id))]);
  });
  return [{ start: node.start, end: node.end, insert: `[${kept.join(",")}]` }];
}

/** Returns a part of the request with the splices applied. */
function splice(request: ScannedChatRequest, node: JsonNode, splices: readonly Splice[]): string {
  if (splices.length === 0) return decodeUtf8(request.text.slice(node.start, node.end));
  const shifted = splices.map(({ start, end, insert }) => ({
    start: start - node.start,
    end: end - node.start,
    insert,
  }));
  return applySplices(request.bytes.subarray(node.start, node.end) as Buffer, shifted).toString("utf8");
}
