interface BoundedMapOptions<Key, Value> {
  /** The upper bound of the total cost of all entries: their number if each costs 1. */
  readonly max: number;
  /** Entries for which it returns false are kept, even if the map grows past its bound. */
  readonly mayEvict?: (value: Value) => boolean;
  /** Called for each entry that is evicted to make room, after it was removed. Not called by `delete`, `clear` or a replacement. */
  readonly onEvict?: (key: Key, value: Value) => void;
}

interface Entry<Value> {
  readonly value: Value;
  readonly cost: number;
}

/**
 * A map of bounded size. An insertion past the bound evicts the oldest entries. `set` and `touch` make an entry the newest, `get`
 * does not: a cache that calls `touch` on a hit evicts the least recently used entry. All operations take constant time.
 */
export class BoundedMap<Key, Value> {
  /** The oldest first. */
  private readonly entries = new Map<Key, Entry<Value>>();
  private totalCost = 0;

  constructor(private readonly options: BoundedMapOptions<Key, Value>) {}

  get size(): number {
    return this.entries.size;
  }

  /** The total cost of all entries; at most `max`. */
  get cost(): number {
    return this.totalCost;
  }

  get(key: Key): Value | undefined {
    return this.entries.get(key)?.value;
  }

  /** Returns the value like `get`, and makes its entry the newest. */
  touch(key: Key): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** Stores an entry as the newest, replacing one with the same key. An entry that costs more than `max` evicts all, including itself. */
  set(key: Key, value: Value, cost = 1): void {
    this.delete(key);
    this.entries.set(key, { value, cost });
    this.totalCost += cost;
    if (this.totalCost > this.options.max) this.evictOldest();
  }

  /** Removes an entry. Returns whether there was one. */
  delete(key: Key): boolean {
    const entry = this.entries.get(key);
    if (entry === undefined) return false;
    this.totalCost -= entry.cost;
    return this.entries.delete(key);
  }

  /** Returns the values, the oldest first. They can be iterated while entries are added and removed. */
  *values(): IterableIterator<Value> {
    for (const { value } of this.entries.values()) yield value;
  }

  /** Lists the entries, the oldest first. */
  *[Symbol.iterator](): IterableIterator<[Key, Value]> {
    for (const [key, { value }] of this.entries) yield [key, value];
  }

  clear(): void {
    this.entries.clear();
    this.totalCost = 0;
  }

  private evictOldest(): void {
    for (const [key, { value }] of this.entries) {
      if (this.totalCost <= this.options.max) return;
      if (this.options.mayEvict?.(value) === false) continue;
      this.delete(key);
      this.options.onEvict?.(key, value);
    }
  }
}
