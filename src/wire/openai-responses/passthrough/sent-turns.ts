import {
  ConversationReader,
  isPlainText,
  readSentCalls,
  type SentConversation,
} from "../../conversation/sent-turns.ts";
import {
  isWord,
  type JsonNode,
  lookUp,
  memberOf,
  NO_NODES,
  stringViewOf,
  wordTable,
} from "../../json/scan.ts";
import { kindOf, type ScannedResponsesRequest } from "./scan-request.ts";

const TEXTS = wordTable({ input_text: true, output_text: true, text: true });
/** Members of an item that are read one by one, or that belong to the answer that it was part of. */
const READ: ReadonlySet<string> = new Set(["id", "status", "encrypted_content", "content", "output"]);
/** Where the conversation before the input is kept at a vendor. */
const STORED_BEFORE = ["previous_response_id", "conversation", "prompt"] as const;

/** Neighbouring items of the model. */
interface Turn {
  readonly prefix: string;
  readonly texts: JsonNode[];
  readonly calls: JsonNode[];
}

/** Reads what tells a conversation from others (see `SentConversation`). */
export function readSentItems({ bytes, text, root }: ScannedResponsesRequest): SentConversation {
  const reader = new ConversationReader(bytes);
  reader.beginMessage(undefined);
  for (const name of STORED_BEFORE) {
    const before = memberOf(root, name);
    if (before !== undefined && before.kind !== "null") reader.addMember(before);
  }
  const instructions = memberOf(root, "instructions");
  if (instructions?.kind === "string") reader.addText(instructions);
  const input = memberOf(root, "input");
  if (input?.kind === "string") reader.addText(input);
  let turn: Turn | null = null;
  const closeTurn = (): void => {
    if (turn !== null) reader.addTurn({ ...turn, calls: readSentCalls(text, turn.calls, nodesOf) });
    turn = null;
  };
  for (const item of input?.items ?? NO_NODES) {
    const kind = kindOf(text, item);
    if (isOfModel(text, item, kind)) turn ??= { prefix: reader.takePrefix(), texts: [], calls: [] };
    else closeTurn();
    if (turn !== null && kind === "call") turn.calls.push(item);
    if (isWord(text, memberOf(item, "type"), "reasoning")) continue;
    reader.beginMessage(memberOf(item, "role"));
    reader.addMembers(item, READ);
    readContent(reader, text, memberOf(item, "content"), turn);
    readContent(reader, text, memberOf(item, "output"), null);
  }
  closeTurn();
  return reader.end();
}

/** Whether the model made the item. Results that only this format has come from the client. */
function isOfModel(text: string, item: JsonNode, kind: ReturnType<typeof kindOf>): boolean {
  if (kind !== "native") return kind !== "prompt" && kind !== "result";
  return !/(_output|_response|_reference)$/.test(stringViewOf(text, memberOf(item, "type")) ?? "");
}

function readContent(
  reader: ConversationReader,
  text: string,
  content: JsonNode | undefined,
  turn: Turn | null,
): void {
  const addText = (node: JsonNode): void => {
    if (node.end - node.start > 2) turn?.texts.push(node);
  };
  if (content?.kind === "string") {
    reader.addText(content);
    addText(content);
  }
  for (const part of content?.items ?? NO_NODES) {
    const own = lookUp(text, memberOf(part, "type"), TEXTS) ? memberOf(part, "text") : undefined;
    if (own?.kind === "string") addText(own);
    if (own?.kind === "string" && isPlainText(part)) reader.addText(own);
    else reader.addPart(part);
  }
}

function nodesOf(call: JsonNode) {
  return {
    id: memberOf(call, "call_id"),
    name: memberOf(call, "name"),
    args: memberOf(call, "arguments") ?? memberOf(call, "input"),
  };
}
