/** Characters of a name that are compared. The time of a comparison grows with the product of both lengths. */
const MAX_CHARS = 64;

/**
 * Returns at most `limit` names that are similar to `wanted`, the most similar first. Names are similar if there are few typing errors
 * between them (letters added, missing, replaced or swapped), or if one contains the other as a whole word between `_`, `.` or `-`. Case is
 * ignored.
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

/**
 * Returns how different two names are: the number of typing errors if that is at most a third of the longer name, or the length of the
 * longer name if the shorter one is a whole word of it. Null if they are not similar.
 */
function distanceOf(a: string, b: string): number | null {
  const longest = Math.max(a.length, b.length);
  const most = Math.max(1, Math.floor(longest / 3));
  const distance = countEdits(a, b);
  if (distance <= most) return distance;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 4 && long.split(/[_.-]/).includes(short) ? longest : null;
}

/** Returns the smallest number of letters to add, remove, replace or swap with their neighbor that turns `a` into `b` (optimal string alignment distance). */
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
