import type { FieldsNode, ItemsNode, JsonNode, Shape } from "./scan.ts";

/** The content of a message: a string, or a list of parts that may have a text. */
type ContentNode = ItemsNode<FieldsNode<{ readonly text: Shape }>>;

/** Adds the texts of a message's content to `nodes`. Parts without a text are skipped. */
export function addTexts(nodes: JsonNode[], content: ContentNode | undefined): void {
  if (content?.kind === "string") nodes.push(content);
  for (const { fields } of content?.items ?? []) if (fields.text !== undefined) nodes.push(fields.text);
}

/** Adds values to `nodes`. Absent ones are skipped. */
export function addPresent(nodes: JsonNode[], ...values: readonly (JsonNode | undefined)[]): void {
  for (const value of values) if (value !== undefined) nodes.push(value);
}
