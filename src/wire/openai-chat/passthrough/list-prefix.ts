import { addMember, addTexts } from "../../json/collect-nodes.ts";
import { itemsOf, type JsonNode, memberOf } from "../../json/scan.ts";
import { readRole } from "./role.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** Lists what requests of one kind share: the tools, and the instructions before the first other message. */
export function listChatShared({ text, root }: ScannedChatRequest): JsonNode[] {
  const shared: JsonNode[] = [];
  addMember(shared, root, "tools");
  for (const message of itemsOf(root, "messages")) {
    const role = readRole(text, message);
    if (role !== "system" && role !== "developer") break;
    addTexts(shared, memberOf(message, "content"));
  }
  return shared;
}

/**
 * Lists what stays the same from turn to turn, in order: the tools, the messages before the first user message, and that user
 * message. Texts only, because cache marks move from message to message and turn a plain text into a list.
 */
export function listChatPrefix({ text, root }: ScannedChatRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of itemsOf(root, "tools")) {
    const fn = memberOf(tool, "function");
    addMember(prefix, fn, "name");
    addMember(prefix, fn, "description");
  }
  for (const message of itemsOf(root, "messages")) {
    const role = readRole(text, message);
    if (role === "assistant" || role === "tool") continue;
    addMember(prefix, message, "role");
    addTexts(prefix, memberOf(message, "content"));
    if (role === "user") break;
  }
  return prefix;
}
