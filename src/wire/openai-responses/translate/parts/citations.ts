import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Citation } from "../../../canonical/model/parts.ts";
import { markExtras, readOwnFields } from "./extras.ts";

/** Decodes an annotation of an `output_text`; the citation keeps all of it. */
export function decodeCitation(annotation: unknown): Citation {
  const fields = asFields(annotation) ?? {};
  return {
    url: readText(fields["url"]),
    title: readText(fields["title"]) ?? readText(fields["filename"]),
    text: null,
    start: readOffset(fields["start_index"]) ?? readOffset(fields["index"]),
    end: readOffset(fields["end_index"]),
    extras: markExtras(fields),
  };
}

/** Encodes a citation as an annotation. Citations of other formats need a URL; null for the others. */
export function encodeCitation(citation: Citation): Fields | null {
  const own = readOwnFields(citation.extras);
  if (own !== null) return own;
  if (citation.url === null) return null;
  return {
    type: "url_citation",
    url: citation.url,
    title: citation.title ?? "",
    start_index: citation.start ?? 0,
    end_index: citation.end ?? 0,
  };
}

function readText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function readOffset(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
