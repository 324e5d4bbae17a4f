import { asFields, asObjects, type Fields } from "../../base/json/fields.ts";
import type { Citation } from "../canonical/model/parts.ts";

/**
 * Reads the citations of texts, one for each of their sources. Citations of a tool plan or of thinking are ignored, because only
 * texts have citations in the canonical form. `index` is the index of the cited content; citations without one belong to the
 * first text.
 */
export function readCitations(
  value: unknown,
): readonly { readonly index: number | null; readonly citation: Citation }[] {
  return asObjects(Array.isArray(value) ? value : [value])
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
    start: readOffset(item["start"]),
    end: readOffset(item["end"]),
    extras: { format: "cohere-chat", fields: source ?? {} },
  };
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function readOffset(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
