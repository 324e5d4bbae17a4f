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

/** The formats of providers: those of conversations, and OpenAI's text completions, whose requests have prompts and no messages. */
export const PROVIDER_FORMATS = [...FORMAT_NAMES, "openai-completions"] as const;

export type ProviderFormat = (typeof PROVIDER_FORMATS)[number];

/** Whether conversations can be sent in a format. */
export function isConversationFormat(format: ProviderFormat): format is FormatName {
  return format !== "openai-completions";
}

/** Returns the format of a target that a conversation is translated for. @throws Error for one that conversations cannot be sent in. */
export function conversationFormatOf({ format }: { readonly format: ProviderFormat }): FormatName {
  if (!isConversationFormat(format)) throw new Error(`no conversation is translated to ${format}`);
  return format;
}
