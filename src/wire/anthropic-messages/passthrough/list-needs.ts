import { isWord, type JsonNode, memberOf } from "../../../base/json/scan.ts";
import type { RequestNeeds } from "../../conversation/needs.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** Request fields by the name that `supported_parameters` has for them. */
const PARAMETERS: Readonly<Record<string, string>> = {
  max_tokens: "max_tokens",
  temperature: "temperature",
  top_p: "top_p",
  top_k: "top_k",
  stop_sequences: "stop",
  tools: "tools",
  tool_choice: "tool_choice",
  thinking: "reasoning",
};

/** Lists the features and parameters of a Messages request that a deployment must support. */
export function listMessagesNeeds({ text, root, messages }: ScannedMessagesRequest): RequestNeeds {
  const features = new Set<string>();
  for (const { fields } of messages) addModalities(text, fields.content, features);
  if ((root.fields.tools?.items?.length ?? 0) > 0) features.add("tools");
  const parameters = new Set<string>();
  for (const member of root.members ?? []) {
    const name = PARAMETERS[member.key];
    if (name === undefined || member.kind === "null") continue;
    if (member.key !== "thinking" || !isWord(text, root.fields.thinking?.fields.type, "disabled"))
      parameters.add(name);
  }
  const format = root.fields.output_config?.fields.format;
  if (format?.kind === "object") parameters.add("structured_outputs");
  return { features: [...features], parameters: [...parameters], contentField: "messages" };
}

/** Adds images and documents, including those in tool results. A document of plain text counts as text. */
function addModalities(text: string, content: JsonNode | undefined, features: Set<string>): void {
  for (const block of content?.items ?? []) {
    const type = memberOf(block, "type");
    const sourceType = memberOf(memberOf(block, "source"), "type");
    const isText = isWord(text, sourceType, "text") || isWord(text, sourceType, "content");
    if (isWord(text, type, "image")) features.add("image");
    else if (isWord(text, type, "document") && !isText) features.add("file");
    addModalities(text, memberOf(block, "content"), features);
  }
}
