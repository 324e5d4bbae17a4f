import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { StoreError } from "../../../base/failures/store-error.ts";
import type { StoreHealth } from "../../../base/failures/store-health.ts";

/** Values in memory. */
const MAX_VALUES = 50_000;
/** Ids in memory that the store does not have. Apart from the values, which requests with made-up ids must not evict. */
const MAX_MISSING = 10_000;
/** The maximum number of changes of the store whose times are remembered. The times tell how old an outdated value is. */
const MAX_EPOCHS = 10_000;

/** The results of a lookup in memory, null results included. */
export interface Memoized<Value> {
  /** Returns the value in memory, current or not; undefined if there is none. */
  peek(id: string): Value | undefined;
  /** Returns the value in memory if it is certainly current; undefined otherwise. */
  peekCurrent(id: string): Value | undefined;
  /**
   * Returns the value from memory, or loads it; null if the store has none. While the store is unavailable, returns a value that may be
   * outdated. Rejects with a `StoreError` if there is no value in memory and the store is unavailable.
   */
  get(id: string): Promise<Value | null>;
  /** Another process has changed a value: all are loaded again when they are needed. */
  expire(): void;
  /** This process has changed a value: the old one is never returned again. */
  forget(id: string): void;
}

/** Keeps the results of `load` in memory. */
export function memoize<Value>(
  load: (id: string) => Promise<Value | null>,
  health: StoreHealth,
): Memoized<Value> {
  const memory = new Memory(load, health);
  return {
    peek: (id) => memory.peek(id),
    peekCurrent: (id) => memory.peekCurrent(id),
    get: (id) => memory.get(id),
    expire: () => memory.expire(),
    forget: (id) => memory.forget(id),
  };
}

/** A value, and the epoch in which it was current. */
interface Known<Value> {
  readonly value: Value;
  readonly epoch: number;
}

class Memory<Value> {
  /** The number of calls of `expire`. */
  private epoch = 0;
  /** When the store was last read in each epoch that has ended. Milliseconds since the epoch. */
  private readonly ends = new BoundedMap<number, number>({ max: MAX_EPOCHS });
  private readonly known = new BoundedMap<string, Known<Value>>({ max: MAX_VALUES });
  /** The epoch in which the store did not have an id. */
  private readonly missing = new BoundedMap<string, number>({ max: MAX_MISSING });
  /** Loads in progress whose result may be kept. Callers that need the same value share them. */
  private readonly loading = new Map<string, Promise<Value | null>>();

  constructor(
    private readonly load: (id: string) => Promise<Value | null>,
    private readonly health: StoreHealth,
  ) {}

  peek(id: string): Value | undefined {
    return this.known.get(id)?.value;
  }

  peekCurrent(id: string): Value | undefined {
    const known = this.known.get(id);
    return known?.epoch === this.epoch && !this.health.isStale ? known.value : undefined;
  }

  get(id: string): Promise<Value | null> {
    const current = this.peekCurrent(id);
    return current === undefined ? this.find(id, this.known.get(id)) : Promise.resolve(current);
  }

  expire(): void {
    this.ends.set(this.epoch, this.health.lastReadAt);
    this.epoch += 1;
    this.loading.clear();
  }

  forget(id: string): void {
    this.known.delete(id);
    this.missing.delete(id);
    this.loading.delete(id);
  }

  /** Loads a value that is not in memory, or may be outdated there. */
  private async find(id: string, known: Known<Value> | undefined): Promise<Value | null> {
    const { health } = this;
    health.requireFresh();
    const outdated = known !== undefined && this.isUsable(known) ? known : null;
    if (outdated !== null && health.isAway) return outdated.value;
    if (this.missing.get(id) === this.epoch && !health.isAway) return null;
    try {
      return await (this.loading.get(id) ?? this.look(id));
    } catch (error) {
      if (outdated !== null && error instanceof StoreError && this.known.get(id) === known)
        return outdated.value;
      throw error;
    }
  }

  private look(id: string): Promise<Value | null> {
    const looking = this.health
      .lookup(() => this.load(id))
      .then((value) => {
        // A value that was read before a change may be outdated: return it, but do not keep it.
        if (this.loading.get(id) === looking) this.keep(id, value);
        return value;
      })
      .finally(() => {
        if (this.loading.get(id) === looking) this.loading.delete(id);
      });
    this.loading.set(id, looking);
    return looking;
  }

  private keep(id: string, value: Value | null): void {
    if (value === null) {
      this.known.delete(id);
      this.missing.set(id, this.epoch);
    } else {
      this.missing.delete(id);
      this.known.set(id, { value, epoch: this.epoch });
    }
  }

  /** Whether an outdated value was current within the maximum staleness. */
  private isUsable({ epoch }: Known<Value>): boolean {
    const end = this.ends.get(epoch);
    return end !== undefined && end >= this.health.oldestUsable;
  }
}
