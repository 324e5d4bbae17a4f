/** Removals after which a map with fewer entries is renewed. */
const MIN_REMOVALS = 32;

/**
 * A map of what is under way, in the order in which it was added. Use it in place of a `Map` whose entries come and go with requests. A
 * `Map` replaces its table again and again and links each table to the next one, so that a collection of young objects reaches most of
 * what was ever in the map through its first old table, and keeps it. Here a new `Map` takes over after as many removals as there are
 * entries, and nothing refers to the former one.
 */
export class PassingMap<Key, Value> {
  private entries = new Map<Key, Value>();
  private removals = 0;

  get size(): number {
    return this.entries.size;
  }

  has(key: Key): boolean {
    return this.entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.entries.get(key);
  }

  /** Adds an entry, or replaces the value of the one with this key. */
  set(key: Key, value: Value): void {
    this.entries.set(key, value);
  }

  /** Removes an entry. Returns whether there was one. */
  delete(key: Key): boolean {
    if (!this.entries.delete(key)) return false;
    this.removals += 1;
    if (this.removals >= Math.max(MIN_REMOVALS, this.entries.size)) this.renew();
    return true;
  }

  /** Lists the values, the one that was added first in front. The current one may be removed; others that are removed may be listed. */
  values(): IterableIterator<Value> {
    return this.entries.values();
  }

  /** Lists the entries as `values` does. */
  [Symbol.iterator](): IterableIterator<[Key, Value]> {
    return this.entries.entries();
  }

  private renew(): void {
    this.entries = new Map(this.entries);
    this.removals = 0;
  }
}
