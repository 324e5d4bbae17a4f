import { addPresent, addTexts } from "../../../base/json/collect-nodes.ts";
import { isWord, type JsonNode, lookUp, wordTable } from "../../../base/json/scan.ts";
import type { ScannedResponsesRequest } from "./scan-request.ts";

const INSTRUCTIONS = wordTable<true>({ system: true, developer: true });

/** Lists the prefix that requests of one kind share: the tools, and the instructions before the first other item. */
export function listResponsesShared({ text, root }: ScannedResponsesRequest): JsonNode[] {
  const shared: JsonNode[] = [];
  addPresent(shared, root.fields.tools, root.fields.instructions);
  for (const item of root.fields.input?.items ?? []) {
    if (lookUp(text, item.fields.role, INSTRUCTIONS) === undefined) break;
    addTexts(shared, item.fields.content);
  }
  return shared;
}

/**
 * Lists the texts that stay the same from turn to turn, in order: the tools, the instructions, what comes before the first user
 * message, and that message. Only texts, because ids and states change.
 */
export function listResponsesPrefix({ text, root }: ScannedResponsesRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of root.fields.tools?.items ?? []) {
    addPresent(prefix, tool.fields.type, tool.fields.name, tool.fields.description);
  }
  addPresent(prefix, root.fields.instructions);
  const input = root.fields.input;
  if (input?.kind === "string") prefix.push(input);
  for (const item of input?.items ?? []) {
    const role = item.fields.role;
    if (role === undefined || isWord(text, role, "assistant")) continue;
    const isUser = isWord(text, role, "user");
    // A plain `input` is the user's message, too.
    if (!isUser) prefix.push(role);
    addTexts(prefix, item.fields.content);
    if (isUser) break;
  }
  return prefix;
}
