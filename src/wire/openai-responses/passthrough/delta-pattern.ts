import { closingQuote, type JsonNode, memberOf } from "../../json/scan.ts";
import type { OpenTextItem } from "./open-items.ts";
import type { ScannedEvent } from "./scanned-event.ts";

/** What the delta events of one text have in common. They are most of a stream. */
export interface DeltaPattern {
  readonly begin: string;
  readonly type: string;
  /** The members that give the indexes of the text in the output. */
  readonly indexes: readonly string[];
  readonly text: OpenTextItem;
  /** Whether its events have `logprobs`. */
  readonly hasLogprobs: boolean;
  /** What is added to each event before its last brace (`missingLogprobs`). */
  readonly added: string;
}

/** An event that matches a pattern. */
interface KnownDelta {
  readonly sequence: number;
  /** Its text, escaped as in the JSON. */
  readonly escaped: string;
}

/** Makes the pattern of an event that adds to `text`; null if the event lacks what a pattern needs. */
export function createPattern({ name, data, root }: ScannedEvent, text: OpenTextItem): DeltaPattern | null {
  const type = `"type":"${name}"`;
  const hasAll = [type, SEQUENCE, DELTA].every((mark) => data.includes(mark));
  if (!hasAll) return null;
  const added = missingLogprobs(name, root) ?? "";
  const hasLogprobs = data.includes(LOGPROBS);
  return {
    begin: `event: ${name}\ndata: {`,
    type,
    indexes: listIndexes(data, root),
    text,
    hasLogprobs,
    added,
  };
}

/** Events that have `logprobs`, which OpenAI's libraries validate. Other hosts leave it out. */
const WITH_LOGPROBS: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.output_text.done",
]);

/** Returns the member that an event of a text lacks, with a comma before it; null if it lacks none. */
export function missingLogprobs(type: string, event: JsonNode): string | null {
  return WITH_LOGPROBS.has(type) && memberOf(event, "logprobs") === undefined ? `,${LOGPROBS}[]` : null;
}

/** Returns the index members of an event, each with the character after it; neighbours as one string. */
function listIndexes(data: string, event: JsonNode): string[] {
  const indexes: string[] = [];
  let last: JsonNode | null = null;
  for (const member of event.members ?? []) {
    if (!INDEXES.has(member.key)) continue;
    const isNeighbour = last !== null && member.keyStart === last.end + 1;
    const start: number = isNeighbour && last !== null ? last.keyStart : member.keyStart;
    if (isNeighbour) indexes.pop();
    indexes.push(data.slice(start, member.end + 1));
    last = { ...member, keyStart: start };
  }
  return indexes;
}

const INDEXES: ReadonlySet<string> = new Set(["output_index", "content_index", "summary_index"]);

/** Strings contain no unescaped quotes, so these marks are always the event's own members. */
const SEQUENCE = '"sequence_number":';
const DELTA = '"delta":"';
const LOGPROBS = '"logprobs":';

/** Reads the text of an event, up to its blank line; null if it does not match the pattern. */
export function matchDelta(pattern: DeltaPattern, event: string): KnownDelta | null {
  const data = pattern.begin.length;
  const end = event.length - "\n\n".length;
  if (!event.startsWith(pattern.begin) || event.indexOf("\n", data) !== end || event.charAt(end - 1) !== "}")
    return null;
  const sequence = readWholeNumber(event, endOf(event, SEQUENCE));
  const start = endOf(event, DELTA);
  if (sequence === null || start < 0 || !event.includes(pattern.type)) return null;
  const close = closingQuote(event, start);
  if (close < start) return null;
  if (event.includes(LOGPROBS) !== pattern.hasLogprobs) return null;
  for (const index of pattern.indexes) if (!event.includes(index)) return null;
  return { sequence, escaped: event.slice(start, close) };
}

/** Returns where `mark` ends in the event; -1 if the event lacks it. */
function endOf(event: string, mark: string): number {
  const at = event.indexOf(mark);
  return at < 0 ? -1 : at + mark.length;
}

/** The most digits that a sequence number may have. */
const MAX_DIGITS = 15;

/** Returns the number whose digits begin at `at`; null if there are none, or too many. */
function readWholeNumber(text: string, at: number): number | null {
  let end = at;
  while (end >= 0 && end - at <= MAX_DIGITS && isDigit(text.charCodeAt(end))) end++;
  return end > at && end - at <= MAX_DIGITS ? Number(text.slice(at, end)) : null;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
