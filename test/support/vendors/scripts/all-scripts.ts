import type { FormatName } from "../../../../src/wire/conversation/traits/format-name.ts";
import { anthropicScript } from "./anthropic-script.ts";
import { bedrockScript } from "./bedrock-script.ts";
import { chatScript } from "./chat-script.ts";
import { cohereScript } from "./cohere-script.ts";
import { geminiScript } from "./gemini-script.ts";
import { responsesScript } from "./responses-script.ts";
import type { VendorScript } from "./vendor-script.ts";

/** The script of each upstream format. */
export const SCRIPTS: Readonly<Record<FormatName, VendorScript>> = {
  "openai-chat": chatScript,
  "openai-responses": responsesScript,
  "anthropic-messages": anthropicScript,
  gemini: geminiScript,
  "bedrock-converse": bedrockScript,
  "cohere-chat": cohereScript,
};
