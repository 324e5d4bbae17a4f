import { contentTexts, membersOf } from "../../json/content-texts.ts";
import { isWord, type JsonNode, memberOf } from "../../json/scan.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** The first line of Claude Code's `system`. Its checksum changes with every request. */
const BILLING_HEADER = '"x-anthropic-billing-header:';

/**
 * Lists the texts that stay the same from turn to turn, in order: the tools, the system prompt, and the first user message. Only
 * texts, because cache marks move from message to message and turn plain strings into lists.
 */
export function listMessagesPrefix({ text, root }: ScannedMessagesRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of memberOf(root, "tools")?.items ?? []) {
    prefix.push(...membersOf(tool, "name", "description"));
  }
  for (const block of contentTexts(memberOf(root, "system"))) {
    if (!text.startsWith(BILLING_HEADER, block.start)) prefix.push(block);
  }
  for (const message of memberOf(root, "messages")?.items ?? []) {
    const role = memberOf(message, "role");
    if (isWord(text, role, "assistant")) continue;
    prefix.push(...membersOf(message, "role"));
    for (const node of contentTexts(memberOf(message, "content"))) prefix.push(node);
    if (isWord(text, role, "user")) break;
  }
  return prefix;
}
