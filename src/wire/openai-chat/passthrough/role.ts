import { lookUp, wordTable } from "../../../base/json/scan.ts";
import type { ChatMessage } from "./request-shape.ts";

/** The roles of a conversation. `developer` is OpenAI's newer name for `system`. */
export type ChatRole = "system" | "developer" | "user" | "assistant" | "tool";

const ROLES = wordTable<ChatRole>({
  system: "system",
  developer: "developer",
  user: "user",
  assistant: "assistant",
  tool: "tool",
});

/** Returns a message's role; undefined for anything else. */
export function readRole(text: string, message: ChatMessage): ChatRole | undefined {
  return lookUp(text, message.fields.role, ROLES);
}
