import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";

/** The client APIs for conversations. */
export const CLIENTS = ["chat", "responses", "messages"] as const;
export type Client = (typeof CLIENTS)[number];

/** The upstream formats, in the order of the table. */
export const FORMATS = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "bedrock-converse",
  "cohere-chat",
] as const satisfies readonly FormatName[];

/** The format of each client API. */
export const FORMAT_OF: Readonly<Record<Client, FormatName>> = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic-messages",
};
