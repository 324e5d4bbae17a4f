import type { ChatTraits } from "../canonical/model/chat-traits.ts";
import type { Warning } from "../conversation/warning.ts";
import { asFields, asList, asText, type Fields, type MutableFields, setField } from "../json/fields.ts";
import { isWord, type JsonNode, memberOf } from "../json/scan.ts";
import type { ChatMessage, ChatTool } from "./passthrough/request-shape.ts";

/** That of OpenAI, from which nothing of a message has to be changed. */
export const OPENAI_TRAITS: ChatTraits = {
  takesDeveloper: true,
  refusedFields: new Set(),
  reasoningField: null,
  needsReasoning: false,
  refusesCacheMarks: false,
  marksPrefill: false,
  namedRoles: null,
};

/** What hosts accept as reasoning where there was none; they reject an empty text. */
const NO_REASONING = " ";
const CACHE_MARK = "cache_control";
const NAME = "name";

/** What the messages of a request have that some host may not take. */
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
const COMMON_MEMBERS: ReadonlySet<string> = new Set(["role", "content", "tool_calls", "tool_call_id"]);

/** Whether any message may have something that a host does not take; if not, none has to be looked at. */
export function mayNeedFit(facts: MessageFacts, traits: ChatTraits): boolean {
  return (
    facts.hasOthers ||
    (facts.hasDeveloper && !traits.takesDeveloper) ||
    (facts.hasCalls && traits.needsReasoning) ||
    (facts.hasParts && traits.refusesCacheMarks) ||
    (traits.refusedFields.size > 0 && !traits.refusedFields.isDisjointFrom(COMMON_MEMBERS))
  );
}

