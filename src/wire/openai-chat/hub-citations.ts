import { isDeepStrictEqual } from "node:util";
import type { Citation } from "../canonical/parts.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { keepExtras, keptSpelling } from "./extras.ts";
import { asText } from "./reasoning.ts";

/** Reads an annotation; null for kinds other than `url_citation`. */
export function decodeAnnotation(raw: unknown): Citation | null {
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

function readPlace(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** A citation as an annotation; null for one without an address, which has no form here. */
export function encodeAnnotation(citation: Citation): Fields | null {
  const raw = asFields(keptSpelling(citation)["annotation"]);
  if (raw !== null) return raw;
  return citation.url === null ? null : printCitation(citation);
}

/** Clients demand a title and a place: one that lacks a field fails the whole stream for them. */
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
