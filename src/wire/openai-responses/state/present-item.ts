import { asFields, type Fields, tryParseFields } from "../../../base/json/fields.ts";

/**
 * Returns an item as the API lists it; null if it is not JSON. A message may be sent without its type and with a text as its content. Clients
 * that list items expect both, as OpenAI's API has them.
 */
export function presentItem(item: string): Fields | null {
  const fields = tryParseFields(item);
  if (fields === null) return null;
  const { type = "message", role, content, status = "completed" } = fields;
  if (type !== "message" || typeof role !== "string") return fields;
  return { ...fields, type, status, content: listParts(role, content) };
}

function listParts(role: string, content: unknown): unknown {
  if (typeof content === "string") return [makePart(role, content)];
  if (!Array.isArray(content)) return content;
  return content.map((part) => {
    const fields = asFields(part);
    // A part of an earlier output must have its annotations.
    return fields?.["type"] === "output_text" ? { annotations: [], ...fields } : part;
  });
}

function makePart(role: string, text: string): Fields {
  return role === "assistant" ? { type: "output_text", text, annotations: [] } : { type: "input_text", text };
}
