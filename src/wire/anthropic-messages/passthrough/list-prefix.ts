import { contentTexts, membersOf } from "../../json/content-texts.ts";
import { isWord, type JsonNode, memberOf } from "../../json/scan.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** Claude Code's first line of `system`: a checksum in it changes with every request. */
const BOOKKEEPING = '"x-anthropic-billing-header:';

/**
 * What stays the same from turn to turn, in order: the tools, what the model is told, and what the first user says. Texts
 * only: marks of what to cache move from message to message, and turn a plain text into a list.
 */
export function listMessagesPrefix({ text, root }: ScannedMessagesRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of memberOf(root, "tools")?.items ?? []) {
    prefix.push(...membersOf(tool, "name", "description"));
  }
  for (const block of contentTexts(memberOf(root, "system"))) {
    if (!text.startsWith(BOOKKEEPING, block.start)) prefix.push(block);
  }
  for (const message of memberOf(root, "messages")?.items ?? []) {
    const role = memberOf(message, "role");
    if (isWord(text, role, "assistant")) continue;
    prefix.push(...membersOf(message, "role"));
    for (const said of contentTexts(memberOf(message, "content"))) prefix.push(said);
    if (isWord(text, role, "user")) break;
  }
  return prefix;
}
