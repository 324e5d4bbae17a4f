import { type JsonNode, memberOf } from "./scan.ts";

/** Returns the texts of a message's content, which is a string or a list of parts. Parts without a text are skipped. */
export function contentTexts(content: JsonNode | undefined): readonly JsonNode[] {
  if (content?.kind === "string") return [content];
  return content?.items?.flatMap((part) => memberOf(part, "text") ?? []) ?? [];
}

/** Returns the values of these members of an object, in the order of `keys`. Absent members are skipped. */
export function membersOf(node: JsonNode | undefined, ...keys: readonly string[]): readonly JsonNode[] {
  return keys.flatMap((key) => memberOf(node, key) ?? []);
}
