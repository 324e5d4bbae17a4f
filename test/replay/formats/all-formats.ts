import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import type { WireReader } from "../conversation.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { bedrockConverse } from "./bedrock-converse.ts";
import { cohereChat } from "./cohere-chat.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";

/** The reader of each wire format. */
export const READERS: Readonly<Record<FormatName, WireReader>> = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  "anthropic-messages": anthropicMessages,
  gemini,
  "bedrock-converse": bedrockConverse,
  "cohere-chat": cohereChat,
};
