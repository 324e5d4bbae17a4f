import { isWord, itemsOf, type JsonNode, memberOf, NO_NODES } from "../../json/scan.ts";
import { kindOf, type ScannedResponsesRequest } from "./scan-request.ts";

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
    const kind = kindOf(text, item);
    if (kind === "result") addContent(memberOf(item, "output"));
    if (kind === "prompt") addContent(memberOf(item, "content"));
  }
  return texts;
}
