import { type JsonNode, memberOf } from "./scan.ts";

/** The texts of a message's content, which is one, or a list of parts some of which have one. */
export function contentTexts(content: JsonNode | undefined): readonly JsonNode[] {
  if (content?.kind === "string") return [content];
  return content?.items?.flatMap((part) => memberOf(part, "text") ?? []) ?? [];
}

/** Those of an object's members that are there, in the order of `keys`. */
export function membersOf(node: JsonNode | undefined, ...keys: readonly string[]): readonly JsonNode[] {
  return keys.flatMap((key) => memberOf(node, key) ?? []);
}
