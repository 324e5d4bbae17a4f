/** The list with `change` made in each; the list itself where that changed none, as in most conversations. */
export function mapSame<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  for (let at = 0; at < list.length; at++) {
    const item = list[at] as T;
    const changed = change(item);
    if (changed === item) continue;
    return [...list.slice(0, at), changed, ...list.slice(at + 1).map(change)];
  }
  return list;
}
