import type { FormatName } from "./format-name.ts";
import type { ToolCallIdFamily, ToolCallRules } from "./outline.ts";

type FormatRules = Omit<ToolCallRules, "ids"> & Partial<Pick<ToolCallRules, "ids">>;

/**
 * What the formats demand of tool calls.
 *
 * - Chat hosts and Cohere refuse anything between a message with calls and its results.
 * - Anthropic, Bedrock and Gemini take neighbouring assistant messages as one turn, which has to end in its calls.
 *   Anthropic refuses an id that stands on two calls of a conversation.
 * - Responses pairs by id wherever the items stand, so an id can name only one call.
 */
const RULES: Readonly<Record<FormatName, FormatRules>> = {
  "openai-chat": { results: "behind-message", hasUniqueIds: false },
  "cohere-chat": { results: "behind-message", hasUniqueIds: false },
  "anthropic-messages": { results: "behind-turn", hasUniqueIds: true, ids: "anthropic" },
  "bedrock-converse": { results: "behind-turn", hasUniqueIds: true, ids: "anthropic" },
  gemini: { results: "behind-turn", hasUniqueIds: false },
  "openai-responses": { results: "anywhere", hasUniqueIds: true },
};

/** Returns the rules of a target with this format. `ids` is the family of its provider, used where the format allows several. */
export function toolCallRulesOf(format: FormatName, ids: ToolCallIdFamily): ToolCallRules {
  return { ids, ...RULES[format] };
}
