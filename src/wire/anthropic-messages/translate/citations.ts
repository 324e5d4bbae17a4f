import type { Citation } from "../../canonical/parts.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { isOwn, keptFields, makeExtras } from "./extras.ts";

/** Reads a citation of any of the API's kinds. Its places are those in the document, not in the answer, so the hub gets none. */
export function decodeCitation(raw: Fields): Citation {
  return {
    url: readText(raw["url"]),
    title: readText(raw["title"]) ?? readText(raw["document_title"]),
    text: readText(raw["cited_text"]),
    start: null,
    end: null,
    ...makeExtras(raw),
  };
}

/** All of a list, or null where one is no citation. */
export function decodeCitations(list: readonly unknown[]): Citation[] | null {
  const citations = list.map((entry) => asFields(entry));
  return citations.every((entry) => entry !== null) ? citations.map(decodeCitation) : null;
}

/** A citation as a client reads it; one of another format as a web search's, the kind with a URL. */
export function encodeCitation(citation: Citation): Fields {
  if (isOwn(citation)) return keptFields(citation);
  return {
    type: "web_search_result_location",
    cited_text: citation.text ?? "",
    encrypted_index: NO_INDEX,
    // Some clients refuse one without.
    title: citation.title ?? citation.url ?? "",
    url: citation.url ?? "",
  };
}

const NO_INDEX = "";

/** Whether the vendor would know it again: a citation that we wrote for another vendor's has no index that it could read. */
export function isVendors(citation: Citation): boolean {
  return isOwn(citation) && keptFields(citation)["encrypted_index"] !== NO_INDEX;
}

function readText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
