import { isWord, itemsOf, type JsonNode, memberOf, NO_NODES } from "../../../base/json/scan.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/**
 * Lists the texts that were sent to the model, in order: those of the system prompt and of users, and of tool results. The model's own
 * texts are left out because some formats trim them.
 */
export function listTexts({ text, root }: ScannedMessagesRequest): JsonNode[] {
  const texts: JsonNode[] = [];
  const addContent = (content: JsonNode | undefined): void => {
    if (content?.kind === "string") texts.push(content);
    for (const block of content?.items ?? NO_NODES) addBlock(block);
  };
  const addBlock = (block: JsonNode): void => {
    const type = memberOf(block, "type");
    if (isWord(text, type, "tool_result")) addContent(memberOf(block, "content"));
    const node = isWord(text, type, "text") ? memberOf(block, "text") : undefined;
    if (node !== undefined) texts.push(node);
  };
  addContent(memberOf(root, "system"));
  for (const message of itemsOf(root, "messages"))
    if (!isWord(text, memberOf(message, "role"), "assistant")) addContent(memberOf(message, "content"));
  // Clients send the system prompt before or after the messages.
  return texts.sort((a, b) => a.start - b.start);
}
