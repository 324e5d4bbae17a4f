/** Returns the entries of a text: one per line, or separated by commas. An entry may have blanks. */
export function splitLines(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);
}
