import {
  ConversationReader,
  isPlainText,
  readSentCalls,
  type SentConversation,
} from "../../conversation/sent-turns.ts";
import { isWord, itemsOf, type JsonNode, lookUp, memberOf, NO_NODES, wordTable } from "../../json/scan.ts";
import { readRole } from "./role.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** Members of a message that are read one by one. */
const READ: ReadonlySet<string> = new Set(["role", "content", "tool_calls"]);
/** The same for messages of the model, and what clients drop of them. */
const READ_OF_MODEL: ReadonlySet<string> = READ.union(
  new Set(["reasoning", "reasoning_content", "reasoning_details"]),
);
const REASONING_PARTS = wordTable({ thinking: true, redacted_thinking: true, reasoning: true });

/** Reads what tells a conversation from others (see `SentConversation`). */
export function readSentChat({ bytes, text, root }: ScannedChatRequest): SentConversation {
  const reader = new ConversationReader(bytes);
  for (const message of itemsOf(root, "messages")) {
    const isOfModel = readRole(text, message) === "assistant";
    const prefix = isOfModel ? reader.takePrefix() : "";
    reader.beginMessage(memberOf(message, "role"));
    const texts = readContent(reader, text, memberOf(message, "content"), isOfModel);
    const calls = itemsOf(message, "tool_calls");
    for (const call of calls) addCall(reader, call);
    reader.addMembers(message, isOfModel ? READ_OF_MODEL : READ);
    if (isOfModel)
      reader.addTurn({
        prefix,
        texts,
        calls: readSentCalls(text, calls, (call) => ({ id: memberOf(call, "id"), ...readFunction(call) })),
      });
  }
  return reader.end();
}

/** Reads a content, and returns the positions of its texts. */
function readContent(
  reader: ConversationReader,
  text: string,
  content: JsonNode | undefined,
  isOfModel: boolean,
): readonly JsonNode[] {
  if (content?.kind === "string") {
    reader.addText(content);
    return isFilledText(content) ? [content] : NO_NODES;
  }
  const texts: JsonNode[] = [];
  for (const part of content?.items ?? NO_NODES) {
    const type = memberOf(part, "type");
    if (isOfModel && lookUp(text, type, REASONING_PARTS)) continue;
    const own = isWord(text, type, "text") ? memberOf(part, "text") : undefined;
    if (own !== undefined && isPlainText(part)) reader.addText(own);
    else reader.addPart(part);
    if (own !== undefined && isFilledText(own)) texts.push(own);
  }
  return texts;
}

function isFilledText({ kind, start, end }: JsonNode): boolean {
  return kind === "string" && end - start > 2;
}

/** The name and the arguments of a call. */
function readFunction(call: JsonNode) {
  const fn = memberOf(call, "function") ?? memberOf(call, "custom");
  return { name: memberOf(fn, "name"), args: memberOf(fn, "arguments") ?? memberOf(fn, "input") };
}

function addCall(reader: ConversationReader, call: JsonNode): void {
  const { name, args } = readFunction(call);
  if (name === undefined) reader.addPart(call);
  else reader.addCall([memberOf(call, "id"), name, args]);
}
