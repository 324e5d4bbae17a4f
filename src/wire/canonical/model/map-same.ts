/** Maps a list; returns the same list if no element changed, as in most conversations. */
export function mapSame<T>(list: readonly T[], change: (item: T, index: number) => T): readonly T[] {
  let index = 0;
  for (const item of list) {
    const changed = change(item, index);
    if (changed !== item) return mapFrom(list, index, changed, change);
    index++;
  }
  return list;
}

/**
 * Maps the rest of a list whose element at `index` is the first that changed. A separate function, because in `mapSame` the closure over
 * the index would allocate an object for each element.
 */
function mapFrom<T>(
  list: readonly T[],
  index: number,
  changed: T,
  change: (item: T, index: number) => T,
): readonly T[] {
  const mapped = list.slice(0, index);
  mapped.push(changed);
  for (let at = index + 1; at < list.length; at++) mapped.push(change(list[at] as T, at));
  return mapped;
}
