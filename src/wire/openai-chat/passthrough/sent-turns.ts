import { isWord, type JsonNode, lookUp, memberOf, wordTable } from "../../../base/json/scan.ts";
import {
  ConversationReader,
  isPlainText,
  readSentCalls,
  type SentConversation,
} from "../../conversation/sent-turns.ts";
import type { ChatCall, ChatMessage } from "./request-shape.ts";
import { readRole } from "./role.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** Members of a message that are read one by one. */
const READ: ReadonlySet<string> = new Set(["role", "content", "tool_calls"]);
/** The same for messages of the model, and what clients drop of them. */
const READ_OF_MODEL: ReadonlySet<string> = READ.union(
  new Set(["reasoning", "reasoning_content", "reasoning_details"]),
);
const REASONING_PARTS = wordTable({ thinking: true, redacted_thinking: true, reasoning: true });

/** Reads the parts that identify a conversation (see `SentConversation`). */
export function readSentChat({ bytes, text, messages }: ScannedChatRequest): SentConversation {
  const reader = new ConversationReader(bytes);
  for (const message of messages) {
    const isOfModel = readRole(text, message) === "assistant";
    const prefix = isOfModel ? reader.takePrefix() : "";
    reader.beginMessage(message.fields.role);
    const texts = readContent(reader, text, message.fields.content, isOfModel);
    const calls = message.fields.tool_calls?.items ?? [];
    for (const call of calls) addCall(reader, call);
    reader.addMembers(message, isOfModel ? READ_OF_MODEL : READ);
    if (isOfModel)
      reader.addTurn({
        prefix,
        texts,
        calls: readSentCalls(text, calls, (call) => ({ id: call.fields.id, ...readFunction(call) })),
      });
  }
  return reader.end();
}

/** Reads a content, and returns the positions of its texts. */
function readContent(
  reader: ConversationReader,
  text: string,
  content: ChatMessage["fields"]["content"],
  isOfModel: boolean,
): readonly JsonNode[] {
  if (content?.kind === "string") {
    reader.addText(content);
    return isFilledText(content) ? [content] : [];
  }
  const texts: JsonNode[] = [];
  for (const part of content?.items ?? []) {
    const type = part.fields.type;
    if (isOfModel && lookUp(text, type, REASONING_PARTS)) continue;
    const own = isWord(text, type, "text") ? part.fields.text : undefined;
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
function readFunction({ fields: { function: fn, custom } }: ChatCall) {
  if (fn !== undefined) return { name: fn.fields.name, args: fn.fields.arguments ?? memberOf(fn, "input") };
  return { name: custom?.fields.name, args: memberOf(custom, "arguments") ?? custom?.fields.input };
}

function addCall(reader: ConversationReader, call: ChatCall): void {
  const { name, args } = readFunction(call);
  if (name === undefined) reader.addPart(call);
  else reader.addCall([call.fields.id, name, args]);
}
