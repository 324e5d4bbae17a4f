import { isWord, lookUp, wordTable } from "../../../base/json/scan.ts";
import type { RequestNeeds } from "../../conversation/needs.ts";
import type { ResponsesBody } from "../request-shape.ts";
import type { ScannedResponsesRequest } from "./scan-request.ts";

/** The modality of each part type that is not text, as `input_modalities` names it. */
export const MODALITIES = wordTable({
  input_image: "image",
  input_file: "file",
  input_audio: "audio",
  input_video: "video",
});

/** Request fields by the name that `supported_parameters` has for them. */
const PARAMETERS: Readonly<Record<string, string>> = {
  max_output_tokens: "max_tokens",
  temperature: "temperature",
  top_p: "top_p",
  top_logprobs: "top_logprobs",
  tools: "tools",
  tool_choice: "tool_choice",
  parallel_tool_calls: "parallel_tool_calls",
  reasoning: "reasoning",
};

/**
 * Lists the features and parameters of a Responses request that a deployment must support.
 */
export function listResponsesNeeds({ text, root, items }: ScannedResponsesRequest): RequestNeeds {
  const features = new Set<string>();
  for (const item of items) {
    for (const list of [item.fields.content, item.fields.output]) {
      for (const part of list?.items ?? []) {
        const modality = lookUp(text, part.fields.type, MODALITIES);
        if (modality !== undefined) features.add(modality);
      }
    }
  }
  if ((root.fields.tools?.items?.length ?? 0) > 0) features.add("tools");
  const parameters = new Set<string>();
  for (const { key, kind } of root.members ?? []) {
    const name = PARAMETERS[key];
    if (name !== undefined && kind !== "null") parameters.add(name);
  }
  const format = nameFormat(text, root);
  if (format !== null) parameters.add(format);
  return { features: [...features], parameters: [...parameters], contentField: "input" };
}

function nameFormat(text: string, root: ResponsesBody): string | null {
  const type = root.fields.text?.fields.format?.fields.type;
  if (isWord(text, type, "json_schema")) return "structured_outputs";
  return isWord(text, type, "json_object") ? "response_format" : null;
}
