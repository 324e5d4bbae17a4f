/** The formats between which requests and answers are translated; each is a folder of `wire`. */
export const FORMAT_NAMES = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "bedrock-converse",
  "cohere-chat",
] as const;

export type FormatName = (typeof FORMAT_NAMES)[number];
