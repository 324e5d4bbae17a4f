/** The maximum number of lines that are compared exactly. */
const MAX_COMPARED = 2_000;

/** Returns the lines that differ between two texts, with `-` and `+` before them. */
export function diffLines(before: string, after: string): readonly string[] {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (
    end < Math.min(old.length, fresh.length) - start &&
    old[old.length - 1 - end] === fresh[fresh.length - 1 - end]
  )
    end++;
  return compare(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
}

/** Finds the longest common sequence of lines. */
function compare(old: readonly string[], fresh: readonly string[]): string[] {
  if (old.length > MAX_COMPARED || fresh.length > MAX_COMPARED)
    return [...old.map((line) => `- ${line}`), ...fresh.map((line) => `+ ${line}`)];
  const common = old.map(() => new Uint16Array(fresh.length + 1));
  const lengthAt = (a: number, b: number): number => common[a]?.[b] ?? 0;
  for (let a = old.length - 1; a >= 0; a--)
    for (let b = fresh.length - 1; b >= 0; b--)
      (common[a] as Uint16Array)[b] =
        old[a] === fresh[b] ? lengthAt(a + 1, b + 1) + 1 : Math.max(lengthAt(a + 1, b), lengthAt(a, b + 1));
  const lines: string[] = [];
  let [a, b] = [0, 0];
  while (a < old.length || b < fresh.length) {
    if (a < old.length && b < fresh.length && old[a] === fresh[b]) [a, b] = [a + 1, b + 1];
    else if (b >= fresh.length || (a < old.length && lengthAt(a + 1, b) >= lengthAt(a, b + 1)))
      lines.push(`- ${old[a++]}`);
    else lines.push(`+ ${fresh[b++]}`);
  }
  return lines;
}
