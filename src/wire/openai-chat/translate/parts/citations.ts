import { isDeepStrictEqual } from "node:util";
import { asFields, asList, asText, type Fields } from "../../../../base/json/fields.ts";
import type { Citation } from "../../../canonical/model/parts.ts";
import { keepExtras, keptSpelling } from "./extras.ts";

/** Decodes an annotation; null for kinds other than `url_citation`. */
export function decodeCitation(raw: unknown): Citation | null {
  const annotation = asFields(raw);
  const cited = asFields(annotation?.["url_citation"]);
  if (annotation === null || annotation["type"] !== "url_citation" || cited === null) return null;
  const citation = readCitation(cited);
  const isPlain = isDeepStrictEqual(printCitation(citation), annotation);
  return { ...citation, ...keepExtras({}, isPlain ? {} : { annotation }) };
}

function readCitation(cited: Fields): Citation {
  return {
    url: asText(cited["url"]),
    title: asText(cited["title"]),
    text: asText(cited["content"]),
    start: readPlace(cited["start_index"]),
    end: readPlace(cited["end_index"]),
  };
}

/**
 * Decodes the pages that an answer lists outside its choices, as Perplexity's answers do. Clients of this format get the list
 * itself among the other fields of the answer.
 */
export function decodeListed(answer: Fields): Citation[] {
  const results = asList(answer["search_results"]).map(asFields);
  const pages = results.length > 0 ? results : asList(answer["citations"]).map((url) => ({ url }));
  return pages.flatMap((page: Fields | null) => {
    const url = asText(page?.["url"]);
    if (url === null) return [];
    const title = asText(page?.["title"]);
    return [{ url, title, text: null, start: null, end: null, ...keepExtras({}, { isListed: true }) }];
  });
}

function readPlace(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/**
 * Encodes a citation as an annotation; null for one without a URL, which this format cannot express, and for one that the answer
 * lists elsewhere.
 */
export function encodeCitation(citation: Citation): Fields | null {
  const spelling = keptSpelling(citation);
  const raw = asFields(spelling["annotation"]);
  if (raw !== null) return raw;
  return citation.url === null || spelling["isListed"] === true ? null : printCitation(citation);
}

/** Always prints a title and a position: clients reject the whole stream if a field is missing. */
function printCitation({ url, title, text, start, end }: Citation): Fields {
  return {
    type: "url_citation",
    url_citation: {
      url,
      title: title ?? url,
      ...(text === null ? {} : { content: text }),
      start_index: start ?? 0,
      end_index: end ?? 0,
    },
  };
}
