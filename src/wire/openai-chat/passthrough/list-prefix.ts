import { addPresent, addTexts } from "../../../base/json/collect-nodes.ts";
import type { JsonNode } from "../../../base/json/scan.ts";
import { readRole } from "./role.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** Lists the prefix that requests of one kind share: the tools, and the instructions before the first other message. */
export function listChatShared({ text, root, messages }: ScannedChatRequest): JsonNode[] {
  const shared: JsonNode[] = [];
  addPresent(shared, root.fields.tools);
  for (const message of messages) {
    const role = readRole(text, message);
    if (role !== "system" && role !== "developer") break;
    addTexts(shared, message.fields.content);
  }
  return shared;
}

/**
 * Lists the values that stay the same from turn to turn, in order: the tools, the messages before the first user message, and that user
 * message. Texts only, because cache marks move from message to message and turn a plain text into a list.
 */
export function listChatPrefix({ text, tools, messages }: ScannedChatRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of tools) {
    const fn = tool.fields.function?.fields;
    addPresent(prefix, fn?.name, fn?.description);
  }
  for (const message of messages) {
    const role = readRole(text, message);
    if (role === "assistant" || role === "tool") continue;
    addPresent(prefix, message.fields.role);
    addTexts(prefix, message.fields.content);
    if (role === "user") break;
  }
  return prefix;
}
