import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Citation } from "../../../canonical/model/parts.ts";
import { isOwn, keptFields, makeExtras } from "./extras.ts";

/** Decodes a citation of any kind. Its offsets refer to the document, not to the answer, so the result has none. */
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

/** Decodes a list of citations; null if an entry is not one. */
export function decodeCitations(list: readonly unknown[]): Citation[] | null {
  const citations = list.map((entry) => asFields(entry));
  return citations.every((entry) => entry !== null) ? citations.map(decodeCitation) : null;
}

/** Encodes a citation for a client. One of another format becomes a web search result, the kind that has a URL. */
export function encodeCitation(citation: Citation): Fields {
  if (isOwn(citation)) return keptFields(citation);
  return {
    type: "web_search_result_location",
    cited_text: citation.text ?? "",
    encrypted_index: NO_INDEX,
    // Some clients reject a citation without a title.
    title: citation.title ?? citation.url ?? "",
    url: citation.url ?? "",
  };
}

const NO_INDEX = "";

/** Returns whether the vendor can read a citation. One that the gateway encoded for another vendor has no index. */
export function isVendors(citation: Citation): boolean {
  return isOwn(citation) && keptFields(citation)["encrypted_index"] !== NO_INDEX;
}

function readText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
