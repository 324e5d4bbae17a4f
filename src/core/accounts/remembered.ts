/** Entries that may be remembered at once. */
const MAX_REMEMBERED = 50_000;

/** What a store holds, in memory as far as it was asked for; also that something is not there. */
export interface Remembered<Value> {
  /** What memory knows; undefined where it does not. */
  peek(id: string): Value | null | undefined;
  /** From memory at once; a promise only where memory does not know. */
  get(id: string): Value | null | Promise<Value | null>;
  /** Forgets everything. */
  forget(): void;
}

/** A memory over `load`, which asks the store. */
export function remember<Value>(load: (id: string) => Promise<Value | null>): Remembered<Value> {
  const known = new Map<string, Value | null>();
  /** Counts how often everything was forgotten. */
  let epoch = 0;

  const look = async (id: string): Promise<Value | null> => {
    const epochBefore = epoch;
    const value = await load(id);
    // What was read before something changed may be what it was before; it is not remembered.
    if (epoch === epochBefore) {
      if (known.size >= MAX_REMEMBERED) known.clear();
      known.set(id, value);
    }
    return value;
  };

  return {
    peek: (id) => known.get(id),
    get(id) {
      const value = known.get(id);
      return value === undefined ? look(id) : value;
    },
    forget() {
      epoch += 1;
      known.clear();
    },
  };
}
