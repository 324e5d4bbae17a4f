import { isWord, type JsonNode, memberOf } from "../../json/scan.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/**
 * The texts that were said to the model, in their order: contents, and texts among their parts. Not its own words, which
 * some formats trim, nor its calls, which some parse.
 */
export function listTexts({ text, root, outline }: ScannedChatRequest): JsonNode[] {
  const texts: JsonNode[] = [];
  const messages = memberOf(root, "messages")?.items ?? [];
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
