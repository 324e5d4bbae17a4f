/** Removals after which a map with fewer entries is renewed. */
const MIN_REMOVALS = 32;

/**
 * A map of objects that are in progress, in the order in which they were added. Use it instead of a `Map` for entries that come and go with
 * requests. A `Map` replaces its table from time to time and links each old table to the next one. Through its first old table, a
 * collection of young objects then reaches most entries that were ever in the map, and keeps them. This class replaces the whole `Map`
 * after as many removals as there are entries, and nothing refers to the old one.
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

  /** Lists the values, the oldest first. The current value may be removed during the iteration; other removed values may still be listed. */
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
