import { bedrockConverse } from "../bedrock-converse/codec.ts";
import type { UpstreamCodec } from "../canonical/format.ts";
import type { FormatName } from "../canonical/parts.ts";
import { cohereChat } from "../cohere-chat/codec.ts";
import { gemini } from "../gemini/codec.ts";
import { openaiChat } from "../openai-chat/codec.ts";

/** Every format that upstreams are spoken to in. */
export const UPSTREAM_CODECS: Readonly<Partial<Record<FormatName, UpstreamCodec>>> = {
  "openai-chat": openaiChat,
  gemini,
  "bedrock-converse": bedrockConverse,
  "cohere-chat": cohereChat,
};
