import { isWord, type JsonNode } from "../../../base/json/scan.ts";
import type { ResponsesContent } from "../request-shape.ts";
import { kindOf, type ScannedResponsesRequest } from "./scan-request.ts";

/**
 * Lists the texts that were sent to the model, in order: those of users and of the system, and the outputs of calls. The model's own texts
 * are left out because some formats trim them, and the instructions because answers repeat them.
 */
export function listTexts({ text, root }: ScannedResponsesRequest): JsonNode[] {
  const texts: JsonNode[] = [];
  const addContent = (content: ResponsesContent | undefined): void => {
    if (content?.kind === "string") texts.push(content);
    for (const part of content?.items ?? []) {
      const node = isWord(text, part.fields.type, "input_text") ? part.fields.text : undefined;
      if (node !== undefined) texts.push(node);
    }
  };
  const input = root.fields.input;
  if (input?.kind === "string") texts.push(input);
  for (const item of root.fields.input?.items ?? []) {
    const kind = kindOf(text, item);
    if (kind === "result") addContent(item.fields.output);
    if (kind === "prompt") addContent(item.fields.content);
  }
  return texts;
}
