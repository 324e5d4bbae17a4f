import { addMember, addTexts } from "../../json/collect-nodes.ts";
import { isWord, itemsOf, type JsonNode, memberOf } from "../../json/scan.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** The first line of Claude Code's `system`. Its checksum changes with every request. */
const BILLING_HEADER = '"x-anthropic-billing-header:';

/**
 * Lists the texts that stay the same from turn to turn, in order: the tools, the system prompt, and the first user message. Only
 * texts, because cache marks move from message to message and turn plain strings into lists.
 */
export function listMessagesPrefix({ text, root }: ScannedMessagesRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of itemsOf(root, "tools")) {
    addMember(prefix, tool, "name");
    addMember(prefix, tool, "description");
  }
  const system: JsonNode[] = [];
  addTexts(system, memberOf(root, "system"));
  for (const node of system) if (!text.startsWith(BILLING_HEADER, node.start)) prefix.push(node);
  for (const message of itemsOf(root, "messages")) {
    const role = memberOf(message, "role");
    if (isWord(text, role, "assistant")) continue;
    addMember(prefix, message, "role");
    addTexts(prefix, memberOf(message, "content"));
    if (isWord(text, role, "user")) break;
  }
  return prefix;
}

/** Lists what requests of one kind share: the tools and the system prompt, in their order in the prompt. */
export function listMessagesShared({ root }: ScannedMessagesRequest): JsonNode[] {
  const shared: JsonNode[] = [];
  addMember(shared, root, "tools");
  addTexts(shared, memberOf(root, "system"));
  return shared;
}

/** Whether a block of `system` is the first line of Claude Code, which changes with every request. */
export function isBillingHeader(text: string, block: JsonNode): boolean {
  const own = memberOf(block, "text");
  return own !== undefined && text.startsWith(BILLING_HEADER, own.start);
}
