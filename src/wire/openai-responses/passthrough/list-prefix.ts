import { addMember, addTexts } from "../../json/collect-nodes.ts";
import { isWord, itemsOf, type JsonNode, lookUp, memberOf, wordTable } from "../../json/scan.ts";
import type { ScannedResponsesRequest } from "./scan-request.ts";

const INSTRUCTIONS = wordTable<true>({ system: true, developer: true });

/** Lists what requests of one kind share: the tools, and the instructions before the first other item. */
export function listResponsesShared({ text, root }: ScannedResponsesRequest): JsonNode[] {
  const shared: JsonNode[] = [];
  addMember(shared, root, "tools");
  addMember(shared, root, "instructions");
  for (const item of memberOf(root, "input")?.items ?? []) {
    if (lookUp(text, memberOf(item, "role"), INSTRUCTIONS) === undefined) break;
    addTexts(shared, memberOf(item, "content"));
  }
  return shared;
}

/**
 * Lists the texts that stay the same from turn to turn, in order: the tools, the instructions, what comes before the first user
 * message, and that message. Only texts, because ids and states change.
 */
export function listResponsesPrefix({ text, root }: ScannedResponsesRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of itemsOf(root, "tools")) {
    addMember(prefix, tool, "type");
    addMember(prefix, tool, "name");
    addMember(prefix, tool, "description");
  }
  addMember(prefix, root, "instructions");
  const input = memberOf(root, "input");
  if (input?.kind === "string") prefix.push(input);
  for (const item of input?.items ?? []) {
    const role = memberOf(item, "role");
    if (role === undefined || isWord(text, role, "assistant")) continue;
    const isUser = isWord(text, role, "user");
    // A plain `input` is the user's message, too.
    if (!isUser) prefix.push(role);
    addTexts(prefix, memberOf(item, "content"));
    if (isUser) break;
  }
  return prefix;
}
