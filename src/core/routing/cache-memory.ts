import { BoundedMap } from "../../base/bounded-map.ts";
import type { TokenUsage } from "../../wire/conversation/usage.ts";

/**
 * Remembers, in memory, what was sent to prompt caches and whether it was read again, by the hash of an account's prompt beginning or of its
 * session at one endpoint. With it the gateway decides whether marking a prompt pays.
 */
export interface CacheMemory {
  /** Returns whether a prompt with this beginning was sent so recently that it would still be cached. */
  wasSent(beginning: string, now: number): boolean;
  /** Returns whether what was written under this key was not read again, twice. */
  isUnread(key: string, now: number): boolean;
  /** Records that a prompt with this beginning was sent. `until`: when a cached one expires. Milliseconds since the epoch. */
  recordSent(beginning: string, until: number): void;
  /** Records what the vendor has read and written of a prompt that was marked under this key. */
  recordUse(key: string, usage: Pick<TokenUsage, "cachedTokens" | "cacheWriteTokens">, now: number): void;
}

/** The most beginnings, and the most sessions, that are remembered. The least recently used one is evicted first. */
const MAX_KEYS = 50_000;
/** Consecutive writes that nothing has read, after which a session is not marked any more. */
const MAX_UNREAD = 2;
/** How long that holds. */
const UNREAD_MS = 3_600_000;

interface Writes {
  /** Tokens of the last prompt's marked beginning: the next one reads as many at least. */
  readonly cachedTokens: number;
  /** Writes since the last read. */
  readonly unread: number;
  readonly until: number;
}

/** Creates an empty memory. */
export function createCacheMemory(): CacheMemory {
  const sent = new BoundedMap<string, number>({ max: MAX_KEYS });
  const writes = new BoundedMap<string, Writes>({ max: MAX_KEYS });
  const recall = (key: string, now: number): Writes | null => {
    const known = writes.get(key);
    return known !== undefined && known.until > now ? known : null;
  };
  return {
    wasSent: (beginning, now) => (sent.get(beginning) ?? 0) > now,
    isUnread: (key, now) => (recall(key, now)?.unread ?? 0) >= MAX_UNREAD,
    recordSent: (beginning, until) => sent.set(beginning, until),
    recordUse(key, { cachedTokens, cacheWriteTokens }, now) {
      const before = recall(key, now);
      const isRead = before !== null && cachedTokens > 0 && cachedTokens >= before.cachedTokens;
      const unread = (isRead ? 0 : (before?.unread ?? 0)) + (cacheWriteTokens > 0 ? 1 : 0);
      writes.set(key, { cachedTokens: cachedTokens + cacheWriteTokens, unread, until: now + UNREAD_MS });
    },
  };
}
