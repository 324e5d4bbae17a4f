import { type FindMatches, type Match, withoutOverlaps } from "./find-in-text.ts";
import { joinPii, listPiiFinders, type PiiType, startOfCutIban } from "./find-pii.ts";
import { CONTEXT_UNITS, type DecidedText, isHighSurrogate, type StreamSearch } from "./search-stream.ts";

/** Returns a function that begins searches for these kinds of personal data. */
export function createPiiSearches(types: readonly PiiType[]): () => StreamSearch {
  const finders = listPiiFinders(types);
  return () => new PiiSearch(finders);
}

/**
 * Searches a text that arrives in pieces for personal data. All such data is short, so the end of the text tells from where on it may be
 * incomplete.
 */
class PiiSearch implements StreamSearch {
  /** Up to `CONTEXT_UNITS` of decided text, followed by the undecided text. */
  private buffer = "";
  /** The start of the undecided text in the buffer. */
  private from = 0;

  constructor(private readonly finders: readonly FindMatches[]) {}

  push(piece: string): DecidedText {
    this.buffer += piece;
    const to = startOfIncomplete(this.buffer, this.from);
    const splitsPair =
      to > this.from && to < this.buffer.length && isHighSurrogate(this.buffer.charCodeAt(to - 1));
    return this.take(splitsPair ? to - 1 : to);
  }

  end(): DecidedText {
    return this.take(this.buffer.length);
  }

  /** Returns the text up to an index, or less if a match goes beyond it, because what is not decided may take precedence over it. */
  private take(limit: number): DecidedText {
    const { buffer, from, finders } = this;
    if (limit === from) return NOTHING;
    const found = finders.map((find) => find(buffer, from));
    const to = buffer.length - from > MAX_HELD_UNITS ? limit : startOfOverlapping(found.flat(), limit);
    const text = buffer.slice(from, to);
    const decided = joinPii(found.map((list) => list.filter(({ end }) => end <= to)));
    const matches = withoutOverlaps(decided).map(({ start, end, kind }) => ({
      start: start - from,
      end: end - from,
      kind,
    }));
    const bufferAt = Math.max(0, to - CONTEXT_UNITS);
    this.buffer = buffer.slice(bufferAt);
    this.from = to - bufferAt;
    return { text, matches };
  }
}

/** Returns the highest index up to a limit that no match goes beyond. */
function startOfOverlapping(matches: readonly Match[], limit: number): number {
  let to = limit;
  for (const { start, end } of matches.toSorted((a, b) => b.end - a.end))
    if (start < to && end > to) to = start;
  return to;
}

/** Numbers that overlap each other without end are not held back further. */
const MAX_HELD_UNITS = 4_096;

const NOTHING: DecidedText = { text: "", matches: [] };

/** Returns the first position of possible personal data that more text could complete or change. */
function startOfIncomplete(text: string, from: number): number {
  return Math.min(startOfWord(text, from), startOfNumber(text, from), startOfCutIban(text, from));
}

/** The characters of e-mail and network addresses, and of numbers without spaces. */
const WORD_CHAR = /[\p{L}\p{M}\p{N}\p{Cs}._%+'@:\\-]/u;
/** The maximum length of a domain: eight labels and an ending, with at most two units for each character. */
const DOMAIN_UNITS = 2 * (8 * 64 + 24);
/** The maximum length of the part before an `@`, which is longer than anything else that is searched for. */
const LOCAL_UNITS = 64;

/** Returns the start of the last word. In a long word, returns the start of a possible address that reaches the end. */
function startOfWord(text: string, from: number): number {
  const least = Math.max(from, text.length - DOMAIN_UNITS - LOCAL_UNITS);
  let start = text.length;
  let at = text.length;
  while (start > least && isWordChar(text, start - 1)) {
    start--;
    if (text.charAt(start) === "@") at = start;
  }
  return Math.max(start, at - LOCAL_UNITS - 1);
}

function isWordChar(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code < 128 ? ASCII_WORD_CHARS[code] === true : WORD_CHAR.test(text.charAt(index));
}

const ASCII_WORD_CHARS = Array.from({ length: 128 }, (_, code) => WORD_CHAR.test(String.fromCharCode(code)));

/** The longest phone number: a plus and 15 digits with two separators before each. Cards are shorter. */
const NUMBER_UNITS = 48;

/** Returns the start of the digits and separators at the end of the text that may belong to a number. */
function startOfNumber(text: string, from: number): number {
  const least = Math.max(from, text.length - NUMBER_UNITS);
  let start = text.length;
  for (let at = text.length - 1; at >= least; at--) {
    const char = text.charAt(at);
    if (!NUMBER_CHARS.includes(char)) break;
    if (NUMBER_STARTS.includes(char)) start = at;
  }
  return start;
}

const NUMBER_STARTS = "0123456789+(";
const NUMBER_CHARS = `${NUMBER_STARTS}) .-`;
