import type { Citation } from "../../canonical/parts.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { markExtras, readOwnFields } from "./extras.ts";

/** An annotation of an `output_text` as a citation; it keeps the annotation whole. */
export function decodeAnnotation(annotation: unknown): Citation {
  const fields = asFields(annotation) ?? {};
  return {
    url: readText(fields["url"]),
    title: readText(fields["title"]) ?? readText(fields["filename"]),
    text: null,
    start: readPlace(fields["start_index"]) ?? readPlace(fields["index"]),
    end: readPlace(fields["end_index"]),
    extras: markExtras(fields),
  };
}

/** A citation as an annotation. Of other formats only those with an address have a form here, null for the rest. */
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

function readPlace(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
