import { asFields, asObjects, type Fields } from "../../base/json/fields.ts";
import type { Citation } from "../canonical/model/parts.ts";

/**
 * Reads the sources of a candidate: `groundingMetadata` (searches) and `citationMetadata` (recitation). Gemini's offsets are
 * bytes of UTF-8 in `text`, the whole text of the candidate.
 */
export function readCitations(candidate: Fields, text: string): Citation[] {
  const offsets = listOffsets(candidate);
  const cited: CitedText = { text, units: convertOffsets(text, offsets), searchesLeft: MAX_SEARCHES };
  return [
    ...readGrounding(asFields(candidate["groundingMetadata"]), cited),
    ...readSources(candidate, cited),
  ];
}

/** The text of a candidate, with the data that converts Gemini's offsets in it. */
interface CitedText {
  readonly text: string;
  /** UTF-16 offsets by byte offset. */
  readonly units: ReadonlyMap<number, number>;
  searchesLeft: number;
}

/**
 * Cited texts that are searched for in the answer. Each search costs the length of the answer; further citations get no offsets.
 */
const MAX_SEARCHES = 64;

function readGrounding(metadata: Fields | null, cited: CitedText): Citation[] {
  const sources = asObjects(metadata?.["groundingChunks"]).map(readChunk);
  const supports = asObjects(metadata?.["groundingSupports"]);
  if (supports.length === 0) {
    return sources.map((source) => ({ ...source, text: null, start: null, end: null }));
  }
  return supports.flatMap((support) => {
    const range = readSegment(asFields(support["segment"]) ?? {}, cited);
    const indices = Array.isArray(support["groundingChunkIndices"]) ? support["groundingChunkIndices"] : [];
    return indices.flatMap((index) => {
      const source = sources[Number(index)];
      return source === undefined ? [] : [{ ...source, ...range }];
    });
  });
}

/** Reads a web page, a retrieved document or a map location. */
function readChunk(chunk: Fields): { readonly url: string | null; readonly title: string | null } {
  const source =
    asFields(chunk["web"]) ?? asFields(chunk["retrievedContext"]) ?? asFields(chunk["maps"]) ?? {};
  return { url: readText(source["uri"]), title: readText(source["title"]) };
}

/** Reads a cited segment. If its offsets do not match its text, the text is searched for in the answer. */
function readSegment(segment: Fields, cited: CitedText): Pick<Citation, "text" | "start" | "end"> {
  const { text } = cited;
  const segmentText = readText(segment["text"]);
  const { start, end } = readOffsets(segment, cited);
  if (segmentText === null) return { text: null, start, end };
  if (start !== null && end !== null && text.slice(start, end) === segmentText)
    return { text: segmentText, start, end };
  const found = cited.searchesLeft-- > 0 ? text.indexOf(segmentText) : -1;
  return found < 0
    ? { text: segmentText, start: null, end: null }
    : { text: segmentText, start: found, end: found + segmentText.length };
}

/** AI Studio sends `citationSources`, Vertex AI `citations`. */
function readSources(candidate: Fields, cited: CitedText): Citation[] {
  return listSources(candidate).map((source) => ({
    url: readText(source["uri"]),
    title: readText(source["title"]),
    text: null,
    ...readOffsets(source, cited),
  }));
}

function listSources(candidate: Fields): readonly Fields[] {
  const metadata = asFields(candidate["citationMetadata"]);
  return asObjects(metadata?.["citationSources"] ?? metadata?.["citations"]);
}

/** Converts byte offsets to UTF-16 offsets. */
function readOffsets(range: Fields, { units }: CitedText): Pick<Citation, "start" | "end"> {
  const unitsAt = (bytes: unknown) => (typeof bytes === "number" ? (units.get(bytes) ?? null) : null);
  return { start: unitsAt(range["startIndex"] ?? 0), end: unitsAt(range["endIndex"]) };
}

/** Returns all byte offsets that a candidate mentions. */
function listOffsets(candidate: Fields): unknown[] {
  const supports = asObjects(asFields(candidate["groundingMetadata"])?.["groundingSupports"]);
  const segments = supports.map((support) => asFields(support["segment"]) ?? {});
  return [...segments, ...listSources(candidate)].flatMap((range) => [
    range["startIndex"] ?? 0,
    range["endIndex"],
  ]);
}

/** Returns the UTF-16 offset of each byte offset, in one pass; offsets outside of the text are left out. */
function convertOffsets(text: string, offsets: readonly unknown[]): Map<number, number> {
  const bytes = Buffer.from(text);
  const valid = offsets.filter((offset): offset is number => isOffset(offset, bytes.length));
  const units = new Map<number, number>();
  let at = 0;
  let before = 0;
  for (const offset of [...new Set(valid)].sort((a, b) => a - b)) {
    before += bytes.toString("utf8", at, offset).length;
    at = offset;
    units.set(offset, before);
  }
  return units;
}

function isOffset(offset: unknown, most: number): boolean {
  return typeof offset === "number" && offset >= 0 && offset <= most;
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
