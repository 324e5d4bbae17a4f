/** What a limit says to one more request. Times in milliseconds. */
export interface LimitVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  /** Left after this one. */
  readonly remaining: number;
  /** Until the whole limit is free again. */
  readonly resetMs: number;
  /** Until one more would be allowed; 0 when it is. */
  readonly retryAfterMs: number;
}

/** Counts requests by key over a window that slides: exact, at one number a request. */
export interface SlidingWindow {
  /** Counts a request at `now`, unless the limit is reached. */
  admit(key: string, now: number): LimitVerdict;
  /** How the limit stands, counting nothing. */
  peek(key: string, now: number): LimitVerdict;
  /** Counts a request of the past, from before a restart. */
  restore(key: string, at: number): void;
}

/** Keys that are counted at once. Past it the key that was quiet longest is forgotten. */
const MAX_KEYS = 100_000;

/** A window of `windowMs` in which each key may make `limit` requests. */
export function createSlidingWindow(limit: number, windowMs: number): SlidingWindow {
  /** Times by key, rising; the key used last stands last. */
  const times = new Map<string, number[]>();

  const touch = (key: string, now: number): number[] => {
    const known = times.get(key) ?? [];
    times.delete(key);
    const expired = known.findIndex((at) => at > now - windowMs);
    const current = expired === 0 ? known : expired < 0 ? [] : known.slice(expired);
    times.set(key, current);
    if (times.size > MAX_KEYS) times.delete(times.keys().next().value as string);
    return current;
  };

  const judge = (current: readonly number[], allowed: boolean, now: number): LimitVerdict => {
    const newest = current.at(-1);
    const blocking = current[current.length - limit];
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - current.length),
      resetMs: newest === undefined ? 0 : newest + windowMs - now,
      retryAfterMs: allowed || blocking === undefined ? 0 : blocking + windowMs - now,
    };
  };

  return {
    admit(key, now) {
      const current = touch(key, now);
      const allowed = current.length < limit;
      if (allowed) current.push(now);
      return judge(current, allowed, now);
    },
    peek(key, now) {
      const current = (times.get(key) ?? []).filter((at) => at > now - windowMs);
      return judge(current, current.length < limit, now);
    },
    restore(key, at) {
      const known = times.get(key);
      if (known === undefined) times.set(key, [at]);
      else {
        known.push(at);
        known.sort((a, b) => a - b);
      }
    },
  };
}
