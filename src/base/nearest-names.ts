/** The longest name that is compared. Comparing costs the product of both lengths. */
const MAX_CHARS = 64;

/**
 * Returns the names that someone who wrote `wanted` may have meant, at most `limit`, the nearest first: those with few letters added,
 * left out, replaced or swapped, and those of which it is a whole part between separators. Upper and lower case are the same.
 */
export function nearestNames(wanted: string, names: readonly string[], limit: number): readonly string[] {
  const written = wanted.slice(0, MAX_CHARS).toLowerCase();
  return names
    .map((name) => ({ name, distance: distanceOf(written, name.slice(0, MAX_CHARS).toLowerCase()) }))
    .filter(({ distance }) => distance !== null)
    .sort((a, b) => (a.distance as number) - (b.distance as number))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Returns a distance of at most a third of the letters; null for names that have less in common. */
function distanceOf(a: string, b: string): number | null {
  const longest = Math.max(a.length, b.length);
  const most = Math.max(1, Math.floor(longest / 3));
  const distance = countEdits(a, b);
  if (distance <= most) return distance;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 4 && long.split(/[_.-]/).includes(short) ? longest : null;
}

/** Counts the letters that are added, left out, replaced, or swapped with their neighbor (optimal string alignment). */
function countEdits(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let at = 1; at <= b.length; at++) {
      const isSame = a[row - 1] === b[at - 1];
      let least = Math.min(
        (last[at] as number) + 1,
        (next[at - 1] as number) + 1,
        (last[at - 1] as number) + (isSame ? 0 : 1),
      );
      const isSwapped = row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1];
      if (isSwapped) least = Math.min(least, (before[at - 2] as number) + 1);
      next.push(least);
    }
    before = last;
    last = next;
  }
  return last[b.length] as number;
}
