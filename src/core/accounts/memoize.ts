/** The maximum number of entries in memory. */
const MAX_ENTRIES = 50_000;

/** The results of a lookup in memory, null results included. */
export interface Memoized<Value> {
  /** Returns what is in memory; undefined if the id was not looked up. */
  peek(id: string): Value | null | undefined;
  /** Returns the value from memory, or loads it. */
  get(id: string): Promise<Value | null>;
  /** Clears the memory. */
  clear(): void;
}

/** Keeps the results of `load` in memory. */
export function memoize<Value>(load: (id: string) => Promise<Value | null>): Memoized<Value> {
  const known = new Map<string, Value | null>();
  /** The number of calls of `clear`. */
  let epoch = 0;

  const look = async (id: string): Promise<Value | null> => {
    const epochBefore = epoch;
    const value = await load(id);
    // A value that was read before a `clear` may be out of date: return it, but do not keep it.
    if (epoch === epochBefore) {
      if (known.size >= MAX_ENTRIES) known.clear();
      known.set(id, value);
    }
    return value;
  };

  return {
    peek: (id) => known.get(id),
    async get(id) {
      const value = known.get(id);
      return value === undefined ? look(id) : value;
    },
    clear() {
      epoch += 1;
      known.clear();
    },
  };
}
