/**
 * Whether an id fits a pattern, whose every `*` stands for any characters, also none. Letter case does not matter, as in
 * ids. Takes time in proportion to both lengths, whatever the pattern: callers write them.
 */
export function matchPattern(pattern: string, id: string): boolean {
  const [first = "", ...rest] = pattern.toLowerCase().split("*");
  const text = id.toLowerCase();
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  // The first place that fits is the best: it leaves most to what follows.
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether an id fits one of the patterns. */
export function matchAnyPattern(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchPattern(pattern, id));
}
