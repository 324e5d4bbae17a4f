// Replaces `ResponsesRelay.readEvent` for events that continue a text, and gives the client the same.

import { closingQuote, type JsonNode } from "../../base/json/scan.ts";
import { eventText, findEventEnd } from "../../base/sse/event-bytes.ts";
import type { ByteOutput } from "../../base/text/byte-output.ts";

/** An event of the vendor that is an example of those to copy. */
interface ExampleEvent {
  readonly name: string;
  /** Bytes as Latin-1. */
  readonly data: string;
  readonly root: JsonNode;
}

/** An event that was copied. */
interface CopiedDelta {
  /** Where the next event begins. */
  readonly next: number;
  readonly sequence: number;
  /** Its text, escaped as in the JSON. */
  readonly escaped: string;
}

/** The pattern that the delta events of one text share. Most events of a stream are such deltas. */
export class DeltaPattern {
  private constructor(
    private readonly begin: string,
    private readonly type: string,
    /** The members that give the indexes of the text in the output. */
    private readonly indexes: readonly string[],
    private readonly hasLogprobs: boolean,
    /** The text that is added to each event before its last brace. */
    private readonly added: string,
  ) {}

  /** Makes the pattern of an event; null if the event lacks what a pattern needs. The client's events have `added` before their last brace. */
  static create({ name, data, root }: ExampleEvent, added: string): DeltaPattern | null {
    const type = `"type":"${name}"`;
    if (![type, SEQUENCE, DELTA].every((mark) => data.includes(mark))) return null;
    const begin = `event: ${name}\ndata: {`;
    return new DeltaPattern(begin, type, listIndexes(data, root), data.includes(LOGPROBS), added);
  }

  /** Copies the event that begins at `from` if it matches. Returns null if it does not match or is incomplete. */
  copyEvent(piece: Uint8Array, from: number, out: ByteOutput): CopiedDelta | null {
    // The blank line can not be earlier in an event that begins as the pattern does.
    const next = findEventEnd(piece, from + this.begin.length - 1);
    if (next < 0) return null;
    const text = eventText(piece, from, next);
    const known = this.match(text);
    if (known === null) return null;
    out.appendLatin1(this.added === "" ? text : text.slice(0, -END.length) + this.added + END);
    return { next, ...known };
  }

  /** Reads the text of an event, up to its blank line; null if it does not match. */
  private match(event: string): Pick<CopiedDelta, "sequence" | "escaped"> | null {
    const data = this.begin.length;
    const end = event.length - "\n\n".length;
    if (!event.startsWith(this.begin) || event.indexOf("\n", data) !== end || event.charAt(end - 1) !== "}")
      return null;
    const sequence = readWholeNumber(event, endOf(event, SEQUENCE));
    const start = endOf(event, DELTA);
    if (sequence === null || start < 0 || !event.includes(this.type)) return null;
    const close = closingQuote(event, start);
    if (close < start) return null;
    if (event.includes(LOGPROBS) !== this.hasLogprobs) return null;
    for (const index of this.indexes) if (!event.includes(index)) return null;
    return { sequence, escaped: event.slice(start, close) };
  }
}

/** The end of an event that matches. */
const END = "}\n\n";

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

/** Returns where `mark` ends in the event; -1 if the event lacks it. */
function endOf(event: string, mark: string): number {
  const at = event.indexOf(mark);
  return at < 0 ? -1 : at + mark.length;
}

/** Maximum digits of a sequence number. */
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
