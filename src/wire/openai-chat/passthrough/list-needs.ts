import { isWord, type JsonNode, memberOf } from "../../../base/json/scan.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import type { RequestNeeds } from "../../conversation/needs.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

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

/** Lists the features and parameters of a chat completion request that not every deployment supports. */
export function listChatNeeds({ text, root, media, tools }: ScannedChatRequest): RequestNeeds {
  const features = new Set(media.map(({ modality }) => modality));
  if (tools.length > 0) features.add("tools");
  return { features: [...features], parameters: listParameters(text, root), contentField: "messages" };
}

/** Lists the parameters of a body of OpenAI's formats. `text` is the body, bytes as Latin-1. */
export function listParameters(text: string, root: JsonNode): readonly string[] {
  const parameters = new Set<string>();
  for (const member of root.members ?? []) {
    if (member.kind === "null" || NO_PARAMETERS.has(member.key)) continue;
    const name = nameParameter(text, member);
    if (name !== null) parameters.add(name);
  }
  return [...parameters];
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
