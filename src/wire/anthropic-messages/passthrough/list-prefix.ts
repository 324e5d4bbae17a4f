import { addPresent, addTexts } from "../../../base/json/collect-nodes.ts";
import { isWord, type JsonNode, memberOf } from "../../../base/json/scan.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** The first line of Claude Code's `system`. Its checksum changes with every request. */
const BILLING_HEADER = '"x-anthropic-billing-header:';

/**
 * Lists the texts that stay the same from turn to turn, in order: the tools, the system prompt, and the first user message. Only
 * texts, because cache marks move from message to message and turn plain strings into lists.
 */
export function listMessagesPrefix({ text, root, messages }: ScannedMessagesRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of root.fields.tools?.items ?? []) {
    addPresent(prefix, tool.fields.name, tool.fields.description);
  }
  const system: JsonNode[] = [];
  addTexts(system, root.fields.system);
  for (const node of system) if (!text.startsWith(BILLING_HEADER, node.start)) prefix.push(node);
  for (const message of messages) {
    const role = message.fields.role;
    if (isWord(text, role, "assistant")) continue;
    addPresent(prefix, role);
    addTexts(prefix, message.fields.content);
    if (isWord(text, role, "user")) break;
  }
  return prefix;
}

/** Lists the prefix that requests of one kind share: the tools and the system prompt, in their order in the prompt. */
export function listMessagesShared({ root }: ScannedMessagesRequest): JsonNode[] {
  const shared: JsonNode[] = [];
  addPresent(shared, root.fields.tools);
  addTexts(shared, root.fields.system);
  return shared;
}

/** Whether a block of `system` is the first line of Claude Code, which changes with every request. */
export function isBillingHeader(text: string, block: JsonNode): boolean {
  const own = memberOf(block, "text");
  return own !== undefined && text.startsWith(BILLING_HEADER, own.start);
}
