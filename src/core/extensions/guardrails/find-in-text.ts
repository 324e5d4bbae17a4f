/** A part of a text that a guardrail matches. */
export interface Match {
  readonly start: number;
  readonly end: number;
  /** The kind of data, as it appears in masks: `EMAIL`. */
  readonly kind: string;
}

/**
 * Finds the matches of a guardrail in a text of bounded length, from an index on (by default from its start), in time that is linear in the
 * text. Matches may be in any order and overlap.
 */
export type FindMatches = (text: string, from?: number) => readonly Match[];

/** The maximum length of a text that is searched in one step. Such a search takes milliseconds. Characters. */
export const WINDOW_CHARS = 64 * 1024;
/** By how much the windows of a longer text overlap: matches that are shorter are found wherever they are. Characters. */
const OVERLAP_CHARS = 1024;

/**
 * Searches a text in windows and returns its matches in order, without overlaps: of two that overlap, the earlier remains, then the
 * longer. `pause` is awaited after each window of a long text, so that other requests are served meanwhile.
 */
export async function findInText(
  text: string,
  find: FindMatches,
  pause: () => Promise<void>,
): Promise<readonly Match[]> {
  if (text.length <= WINDOW_CHARS) return withoutOverlaps(find(text));
  const matches: Match[] = [];
  for (let at = 0; at < text.length; at += WINDOW_CHARS - OVERLAP_CHARS) {
    const end = Math.min(text.length, at + WINDOW_CHARS);
    for (const { start: from, end: to, kind } of find(text.slice(at, end))) {
      // A match at an inner edge may be cut off; the neighbouring window has all of it.
      const isCut = (from === 0 && at > 0) || (at + to === end && end < text.length);
      if (!isCut) matches.push({ start: at + from, end: at + to, kind });
    }
    await pause();
    if (end === text.length) break;
  }
  return withoutOverlaps(matches);
}

/** Returns matches in order without overlaps: of two that overlap, the earlier, then the longer. */
export function withoutOverlaps(matches: readonly Match[]): readonly Match[] {
  if (matches.length < 2) return matches;
  const kept: Match[] = [];
  let end = 0;
  for (const match of matches.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (match.start < end) continue;
    kept.push(match);
    end = match.end;
  }
  return kept;
}
