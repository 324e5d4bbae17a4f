import { addMember, addTexts } from "../../json/collect-nodes.ts";
import { isWord, itemsOf, type JsonNode, memberOf } from "../../json/scan.ts";
import type { ScannedResponsesRequest } from "./scan-request.ts";

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
