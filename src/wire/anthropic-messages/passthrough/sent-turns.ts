import {
  isWord,
  itemsOf,
  type JsonNode,
  lookUp,
  memberOf,
  NO_NODES,
  wordTable,
} from "../../../base/json/scan.ts";
import {
  ConversationReader,
  isPlainText,
  readSentCalls,
  type SentConversation,
} from "../../conversation/sent-turns.ts";
import { isBillingHeader } from "./list-prefix.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

const REASONING_BLOCKS = wordTable({ thinking: true, redacted_thinking: true });
const CONTENT: ReadonlySet<string> = new Set(["content"]);

/** Reads the parts that identify a conversation (see `SentConversation`). */
export function readSentMessages({ bytes, text, root }: ScannedMessagesRequest): SentConversation {
  const reader = new ConversationReader(bytes);
  const system = memberOf(root, "system");
  reader.beginMessage(undefined);
  if (system?.kind === "string") reader.addText(system);
  for (const block of system?.items ?? NO_NODES)
    if (!isBillingHeader(text, block)) addBlock(reader, text, block);
  for (const message of itemsOf(root, "messages")) {
    const role = memberOf(message, "role");
    const content = memberOf(message, "content");
    const isOfModel = isWord(text, role, "assistant");
    const prefix = isOfModel ? reader.takePrefix() : "";
    reader.beginMessage(role);
    addContent(reader, text, content, isOfModel);
    if (isOfModel) reader.addTurn({ prefix, ...readTurn(text, content) });
  }
  return reader.end();
}

function addContent(
  reader: ConversationReader,
  text: string,
  content: JsonNode | undefined,
  isOfModel: boolean,
): void {
  if (content?.kind === "string") reader.addText(content);
  for (const block of content?.items ?? NO_NODES)
    if (!isOfModel || !lookUp(text, memberOf(block, "type"), REASONING_BLOCKS)) addBlock(reader, text, block);
}

function addBlock(reader: ConversationReader, text: string, block: JsonNode): void {
  const own = textOf(text, block);
  if (own !== undefined && isPlainText(block)) {
    reader.addText(own);
    return;
  }
  const content = memberOf(block, "content");
  if (content === undefined) {
    reader.addPart(block);
    return;
  }
  reader.beginPart();
  reader.addMembers(block, CONTENT);
  addContent(reader, text, content, false);
  reader.endPart();
}

function readTurn(text: string, content: JsonNode | undefined) {
  const texts: JsonNode[] = [];
  const calls: JsonNode[] = [];
  if (content?.kind === "string" && content.end - content.start > 2) texts.push(content);
  for (const block of content?.items ?? NO_NODES) {
    const own = textOf(text, block);
    if (own !== undefined && own.end - own.start > 2) texts.push(own);
    if (isWord(text, memberOf(block, "type"), "tool_use")) calls.push(block);
  }
  const nodesOf = (call: JsonNode) => ({
    id: memberOf(call, "id"),
    name: memberOf(call, "name"),
    args: memberOf(call, "input"),
  });
  return { texts, calls: readSentCalls(text, calls, nodesOf) };
}

function textOf(text: string, block: JsonNode): JsonNode | undefined {
  const own = isWord(text, memberOf(block, "type"), "text") ? memberOf(block, "text") : undefined;
  return own?.kind === "string" ? own : undefined;
}
