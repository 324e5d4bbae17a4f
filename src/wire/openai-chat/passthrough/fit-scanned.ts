import { isWord, type JsonNode, memberOf } from "../../../base/json/scan.ts";
import type { ChatTraits } from "../../canonical/model/chat-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import { isOtherSpelling, nameLosses } from "../fit-messages.ts";
import type { ChatMessage, ChatTool } from "./request-shape.ts";

/** The facts about a request's messages that some host may not accept. */
export interface MessageFacts {
  readonly hasDeveloper: boolean;
  readonly hasParts: boolean;
  readonly hasCalls: boolean;
  /** A message has an empty list of calls. */
  readonly hasEmptyCalls: boolean;
  /** A message has a member that is none of `COMMON_MEMBERS`. */
  readonly hasOthers: boolean;
}

/** The members that most messages have. */
const COMMON_MEMBERS = ["role", "content", "tool_calls", "tool_call_id"];

/** Returns whether any message may contain something that a host does not accept. If not, no message needs to be examined. */
export function mayNeedFit(facts: MessageFacts, traits: ChatTraits): boolean {
  return (
    facts.hasOthers ||
    (facts.hasDeveloper && !traits.takesDeveloper) ||
    (facts.hasCalls && traits.needsReasoning) ||
    (facts.hasParts && traits.refusesCacheMarks) ||
    (traits.refusedFields.size > 0 && COMMON_MEMBERS.some((name) => traits.refusedFields.has(name)))
  );
}

/** Returns whether a scanned message contains anything that a host does not accept. Reads only names. */
export function needsFit(text: string, message: ChatMessage, traits: ChatTraits): boolean {
  const { role, content, tool_calls: calls } = message.fields;
  if (!traits.takesDeveloper && isWord(text, role, "developer")) return true;
  if (traits.namedRoles !== null && isMisnamed(text, message, traits.namedRoles)) return true;
  for (const { key } of message.members ?? [])
    if (traits.refusedFields.has(key) || isOtherSpelling(key, traits)) return true;
  if (traits.needsReasoning && isWord(text, role, "assistant") && (calls?.items?.length ?? 0) > 0)
    return memberOf(message, traits.reasoningField ?? "reasoning_content")?.kind !== "string";
  return traits.refusesCacheMarks && content?.items?.some(isMarked) === true;
}

function isMisnamed(
  text: string,
  { fields: { name, role } }: ChatMessage,
  namedRoles: ReadonlySet<string>,
): boolean {
  if (name === undefined) return false;
  for (const named of namedRoles) if (isWord(text, role, named)) return false;
  return true;
}

/** A scanned request. `text` is the body, bytes as Latin-1. */
interface ScannedMessages {
  readonly text: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  readonly facts: MessageFacts;
}

/** Returns warnings about fields of a scanned body's messages and tools that a host does not accept. */
export function listMessageLosses(scanned: ScannedMessages, traits: ChatTraits): readonly Warning[] {
  const { text, messages, tools, facts } = scanned;
  const { refusedFields, refusesCacheMarks, namedRoles } = traits;
  if (refusedFields.size === 0 && !refusesCacheMarks && namedRoles === null) return NO_WARNINGS;
  const marksTools = refusesCacheMarks && tools.some(isMarked);
  // Most messages lose nothing, and lists of their fields cost memory.
  const mayLose = mayNeedFit(facts, traits) && messages.some((message) => needsFit(text, message, traits));
  if (!marksTools && !mayLose) return NO_WARNINGS;
  const hasMarks = marksTools || messages.some(({ fields }) => fields.content?.items?.some(isMarked));
  return nameLosses(
    messages.map(({ members }) => (members ?? []).map(({ key }) => key)),
    hasMarks,
    namedRoles === null ? -1 : messages.findIndex((message) => isMisnamed(text, message, namedRoles)),
    traits,
  );
}

/** Whether a scanned part or tool has a cache mark. */
function isMarked(node: JsonNode): boolean {
  return memberOf(node, "cache_control") !== undefined;
}

const NO_WARNINGS: readonly Warning[] = [];
