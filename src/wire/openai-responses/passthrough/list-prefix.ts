import { contentTexts, membersOf } from "../../json/content-texts.ts";
import { isWord, type JsonNode, memberOf } from "../../json/scan.ts";
import type { ResponsesRequest } from "./scan-request.ts";

/**
 * What stays the same from turn to turn, in order: the tools, what the model is told before the first user speaks, and what
 * that user says. Texts only: ids and states come and go.
 */
export function listResponsesPrefix({ text, root }: ResponsesRequest): JsonNode[] {
  const prefix: JsonNode[] = [];
  for (const tool of memberOf(root, "tools")?.items ?? []) {
    prefix.push(...membersOf(tool, "type", "name", "description"));
  }
  prefix.push(...membersOf(root, "instructions"));
  const input = memberOf(root, "input");
  if (input?.kind === "string") prefix.push(input);
  for (const item of input?.items ?? []) {
    const role = memberOf(item, "role");
    if (role === undefined || isWord(text, role, "assistant")) continue;
    const isUser = isWord(text, role, "user");
    // A plain `input` is what the user says, too.
    if (!isUser) prefix.push(role);
    for (const said of contentTexts(memberOf(item, "content"))) prefix.push(said);
    if (isUser) break;
  }
  return prefix;
}
