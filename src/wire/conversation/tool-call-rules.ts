import { type FormatName, isConversationFormat, type ProviderFormat } from "./format-name.ts";
import type { ToolCallIdFormat, ToolCallRules } from "./outline.ts";

type FormatRules = Omit<ToolCallRules, "ids"> & Partial<Pick<ToolCallRules, "ids">>;

/**
 * The tool-call rules of the formats.
 *
 * - Chat hosts and Cohere reject anything between a message with calls and its results.
 * - Anthropic, Bedrock and Gemini treat adjacent assistant messages as one turn, which must end with its calls. Anthropic rejects two
 *   calls of a conversation with the same id.
 * - Responses pairs calls and results by id at any position, so ids must be unique.
 */
const RULES: Readonly<Record<FormatName, FormatRules>> = {
  "openai-chat": { results: "after-message", hasUniqueIds: false },
  "cohere-chat": { results: "after-message", hasUniqueIds: false },
  "anthropic-messages": { results: "after-turn", hasUniqueIds: true, ids: "anthropic" },
  "bedrock-converse": { results: "after-turn", hasUniqueIds: true, ids: "anthropic" },
  gemini: { results: "after-turn", hasUniqueIds: false },
  "openai-responses": { results: "anywhere", hasUniqueIds: true },
};

const NO_TOOLS: FormatRules = { results: "anywhere", hasUniqueIds: false };

/** Returns the rules of a target with this format. `ids` is the id format of its provider, used where the format allows several. */
export function toolCallRulesOf(format: ProviderFormat, ids: ToolCallIdFormat): ToolCallRules {
  return { ids, ...(isConversationFormat(format) ? RULES[format] : NO_TOOLS) };
}
