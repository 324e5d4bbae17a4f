import { isWord, type JsonNode } from "../../../base/json/scan.ts";
import { readRole } from "./role.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/**
 * Lists the texts that were sent to the model, in order: contents, and the texts among their parts. The model's own texts are left
 * out because some formats trim them, and calls because some formats parse them.
 */
export function listTexts({ text, messages }: ScannedChatRequest): JsonNode[] {
  const texts: JsonNode[] = [];
  for (const message of messages) {
    if (readRole(text, message) === "assistant") continue;
    const content = message.fields.content;
    if (content?.kind === "string") texts.push(content);
    for (const part of content?.items ?? []) {
      const node = part.fields.text;
      if (node !== undefined && isWord(text, part.fields.type, "text")) texts.push(node);
    }
  }
  return texts;
}
