/** What differs from run to run, and the text that stands for it. The order counts. */
const CHANGING: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/\bgw_\w+…\w+/g, "gw_X"],
  [/\bgw_[\w-]{3,}…?/g, "gw_X"],
  [/\bgateway-\d{8}T\d{6}Z/g, "gateway-TIME"],
  [/\bgateway-verify-\w+/g, "gateway-verify-X"],
  [/\b([a-z]{1,8})_[0-9][0-9a-z]{5,}…?/g, "$1_X"],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, "TIME"],
  [/\d{4}-\d\d-\d\d/g, "DAY"],
  [/\b[0-9a-f]{12,}…?/g, "HEX"],
  [/\b(schema:?|version) \d[\d.]*/g, "$1 N"],
  [/\b\d[\d,.]* ?(ms|s|MB|KB|bytes|tokens\/s)\b/g, "N $1"],
  [/"(created|pid|time)":("?)[\w.:-]+/g, '"$1":$2X'],
  [/[ \t]+/g, " "],
  [/ $/gm, ""],
];

/** The mark for any text in a line; alone in a line, for any lines. */
const ANYTHING = "…";

function normalize(text: string): readonly string[] {
  const normalized = CHANGING.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
  return normalized.trim().split("\n");
}

function toPattern(line: string): RegExp {
  return new RegExp(`^${line.split(ANYTHING).map(RegExp.escape).join(".*")}$`);
}

/**
 * Compares an output with the one that a page shows. Ids, times, durations, sizes and the width of columns may differ. Returns the
 * first line of the page that the output does not have; null if there is none.
 */
export function findDifference(shown: string, actual: string): string | null {
  const lines = [...normalize(actual)];
  let mayBeLater = false;
  for (const line of normalize(shown)) {
    if (line.trim() === ANYTHING) {
      mayBeLater = true;
      continue;
    }
    const pattern = toPattern(line);
    const at = mayBeLater
      ? lines.findIndex((one) => pattern.test(one))
      : pattern.test(lines[0] ?? "")
        ? 0
        : -1;
    if (at < 0) return line;
    lines.splice(0, at + 1);
    mayBeLater = false;
  }
  return mayBeLater || lines.length === 0 ? null : `(the output goes on) ${lines[0]}`;
}
