import {
  asFields,
  asList,
  asText,
  type Fields,
  type MutableFields,
  setField,
} from "../../base/json/fields.ts";
import type { ChatTraits } from "../canonical/model/chat-traits.ts";
import type { Warning } from "../conversation/warning.ts";

/** The traits of OpenAI, whose messages need no change. */
export const OPENAI_TRAITS: ChatTraits = {
  takesDeveloper: true,
  refusedFields: new Set(),
  reasoningField: null,
  needsReasoning: false,
  refusesCacheMarks: false,
  marksPrefill: false,
  namedRoles: null,
};

/** The reasoning of a message without any. Hosts that require the field reject an empty text. */
const NO_REASONING = " ";
const CACHE_MARK = "cache_control";
const NAME = "name";

/** Returns whether a field contains reasoning that the host reads from another field. */
export function isOtherSpelling(field: string, { reasoningField }: ChatTraits): boolean {
  return reasoningField === "reasoning"
    ? field === "reasoning_content"
    : reasoningField === "reasoning_content" && field === "reasoning";
}

/** Returns a message in the form that a host accepts. */
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

/** Returns the reasoning of an answer in the field that the host reads; no field if there is none and none is required. */
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

/** Returns an encoded body with messages and tools that a host accepts, and warnings about lost fields. */
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

/** Returns the prefill that the answer repeats: the text of a last message of the assistant; null if there is none. */
export function prefillOf(body: Fields, { marksPrefill }: ChatTraits): string | null {
  const last = marksPrefill ? asFields(asList(body["messages"]).at(-1)) : null;
  return last?.["prefix"] === true ? asText(last["content"]) : null;
}

function markPrefill(messages: readonly Fields[]): readonly Fields[] {
  const last = messages.at(-1);
  if (last?.["role"] !== "assistant" || last["tool_calls"] !== undefined) return messages;
  return messages.with(-1, { ...last, prefix: true });
}

/** Converts a system message after an answer or a result to a user message, marked as in the other formats. */
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

/** Names each field once, with its first place. Reasoning is no loss: it is sent in the field that the host reads. */
export function nameLosses(
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
