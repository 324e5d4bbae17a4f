import { anthropicMessages } from "../anthropic-messages/translate/codec.ts";
import { bedrockConverse } from "../bedrock-converse/codec.ts";
import type { UpstreamCodec } from "../canonical/format.ts";
import { cohereChat } from "../cohere-chat/codec.ts";
import type { FormatName } from "../conversation/format-name.ts";
import { gemini } from "../gemini/codec.ts";
import { openaiChat } from "../openai-chat/translate/codec.ts";
import { openaiResponses } from "../openai-responses/translate/codec.ts";

/** The codec of each upstream format. */
export const UPSTREAM_CODECS: Readonly<Record<FormatName, UpstreamCodec>> = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  "anthropic-messages": anthropicMessages,
  gemini,
  "bedrock-converse": bedrockConverse,
  "cohere-chat": cohereChat,
};
