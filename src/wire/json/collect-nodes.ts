import { type JsonNode, memberOf } from "./scan.ts";

/** Adds the texts of a message's content, which is a string or a list of parts, to `nodes`. Parts without a text are skipped. */
export function addTexts(nodes: JsonNode[], content: JsonNode | undefined): void {
  if (content?.kind === "string") nodes.push(content);
  for (const part of content?.items ?? []) addMember(nodes, part, "text");
}

/** Adds the value of the member of this name to `nodes`. An absent member is skipped. */
export function addMember(nodes: JsonNode[], object: JsonNode | undefined, key: string): void {
  const node = memberOf(object, key);
  if (node !== undefined) nodes.push(node);
}
