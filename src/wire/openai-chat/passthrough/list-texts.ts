import { isWord, itemsOf, type JsonNode, memberOf } from "../../json/scan.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/**
 * Lists the texts that were sent to the model, in order: contents, and the texts among their parts. The model's own texts are left
 * out because some formats trim them, and calls because some formats parse them.
 */
export function listTexts({ text, root, outline }: ScannedChatRequest): JsonNode[] {
  const texts: JsonNode[] = [];
  const messages = itemsOf(root, "messages");
  for (let at = 0; at < messages.length; at++) {
    if (outline[at]?.kind === "assistant") continue;
    const message = messages[at];
    const content = memberOf(message, "content");
    if (content?.kind === "string") texts.push(content);
    for (const part of content?.items ?? []) {
      const node = memberOf(part, "text");
      if (node !== undefined && isWord(text, memberOf(part, "type"), "text")) texts.push(node);
    }
  }
  return texts;
}
