import type { Citation } from "../canonical/parts.ts";
import { asFields, type Fields } from "../json/fields.ts";

/**
 * The citations of a text, one for each of their sources. Those of a tool plan or of thinking are passed over: the hub
 * cites texts only. `index` keeps to the content with that place; citations that name none are the first text's.
 */
export function readCitations(
  value: unknown,
): readonly { readonly index: number | null; readonly citation: Citation }[] {
  const items = Array.isArray(value) ? value : [value];
  return items
    .map(asFields)
    .filter((item) => item !== null)
    .filter((item) => item["type"] === undefined || item["type"] === null || item["type"] === "TEXT_CONTENT")
    .flatMap((item) => {
      const index = typeof item["content_index"] === "number" ? item["content_index"] : null;
      return listSources(item).map((source) => ({ index, citation: readCitation(item, source) }));
    });
}

function listSources(item: Fields): (Fields | null)[] {
  const sources = Array.isArray(item["sources"]) ? item["sources"].map(asFields) : [];
  return sources.length === 0 ? [null] : sources;
}

function readCitation(item: Fields, source: Fields | null): Citation {
  const document = asFields(source?.["document"]);
  return {
    url: readText(document?.["url"]),
    title: readText(document?.["title"]) ?? readText(source?.["id"]),
    text: readText(item["text"]),
    start: readPlace(item["start"]),
    end: readPlace(item["end"]),
    extras: { format: "cohere-chat", fields: source ?? {} },
  };
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function readPlace(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
