import { isWord, type JsonNode, lookUp, memberOf, stringViewOf, wordTable } from "../../../base/json/scan.ts";
import {
  ConversationReader,
  isPlainText,
  readSentCalls,
  type SentConversation,
} from "../../conversation/sent-turns.ts";
import type { ResponsesContent, ResponsesItem } from "../request-shape.ts";
import { kindOf, type ScannedResponsesRequest } from "./scan-request.ts";

const TEXTS = wordTable({ input_text: true, output_text: true, text: true });
/** Members of an item that are read one by one, or that belong to the answer that it was part of. */
const READ: ReadonlySet<string> = new Set(["id", "status", "encrypted_content", "content", "output"]);
/** Fields that refer to an earlier conversation that a vendor stores. */
const STORED_BEFORE = ["previous_response_id", "conversation", "prompt"] as const;

/** Neighbouring items of the model. */
interface Turn {
  readonly prefix: string;
  readonly texts: JsonNode[];
  readonly calls: ResponsesItem[];
}

/** Reads the parts that identify a conversation (see `SentConversation`). */
export function readSentItems({ bytes, text, root }: ScannedResponsesRequest): SentConversation {
  const reader = new ConversationReader(bytes);
  reader.beginMessage(undefined);
  for (const name of STORED_BEFORE) {
    const before = memberOf(root, name);
    if (before !== undefined && before.kind !== "null") reader.addMember(before);
  }
  const instructions = root.fields.instructions;
  if (instructions?.kind === "string") reader.addText(instructions);
  const input = root.fields.input;
  if (input?.kind === "string") reader.addText(input);
  let turn: Turn | null = null;
  const closeTurn = (): void => {
    if (turn !== null) reader.addTurn({ ...turn, calls: readSentCalls(text, turn.calls, nodesOf) });
    turn = null;
  };
  for (const item of input?.items ?? []) {
    const kind = kindOf(text, item);
    if (isOfModel(text, item, kind)) turn ??= { prefix: reader.takePrefix(), texts: [], calls: [] };
    else closeTurn();
    if (turn !== null && kind === "call") turn.calls.push(item);
    if (isWord(text, item.fields.type, "reasoning")) continue;
    reader.beginMessage(item.fields.role);
    reader.addMembers(item, READ);
    readContent(reader, text, item.fields.content, turn);
    readContent(reader, text, item.fields.output, null);
  }
  closeTurn();
  return reader.end();
}

/** Returns whether the model made the item. Results of kinds that exist only in this format come from the client. */
function isOfModel(text: string, item: ResponsesItem, kind: ReturnType<typeof kindOf>): boolean {
  if (kind !== "native") return kind !== "prompt" && kind !== "result";
  return !/(_output|_response|_reference)$/.test(stringViewOf(text, item.fields.type) ?? "");
}

function readContent(
  reader: ConversationReader,
  text: string,
  content: ResponsesContent | undefined,
  turn: Turn | null,
): void {
  const addText = (node: JsonNode): void => {
    if (node.end - node.start > 2) turn?.texts.push(node);
  };
  if (content?.kind === "string") {
    reader.addText(content);
    addText(content);
  }
  for (const part of content?.items ?? []) {
    const own = lookUp(text, part.fields.type, TEXTS) ? part.fields.text : undefined;
    if (own?.kind === "string") addText(own);
    if (own?.kind === "string" && isPlainText(part)) reader.addText(own);
    else reader.addPart(part);
  }
}

function nodesOf(call: ResponsesItem) {
  return {
    id: call.fields.call_id,
    name: call.fields.name,
    args: call.fields.arguments ?? call.fields.input,
  };
}
