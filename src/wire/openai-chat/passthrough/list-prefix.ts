import { contentTexts, membersOf } from "../../json/content-texts.ts";
import { type JsonNode, memberOf } from "../../json/scan.ts";
import { readRole } from "./role.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/**
 * Lists what stays the same from turn to turn, in order: the tools, the messages before the first user message, and that user
 * message. Texts only, because cache marks move from message to message and turn a plain text into a list.
 */
export function listChatPrefix({ text, root }: ScannedChatRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of memberOf(root, "tools")?.items ?? []) {
    prefix.push(...membersOf(memberOf(tool, "function"), "name", "description"));
  }
  for (const message of memberOf(root, "messages")?.items ?? []) {
    const role = readRole(text, message);
    if (role === "assistant" || role === "tool") continue;
    prefix.push(...membersOf(message, "role"));
    for (const node of contentTexts(memberOf(message, "content"))) prefix.push(node);
    if (role === "user") break;
  }
  return prefix;
}
