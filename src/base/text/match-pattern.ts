/**
 * Returns whether an id matches a pattern, ignoring case. `*` matches any characters. Takes linear time: between two stars the first
 * match is sufficient, so there is no backtracking.
 */
export function matchPattern(pattern: string, id: string): boolean {
  const parts = pattern.toLowerCase().split("*");
  const text = id.toLowerCase();
  const first = parts[0] as string;
  if (parts.length === 1) return text === first;
  const last = parts.at(-1) as string;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
