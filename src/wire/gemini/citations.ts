import type { Citation } from "../canonical/parts.ts";
import { asFields, type Fields } from "../json/fields.ts";

/**
 * What a candidate says of its sources: `groundingMetadata` (searches) and `citationMetadata` (recitation). Gemini
 * counts bytes of UTF-8 in `text`, the candidate's whole text.
 */
export function readCitations(candidate: Fields, text: string): Citation[] {
  const bytes = Buffer.from(text);
  return [
    ...readGrounding(asFields(candidate["groundingMetadata"]), bytes, text),
    ...readSources(candidate, bytes),
  ];
}

function readGrounding(metadata: Fields | null, bytes: Buffer, text: string): Citation[] {
  const sources = listFields(metadata?.["groundingChunks"]).map(readChunk);
  const supports = listFields(metadata?.["groundingSupports"]);
  if (supports.length === 0) {
    return sources.map((source) => ({ ...source, text: null, start: null, end: null }));
  }
  return supports.flatMap((support) => {
    const place = readSegment(asFields(support["segment"]) ?? {}, bytes, text);
    const indices = Array.isArray(support["groundingChunkIndices"]) ? support["groundingChunkIndices"] : [];
    return indices.flatMap((index) => {
      const source = sources[Number(index)];
      return source === undefined ? [] : [{ ...source, ...place }];
    });
  });
}

/** A page, a document of one's own, or a place on the map. */
function readChunk(chunk: Fields): { readonly url: string | null; readonly title: string | null } {
  const source =
    asFields(chunk["web"]) ?? asFields(chunk["retrievedContext"]) ?? asFields(chunk["maps"]) ?? {};
  return { url: readText(source["uri"]), title: readText(source["title"]) };
}

/** Where the counts do not meet the words, the words' own place counts. */
function readSegment(segment: Fields, bytes: Buffer, text: string): Pick<Citation, "text" | "start" | "end"> {
  const words = readText(segment["text"]);
  const start = countUnits(bytes, segment["startIndex"] ?? 0);
  const end = countUnits(bytes, segment["endIndex"]);
  if (words === null) return { text: null, start, end };
  if (start !== null && end !== null && text.slice(start, end) === words) return { text: words, start, end };
  const found = text.indexOf(words);
  return found < 0
    ? { text: words, start: null, end: null }
    : { text: words, start: found, end: found + words.length };
}

/** AI Studio says `citationSources`, Vertex `citations`. */
function readSources(candidate: Fields, bytes: Buffer): Citation[] {
  const metadata = asFields(candidate["citationMetadata"]);
  return listFields(metadata?.["citationSources"] ?? metadata?.["citations"]).map((source) => ({
    url: readText(source["uri"]),
    title: readText(source["title"]),
    text: null,
    start: countUnits(bytes, source["startIndex"] ?? 0),
    end: countUnits(bytes, source["endIndex"]),
  }));
}

/** A count of bytes as one of UTF-16 units. */
function countUnits(bytes: Buffer, count: unknown): number | null {
  if (typeof count !== "number" || count < 0 || count > bytes.length) return null;
  return bytes.toString("utf8", 0, count).length;
}

function listFields(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(asFields).filter((item) => item !== null) : [];
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
