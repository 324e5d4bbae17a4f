import { TRAITS as anthropicMessages } from "../anthropic-messages/traits.ts";
import { TRAITS as bedrockConverse } from "../bedrock-converse/traits.ts";
import { TRAITS as cohereChat } from "../cohere-chat/traits.ts";
import type { ToolCallIdFormat, ToolCallRules } from "../conversation/calls/outline.ts";
import type { ProviderFormat } from "../conversation/traits/format-name.ts";
import type { FormatTraits } from "../conversation/traits/format-traits.ts";
import { TRAITS as gemini } from "../gemini/traits.ts";
import { TRAITS as openaiChat } from "../openai-chat/traits.ts";
import { TRAITS as openaiCompletions } from "../openai-completions/traits.ts";
import { TRAITS as openaiResponses } from "../openai-responses/traits.ts";

/** The traits of each format. */
export const FORMAT_TRAITS: Readonly<Record<ProviderFormat, FormatTraits>> = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  "anthropic-messages": anthropicMessages,
  gemini,
  "bedrock-converse": bedrockConverse,
  "cohere-chat": cohereChat,
  "openai-completions": openaiCompletions,
};

/** The format of hosts of which nothing else is said, in whose names the catalog lists parameters. */
export const CHAT_FORMAT: ProviderFormat = openaiChat.name;

/** Returns the tool-call rules of a target with this format. `ids` is the id format of its provider, used where the format allows several. */
export function toolCallRulesOf(format: ProviderFormat, ids: ToolCallIdFormat): ToolCallRules {
  return { ids, ...FORMAT_TRAITS[format].tools.calls };
}
