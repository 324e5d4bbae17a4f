import type { Match } from "./find-in-text.ts";

/** A stretch of a text that no further text can change anymore, and its matches: in order, without overlaps, by index in `text`. */
export interface DecidedText {
  readonly text: string;
  readonly matches: readonly Match[];
}

/**
 * Searches a text that arrives in pieces. All pieces that it returns together are the text, and the matches are the same however the
 * text is split.
 */
export interface StreamSearch {
  /** Adds the next piece. Returns the text that is decided so far. The rest is held back, because it may be part of a match. */
  push(piece: string): DecidedText;
  /** Returns the rest at the end of the text. It is the last call. */
  end(): DecidedText;
}

/**
 * The length of the decided text that a search keeps before the undecided text, because `\b` and `^` test the character before a match.
 * One character: up to two units of UTF-16.
 */
export const CONTEXT_UNITS = 2;

/** Whether a unit of UTF-16 is the first half of a character. Both halves stay in one piece. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
