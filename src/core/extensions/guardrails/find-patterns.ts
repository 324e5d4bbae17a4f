import type { RE2JS } from "re2js";
import type { FindMatches, Match } from "./find-in-text.ts";

/** The longest regular expression. Characters. */
export const MAX_PATTERN_CHARS = 1_000;
/** The maximum number of instructions of a compiled expression: the time of a search grows with their number times the length of the text. */
const MAX_INSTRUCTIONS = 500;

/** A compiled regular expression in RE2's syntax. Its search takes time linear in the text, whatever the expression is. */
export type Pattern = RE2JS;

/** Loads the library at the first expression, because a gateway without guardrails should not spend time and memory on it. */
function loadLibrary(): typeof import("re2js") {
  return require("re2js");
}

/** Compiles a regular expression, or returns why that is not possible: part of a sentence such as "has no closing bracket". */
export function compilePattern(source: string): Pattern | string {
  const { RE2JS, RE2JSException } = loadLibrary();
  try {
    const pattern = RE2JS.compile(source);
    if (pattern.matches("")) return "also matches an empty text, so it would match every text";
    const size = pattern.programSize();
    return size <= MAX_INSTRUCTIONS
      ? pattern
      : `is too large: it is compiled to ${size} instructions, of at most ${MAX_INSTRUCTIONS}. Use lower numbers of repetitions`;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return `is not a regular expression of RE2's syntax, which has no lookaround and no backreferences: ${error.message}`;
  }
}

/** Returns a function that finds the matches of any of the patterns. `kind` names them. */
export function createPatternFinder(patterns: readonly Pattern[], kind: string): FindMatches {
  return (text, from = 0) => {
    const matches: Match[] = [];
    for (const pattern of patterns) {
      const matcher = pattern.matcher(text);
      for (let found = matcher.find(from); found; found = matcher.find()) {
        const start = matcher.start();
        const end = matcher.end();
        if (end > start) matches.push({ start, end, kind });
      }
    }
    return matches;
  };
}
