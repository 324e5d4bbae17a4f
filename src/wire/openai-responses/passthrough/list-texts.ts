import { isWord, itemsOf, type JsonNode, lookUp, memberOf, NO_NODES, wordTable } from "../../json/scan.ts";
import type { ScannedResponsesRequest } from "./scan-request.ts";

const RESULTS = wordTable({ function_call_output: true, custom_tool_call_output: true });

/**
 * Lists the texts that were sent to the model, in order: those of users and of the system, and the outputs of calls. The model's own texts
 * are left out because some formats trim them, and the instructions because answers repeat them.
 */
export function listTexts({ text, root }: ScannedResponsesRequest): JsonNode[] {
  const texts: JsonNode[] = [];
  const addContent = (content: JsonNode | undefined): void => {
    if (content?.kind === "string") texts.push(content);
    for (const part of content?.items ?? NO_NODES) {
      const node = isWord(text, memberOf(part, "type"), "input_text") ? memberOf(part, "text") : undefined;
      if (node !== undefined) texts.push(node);
    }
  };
  const input = memberOf(root, "input");
  if (input?.kind === "string") texts.push(input);
  for (const item of itemsOf(root, "input")) {
    const type = memberOf(item, "type");
    const isMessage = type?.kind !== "string" || isWord(text, type, "message");
    if (lookUp(text, type, RESULTS)) addContent(memberOf(item, "output"));
    else if (isMessage && !isWord(text, memberOf(item, "role"), "assistant"))
      addContent(memberOf(item, "content"));
  }
  return texts;
}
