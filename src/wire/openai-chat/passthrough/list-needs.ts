import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import type { RequestNeeds } from "../../conversation/needs.ts";
import { isWord, itemsOf, type JsonNode, lookUp, memberOf, wordTable } from "../../json/scan.ts";

/** The input modality of each part type that is not text. */
export const MODALITIES = wordTable({
  image_url: "image",
  file: "file",
  document_url: "file",
  input_audio: "audio",
  video_url: "video",
  input_video: "video",
});

/** Fields that are not model parameters, or that the gateway decides. */
const NO_PARAMETERS: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  "model",
  "messages",
  "stream",
  "stream_options",
  "user",
  "n",
  "metadata",
  "store",
  "service_tier",
  "prompt_cache_key",
  "safety_identifier",
]);

/**
 * Lists the features and parameters of a chat completion request that not every deployment supports. `text` is the body, bytes as
 * Latin-1.
 */
export function listChatNeeds(text: string, root: JsonNode): RequestNeeds {
  const features = new Set<string>();
  for (const message of itemsOf(root, "messages")) {
    for (const part of itemsOf(message, "content")) {
      const modality = lookUp(text, memberOf(part, "type"), MODALITIES);
      if (modality !== undefined) features.add(modality);
    }
  }
  if ((memberOf(root, "tools")?.items?.length ?? 0) > 0) features.add("tools");
  const parameters = new Set<string>();
  for (const member of root.members ?? []) {
    if (member.kind === "null" || NO_PARAMETERS.has(member.key)) continue;
    const name = nameParameter(text, member);
    if (name !== null) parameters.add(name);
  }
  return { features: [...features], parameters: [...parameters], contentField: "messages" };
}

function nameParameter(text: string, member: JsonNode): string | null {
  const { key } = member;
  if (key === "max_completion_tokens") return "max_tokens";
  if (key === "random_seed") return "seed";
  if (key !== "response_format") return key;
  const type = memberOf(member, "type");
  if (isWord(text, type, "text")) return null;
  return isWord(text, type, "json_schema") ? "structured_outputs" : key;
}
