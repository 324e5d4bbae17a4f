import type { FormatName } from "../../../../src/wire/conversation/traits/format-name.ts";

/** Token usage as vendors of each format report it. */
export const USAGE_OF: Readonly<Record<FormatName, (prompt: number, completion: number) => object>> = {
  "openai-chat": (prompt_tokens, completion_tokens) => ({ prompt_tokens, completion_tokens }),
  "openai-responses": (input_tokens, output_tokens) => ({ input_tokens, output_tokens }),
  "anthropic-messages": (input_tokens, output_tokens) => ({ input_tokens, output_tokens }),
  gemini: (promptTokenCount, candidatesTokenCount) => ({ promptTokenCount, candidatesTokenCount }),
  "bedrock-converse": (inputTokens, outputTokens) => ({ inputTokens, outputTokens }),
  "cohere-chat": (input_tokens, output_tokens) => ({ billed_units: { input_tokens, output_tokens } }),
};
