import type { Citation } from "../canonical/parts.ts";
import { asFields, type Fields } from "../json/fields.ts";

/**
 * What a candidate says of its sources: `groundingMetadata` (searches) and `citationMetadata` (recitation). Gemini
 * counts bytes of UTF-8 in `text`, the candidate's whole text.
 */
export function readCitations(candidate: Fields, text: string): Citation[] {
  const places = listPlaces(candidate);
  const words: Words = { text, units: countUnits(text, places), searchesLeft: MAX_SEARCHES };
  return [
    ...readGrounding(asFields(candidate["groundingMetadata"]), words),
    ...readSources(candidate, words),
  ];
}

/** A candidate's text while its sources are placed in it. */
interface Words {
  readonly text: string;
  /** UTF-16 units before so many bytes. */
  readonly units: ReadonlyMap<number, number>;
  searchesLeft: number;
}

/** Words that are looked for in the whole text, each of which costs its length; those of further citations have no place. */
const MAX_SEARCHES = 64;

function readGrounding(metadata: Fields | null, words: Words): Citation[] {
  const sources = listFields(metadata?.["groundingChunks"]).map(readChunk);
  const supports = listFields(metadata?.["groundingSupports"]);
  if (supports.length === 0) {
    return sources.map((source) => ({ ...source, text: null, start: null, end: null }));
  }
  return supports.flatMap((support) => {
    const place = readSegment(asFields(support["segment"]) ?? {}, words);
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
function readSegment(segment: Fields, words: Words): Pick<Citation, "text" | "start" | "end"> {
  const { text } = words;
  const said = readText(segment["text"]);
  const { start, end } = readPlace(segment, words);
  if (said === null) return { text: null, start, end };
  if (start !== null && end !== null && text.slice(start, end) === said) return { text: said, start, end };
  const found = words.searchesLeft-- > 0 ? text.indexOf(said) : -1;
  return found < 0
    ? { text: said, start: null, end: null }
    : { text: said, start: found, end: found + said.length };
}

/** AI Studio says `citationSources`, Vertex `citations`. */
function readSources(candidate: Fields, words: Words): Citation[] {
  return listSources(candidate).map((source) => ({
    url: readText(source["uri"]),
    title: readText(source["title"]),
    text: null,
    ...readPlace(source, words),
  }));
}

function listSources(candidate: Fields): Fields[] {
  const metadata = asFields(candidate["citationMetadata"]);
  return listFields(metadata?.["citationSources"] ?? metadata?.["citations"]);
}

/** A place in bytes as one in UTF-16 units. */
function readPlace(place: Fields, { units }: Words): Pick<Citation, "start" | "end"> {
  const unitsAt = (bytes: unknown) => (typeof bytes === "number" ? (units.get(bytes) ?? null) : null);
  return { start: unitsAt(place["startIndex"] ?? 0), end: unitsAt(place["endIndex"]) };
}

/** All counts of bytes that a candidate names. */
function listPlaces(candidate: Fields): unknown[] {
  const supports = listFields(asFields(candidate["groundingMetadata"])?.["groundingSupports"]);
  const segments = supports.map((support) => asFields(support["segment"]) ?? {});
  return [...segments, ...listSources(candidate)].flatMap((place) => [
    place["startIndex"] ?? 0,
    place["endIndex"],
  ]);
}

/** UTF-16 units before each of these counts of bytes; counts that lie outside of the text are left out. One walk for all. */
function countUnits(text: string, counts: readonly unknown[]): Map<number, number> {
  const bytes = Buffer.from(text);
  const inside = counts.filter((count): count is number => isPlace(count, bytes.length));
  const units = new Map<number, number>();
  let at = 0;
  let before = 0;
  for (const count of [...new Set(inside)].sort((a, b) => a - b)) {
    before += bytes.toString("utf8", at, count).length;
    at = count;
    units.set(count, before);
  }
  return units;
}

function isPlace(count: unknown, most: number): boolean {
  return typeof count === "number" && count >= 0 && count <= most;
}

function listFields(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(asFields).filter((item) => item !== null) : [];
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
