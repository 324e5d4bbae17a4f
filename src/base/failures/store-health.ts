import type { Clock } from "../time/clock.ts";
import { StoreError } from "./store-error.ts";

/** How long a lookup may keep a request waiting. Milliseconds. */
const LOOKUP_MS = 2_000;
/** Lookups in progress; more would only wait for connections. */
const MAX_LOOKUPS = 32;
/** The maximum number of lookups that wait for others. Further lookups fail immediately. */
const MAX_WAITING = 1_000;

interface StoreHealthOptions {
  readonly clock: Clock;
  /** How long what was read from the store may be used after the last successful poll. Milliseconds. */
  readonly maxStalenessMs: number;
}

/**
 * What a process knows about its store. One poll, repeated at short intervals, reports here; requests ask here instead of waiting
 * for a store that does not answer.
 */
export class StoreHealth {
  private pollFailed = false;
  private stale = false;
  private readAt: number;
  private inProgress = 0;
  /** Starts the lookups that wait, the oldest first. */
  private readonly waiting = new Set<() => void>();

  constructor(private readonly options: StoreHealthOptions) {
    this.readAt = options.clock.now();
  }

  /** Whether the last poll has failed, or has no result in time. */
  get isAway(): boolean {
    return this.pollFailed;
  }

  /** Whether no poll has succeeded for the maximum staleness: nothing that was read from the store may be used. */
  get isStale(): boolean {
    return this.stale;
  }

  /** When the last successful poll began. Milliseconds since the epoch. */
  get lastReadAt(): number {
    return this.readAt;
  }

  /** A value that was last current before this time must not be used any more. Milliseconds since the epoch. */
  get oldestUsable(): number {
    return this.options.clock.now() - this.options.maxStalenessMs;
  }

  /** Reports a successful poll, and when it began. Milliseconds since the epoch. */
  succeeded(beganAt: number): void {
    this.readAt = beganAt;
    this.pollFailed = false;
    this.stale = false;
  }

  /** Reports a poll that has failed, or has no result in time. Repeated while that lasts. */
  failed(): void {
    this.pollFailed = true;
    this.stale = this.readAt < this.oldestUsable;
  }

  /** @throws StoreError if nothing that was read from the store may be used any more. */
  requireFresh(): void {
    if (this.stale)
      throw new StoreError(`nothing could be read for more than ${this.options.maxStalenessMs} ms`);
  }

  /**
   * Calls `load` for a request that waits for the result. Rejects with a `StoreError`: immediately while the store is unavailable, and
   * after two seconds in any case. Bounds the number of lookups in progress, including abandoned ones.
   */
  async lookup<Result>(load: () => Promise<Result>): Promise<Result> {
    if (this.pollFailed) throw new StoreError("it could not be reached a moment ago");
    const late = Promise.withResolvers<never>();
    const timer = this.options.clock.after(LOOKUP_MS, () =>
      late.reject(new StoreError(`a lookup has had no result for ${LOOKUP_MS} ms`)),
    );
    try {
      if (this.inProgress >= MAX_LOOKUPS) await this.takeTurn(late.promise);
      return await Promise.race([this.count(load), late.promise]);
    } finally {
      timer.cancel();
    }
  }

  private async takeTurn(late: Promise<never>): Promise<void> {
    if (this.waiting.size >= MAX_WAITING) throw new StoreError(`${MAX_WAITING} lookups wait for it already`);
    const turn = Promise.withResolvers<void>();
    this.waiting.add(turn.resolve);
    try {
      await Promise.race([turn.promise, late]);
    } finally {
      this.waiting.delete(turn.resolve);
    }
  }

  private async count<Result>(load: () => Promise<Result>): Promise<Result> {
    this.inProgress += 1;
    try {
      return await load();
    } finally {
      this.inProgress -= 1;
      const [next] = this.waiting;
      if (next !== undefined) this.waiting.delete(next);
      next?.();
    }
  }
}
