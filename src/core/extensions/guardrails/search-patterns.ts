import type { Match } from "./find-in-text.ts";
import type { Pattern } from "./find-patterns.ts";
import { PatternProgram, PatternThreads } from "./pattern-threads.ts";
import { CONTEXT_UNITS, type DecidedText, isHighSurrogate, type StreamSearch } from "./search-stream.ts";

/** The maximum length of a text that is held back because it may become a match. A longer match counts as ending there. Characters. */
export const MAX_HELD_CHARS = 8_192;

/** Returns a function that begins searches for the matches of any of the patterns. `kind` names them. */
export function createPatternSearches(patterns: readonly Pattern[], kind: string): () => StreamSearch {
  const programs = patterns.map((pattern) => new PatternProgram(pattern));
  return () => new PatternSearch(patterns, programs, kind);
}

/** All positions count from the beginning of the whole text. Text is decided before `horizon`, where the first open thread begins. */
class PatternSearch implements StreamSearch {
  private readonly threads: readonly PatternThreads[];
  /** The text from `bufferAt` on: a few decided characters, for `\b` and `^`, and the undecided text. */
  private buffer = "";
  private bufferAt = 0;
  /** Up to where text was returned. */
  private returnedAt = 0;
  /** Up to where the threads have read. */
  private at = 0;
  /** The end of the last match. */
  private matchedTo = 0;
  private matches: Match[] = [];

  constructor(
    private readonly patterns: readonly Pattern[],
    programs: readonly PatternProgram[],
    private readonly kind: string,
  ) {
    this.threads = programs.map((program) => new PatternThreads(program));
  }

  push(piece: string): DecidedText {
    this.buffer += piece;
    const end = this.bufferAt + this.buffer.length;
    // The second half of a character outside of the basic plane may come with the next piece.
    this.readTo(isHighSurrogate(this.buffer.charCodeAt(this.buffer.length - 1)) ? end - 1 : end);
    return this.take(Math.min(this.horizon, this.at));
  }

  end(): DecidedText {
    const end = this.bufferAt + this.buffer.length;
    this.readTo(end);
    this.decide(true);
    return this.take(end);
  }

  private get horizon(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const { lowestUndecided } of this.threads) lowest = Math.min(lowest, lowestUndecided);
    return lowest;
  }

  private get lowestMatch(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const { lowestMatch } of this.threads) lowest = Math.min(lowest, lowestMatch);
    return lowest;
  }

  private readTo(end: number): void {
    const { buffer, bufferAt, threads } = this;
    while (this.at < end) {
      const rune = buffer.codePointAt(this.at - bufferAt) as number;
      for (const thread of threads) thread.step(rune, this.at);
      this.at += rune > 0xffff ? 2 : 1;
      const horizon = this.limit(this.horizon);
      if (this.lowestMatch < horizon) this.decide(false);
    }
  }

  /** Gives up threads that would hold back too much. */
  private limit(horizon: number): number {
    if (this.at - horizon <= MAX_HELD_CHARS) return horizon;
    for (const thread of this.threads) thread.drop(this.at - MAX_HELD_CHARS);
    return this.horizon;
  }

  /** Adds the matches that begin before the horizon, because no open thread can change them. At the end of the text, adds all. */
  private decide(isEnd: boolean): void {
    for (;;) {
      const match = this.findFirst();
      for (const thread of this.threads) thread.lowestMatch = match?.start ?? Number.POSITIVE_INFINITY;
      if (match === null || (!isEnd && match.start >= this.horizon)) return;
      this.matches.push(match);
      this.matchedTo = match.end;
      for (const thread of this.threads) thread.drop(match.end);
    }
  }

  /** Returns the first match: the longest one that begins where a thread has completed one; null if there is none. */
  private findFirst(): Match | null {
    const from = Math.max(this.matchedTo, this.lowestMatch);
    if (from >= this.at) return null;
    const sliceAt = Math.max(this.bufferAt, from - CONTEXT_UNITS);
    const text = this.buffer.slice(sliceAt - this.bufferAt, this.at - this.bufferAt);
    let first: Match | null = null;
    for (const pattern of this.patterns) {
      const matcher = pattern.matcher(text);
      let found = matcher.find(from - sliceAt);
      while (found && matcher.end() === matcher.start()) found = matcher.find();
      if (!found) continue;
      const match = { start: sliceAt + matcher.start(), end: sliceAt + matcher.end(), kind: this.kind };
      if (
        first === null ||
        match.start < first.start ||
        (match.start === first.start && match.end > first.end)
      )
        first = match;
    }
    return first;
  }

  /** Returns the text up to a position with its matches, and keeps the rest. */
  private take(to: number): DecidedText {
    const { buffer, bufferAt, returnedAt } = this;
    const text = buffer.slice(returnedAt - bufferAt, to - bufferAt);
    const matches = this.matches.map(({ start, end, kind }) => ({
      start: start - returnedAt,
      end: end - returnedAt,
      kind,
    }));
    this.matches = [];
    this.returnedAt = to;
    this.bufferAt = Math.max(bufferAt, to - CONTEXT_UNITS);
    this.buffer = buffer.slice(this.bufferAt - bufferAt);
    return { text, matches };
  }
}