/** Whether a scanned message has anything that a host does not take. Reads only names. */
export function mustFit(text: string, message: ChatMessage, traits: ChatTraits): boolean {
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

function isOtherSpelling(field: string, { reasoningField }: ChatTraits): boolean {
  return reasoningField === "reasoning"
    ? field === "reasoning_content"
    : reasoningField === "reasoning_content" && field === "reasoning";
}

/** Whether a scanned part or tool has a cache mark. */
function isMarked(node: JsonNode): boolean {
  return memberOf(node, CACHE_MARK) !== undefined;
}

/** Returns a message as a host takes it. */
export function fitMessage(message: Fields, traits: ChatTraits): Fields {
  const fitted: MutableFields = {};
  for (const [field, value] of Object.entries(message)) {
    if (traits.refusedFields.has(field) || isOtherSpelling(field, traits)) continue;
    if (field === NAME && traits.namedRoles?.has(String(message["role"])) === false) continue;
    setField(fitted, field, traits.refusesCacheMarks && field === "content" ? withoutMarks(value) : value);
  }
  if (!traits.takesDeveloper && fitted["role"] === "developer") fitted["role"] = "system";
  return fitted["role"] === "assistant" ? { ...fitted, ...reasoningOf(message, traits) } : fitted;
}

/** Returns the reasoning of an answer in the field that the host reads; nothing where it has none and needs none. */
function reasoningOf(message: Fields, { reasoningField, needsReasoning }: ChatTraits): Fields {
  if (reasoningField === null || typeof message[reasoningField] === "string") return {};
  const given = asText(message["reasoning_content"]) ?? asText(message["reasoning"]);
  if (given !== null) return { [reasoningField]: given };
  return needsReasoning && asList(message["tool_calls"]).length > 0 ? { [reasoningField]: NO_REASONING } : {};
}

function withoutMarks(content: unknown): unknown {
  return Array.isArray(content) ? content.map(withoutMark) : content;
}

function withoutMark(part: unknown): unknown {
  const { [CACHE_MARK]: _, ...rest } = asFields(part) ?? {};
  return asFields(part) === null ? part : rest;
}

/** Returns the messages and tools of an encoded body as a host takes them, and warnings about what they lost. */
export function fitChatBody(
  body: Fields,
  traits: ChatTraits,
): { readonly body: Fields; readonly warnings: readonly Warning[] } {
  const { messages, tools } = body;
  if (!Array.isArray(messages)) return { body, warnings: [] };
  const given = messages.map((message) => asFields(message) ?? {});
  const fitted = given.map((message) => fitMessage(message, traits));
  const marked = (list: unknown) => asList(list).some((one) => asFields(one)?.[CACHE_MARK] !== undefined);
  return {
    body: {
      ...body,
      messages: traits.marksPrefill ? markPrefill(fitted.map(placeSystem)) : fitted,
      ...(traits.refusesCacheMarks && Array.isArray(tools) ? { tools: tools.map(withoutMark) } : {}),
    },
    warnings: nameLosses(
      given.map((message) => Object.keys(message)),
      marked(tools) || given.some(({ content }) => marked(content)),
      given.findIndex(
        ({ role, name }) => name !== undefined && traits.namedRoles?.has(String(role)) === false,
      ),
      traits,
    ),
  };
}

/** A scanned request. `text` is the body, bytes as Latin-1. */
interface ScannedMessages {
  readonly text: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  readonly facts: MessageFacts;
}

/** Returns warnings about what a host does not take of the messages and tools of a scanned body. */
export function listMessageLosses(scanned: ScannedMessages, traits: ChatTraits): readonly Warning[] {
  const { text, messages, tools, facts } = scanned;
  const { refusedFields, refusesCacheMarks, namedRoles } = traits;
  if (refusedFields.size === 0 && !refusesCacheMarks && namedRoles === null) return NO_WARNINGS;
  const marksTools = refusesCacheMarks && tools.some(isMarked);
  // Most messages lose nothing, and lists of their fields cost memory.
  const mayLose = mayNeedFit(facts, traits) && messages.some((message) => mustFit(text, message, traits));
  if (!marksTools && !mayLose) return NO_WARNINGS;
  const hasMarks = marksTools || messages.some(({ fields }) => fields.content?.items?.some(isMarked));
  return nameLosses(
    messages.map(({ members }) => (members ?? []).map(({ key }) => key)),
    hasMarks,
    namedRoles === null ? -1 : messages.findIndex((message) => isMisnamed(text, message, namedRoles)),
    traits,
  );
}

/** Returns the text that an answer repeats: that of a last message of the assistant; null where there is none. */
export function prefillOf(body: Fields, { marksPrefill }: ChatTraits): string | null {
  const last = marksPrefill ? asFields(asList(body["messages"]).at(-1)) : null;
  return last?.["prefix"] === true ? asText(last["content"]) : null;
}

function markPrefill(messages: readonly Fields[]): readonly Fields[] {
  const last = messages.at(-1);
  if (last?.["role"] !== "assistant" || last["tool_calls"] !== undefined) return messages;
  return messages.with(-1, { ...last, prefix: true });
}

/** Sends a system message behind an answer or a result as a user's, marked as the other formats mark it. */
function placeSystem(message: Fields, at: number, messages: readonly Fields[]): Fields {
  const before = messages[at - 1]?.["role"];
  if (message["role"] !== "system" || (before !== "assistant" && before !== "tool")) return message;
  const { content } = message;
  const marked = (text: unknown) => `<system>\n${String(text)}\n</system>`;
  return {
    ...message,
    role: "user",
    content: Array.isArray(content)
      ? content.map((part) => ({ ...part, text: marked(asFields(part)?.["text"] ?? "") }))
      : marked(content),
  };
}

const NO_WARNINGS: readonly Warning[] = [];

/** Names each field once, with its first place. Reasoning is no loss: it is sent in the field that the host reads. */
function nameLosses(
  fieldsOf: readonly (readonly string[])[],
  hasMarks: boolean,
  misnamed: number,
  { refusedFields, refusesCacheMarks }: ChatTraits,
): readonly Warning[] {
  const warnings: Warning[] = [];
  for (const field of refusedFields) {
    const at = REASONING.has(field) ? -1 : fieldsOf.findIndex((fields) => fields.includes(field));
    if (at >= 0) warnings.push({ field: `messages[${at}].${field}`, message: NOT_TAKEN });
  }
  if (misnamed >= 0) warnings.push({ field: `messages[${misnamed}].${NAME}`, message: NOT_TAKEN });
  if (hasMarks && refusesCacheMarks) warnings.push({ field: CACHE_MARK, message: NOT_TAKEN });
  return warnings;
}

const REASONING: ReadonlySet<string> = new Set(["reasoning", "reasoning_content", "reasoning_details"]);
const NOT_TAKEN = "The provider does not support it; it was left out.";
