/** Joins words for a sentence: `a`, `a or b`, `a, b or c`. Returns "" for no words. */
export function joinWords(words: readonly string[], conjunction: "and" | "or"): string {
  return [words.slice(0, -1).join(", "), words.at(-1) ?? ""]
    .filter((part) => part !== "")
    .join(` ${conjunction} `);
}
