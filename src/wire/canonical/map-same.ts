/** Maps a list; returns the same list if no element changed, as in most conversations. */
export function mapSame<T>(list: readonly T[], change: (item: T, index: number) => T): readonly T[] {
  for (let at = 0; at < list.length; at++) {
    const item = list[at] as T;
    const changed = change(item, at);
    if (changed === item) continue;
    const rest = list.slice(at + 1).map((other, offset) => change(other, at + 1 + offset));
    return [...list.slice(0, at), changed, ...rest];
  }
  return list;
}
