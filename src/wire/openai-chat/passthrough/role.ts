import { type JsonNode, lookUp, memberOf, wordTable } from "../../json/scan.ts";

/** Who may speak in a conversation (specification 2.2; `developer` is OpenAI's newer word for `system`). */
export type Role = "system" | "developer" | "user" | "assistant" | "tool";

const ROLES = wordTable<Role>({
  system: "system",
  developer: "developer",
  user: "user",
  assistant: "assistant",
  tool: "tool",
});

/** A message's role; undefined for anything else. */
export function readRole(text: string, message: JsonNode): Role | undefined {
  return lookUp(text, memberOf(message, "role"), ROLES);
}
