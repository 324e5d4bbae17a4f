import type { JsonNode } from "../../json/scan.ts";
import type { OpenText } from "./open-items.ts";

/** What events begin with that bring more of one text, and say of themselves. They are most of a stream. */
export interface DeltaPattern {
  readonly begin: string;
  readonly type: string;
  /** Where the text stands in the output. */
  readonly places: readonly string[];
  readonly text: OpenText;
}

/** Null where the event has not all that is looked for in the next. */
export function learnPattern(
  name: string,
  data: string,
  text: OpenText,
  event: JsonNode,
): DeltaPattern | null {
  const type = `"type":"${name}"`;
  const hasAll = [type, SEQUENCE, DELTA].every((mark) => data.includes(mark));
  return hasAll ? { begin: `event: ${name}\ndata: {`, type, places: listPlaces(data, event), text } : null;
}

/** The members that say where an event's text stands, with the mark behind each; in one piece where they are neighbours. */
function listPlaces(data: string, event: JsonNode): string[] {
  const places: string[] = [];
  let last: JsonNode | null = null;
  for (const member of event.members ?? []) {
    if (!PLACES.has(member.key)) continue;
    const isNeighbour = last !== null && member.keyStart === last.end + 1;
    const start: number = isNeighbour && last !== null ? last.keyStart : member.keyStart;
    if (isNeighbour) places.pop();
    places.push(data.slice(start, member.end + 1));
    last = { ...member, keyStart: start };
  }
  return places;
}

const PLACES: ReadonlySet<string> = new Set(["output_index", "content_index", "summary_index"]);

/** Unescaped quotes do not stand in strings, so these are the event's own. */
export const SEQUENCE = '"sequence_number":';
export const DELTA = '"delta":"';

/** Where what follows `mark` begins; -1 where it does not stand in the event. */
export function placeBehind(event: string, mark: string): number {
  const at = event.indexOf(mark);
  return at < 0 ? -1 : at + mark.length;
}

/** More digits than these are no number of an event. */
const MAX_DIGITS = 15;

/** The number whose digits begin at `at`; null where there are none, or too many. */
export function readWholeNumber(text: string, at: number): number | null {
  let end = at;
  while (end >= 0 && end - at <= MAX_DIGITS && isDigit(text.charCodeAt(end))) end++;
  return end > at && end - at <= MAX_DIGITS ? Number(text.slice(at, end)) : null;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
