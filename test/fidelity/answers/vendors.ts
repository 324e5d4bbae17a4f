import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import type { VendorSayings } from "./vendor.ts";
import { ANTHROPIC_MESSAGES } from "./vendors/anthropic-messages.ts";
import { BEDROCK_CONVERSE } from "./vendors/bedrock-converse.ts";
import { COHERE_CHAT } from "./vendors/cohere-chat.ts";
import { GEMINI } from "./vendors/gemini.ts";
import { OPENAI_CHAT } from "./vendors/openai-chat.ts";
import { OPENAI_RESPONSES } from "./vendors/openai-responses.ts";

/** The answers of the vendor of each format. */
export const VENDORS: Readonly<Record<FormatName, VendorSayings>> = {
  "openai-chat": OPENAI_CHAT,
  "openai-responses": OPENAI_RESPONSES,
  "anthropic-messages": ANTHROPIC_MESSAGES,
  gemini: GEMINI,
  "bedrock-converse": BEDROCK_CONVERSE,
  "cohere-chat": COHERE_CHAT,
};
