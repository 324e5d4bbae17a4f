import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import type { TokenUsage } from "../../../wire/conversation/usage.ts";
import type { ProviderRecord } from "../../catalog/records/records.ts";

/**
 * Remembers in memory what was sent to prompt caches, and whether it was read again: for the beginning of an account's prompts or a session
 * at one endpoint, and for everything that the account sends there. Contains only hashes. The gateway uses it to decide whether marking a
 * prompt pays off.
 */
export interface CacheMemory {
  /** Returns whether a prompt with this beginning was sent so recently that it would still be cached. */
  wasSent(beginning: string, now: number): boolean;
  /** Returns whether what was written under this key was not read again, twice. */
  isUnread(key: string, now: number): boolean;
  /** Returns whether enough of what was written under the keys of a caller was read to pay for all of it. */
  pays(caller: string): boolean;
  /** Records that a prompt with this beginning was sent. `until`: when a cached one expires. Milliseconds since the epoch. */
  recordSent(beginning: string, until: number): void;
  /** Records what the vendor has read and written of a prompt that was marked under this key of a caller. */
  recordUse(keys: { readonly key: string; readonly caller: string }, usage: CacheUse, now: number): void;
}

type CacheUse = Pick<TokenUsage, "cachedTokens" | "cacheWriteTokens">;

/** How long a prompt stays in a vendor's cache after its last read, unless the catalog says otherwise. */
const CACHE_MS = 300_000;

/** Returns how long a provider's cache keeps a prompt after its last read. Milliseconds. */
export function cacheLifeMs({ promptCacheSeconds }: Pick<ProviderRecord, "promptCacheSeconds">): number {
  return promptCacheSeconds === undefined ? CACHE_MS : promptCacheSeconds * 1_000;
}

/** The maximum number of entries of each kind. The least recently used one is evicted first. */
const MAX_KEYS = 50_000;
/** After this many consecutive writes that were never read, a session is no longer marked. */
const MAX_UNREAD = 2;
/** How long that holds. */
const UNREAD_MS = 3_600_000;

interface Writes {
  /** The tokens of the marked beginning of the last prompt. The next prompt reads at least as many. */
  readonly cachedTokens: number;
  /** Writes since the last read. */
  readonly unread: number;
  readonly until: number;
}

/** How much was written for a caller, and how much of it was read. */
interface CallerWrites {
  readonly written: number;
  readonly read: number;
}

/** The initial assumption about a caller. Two writes that no request reads outweigh it. */
const ASSUMED: CallerWrites = { written: 2, read: 1 };
/** A write costs a quarter of the price more, and a read saves nine tenths of it. */
const MIN_READ_SHARE = 0.28;
/** After this many writes, earlier ones count half. */
const MAX_WRITTEN = 64;

/** Creates an empty memory. */
export function createCacheMemory(): CacheMemory {
  const sent = new BoundedMap<string, number>({ max: MAX_KEYS });
  const writes = new BoundedMap<string, Writes>({ max: MAX_KEYS });
  const callers = new BoundedMap<string, CallerWrites>({ max: MAX_KEYS });
  const recall = (key: string, now: number): Writes | null => {
    const known = writes.get(key);
    return known !== undefined && known.until > now ? known : null;
  };
  return {
    wasSent: (beginning, now) => (sent.get(beginning) ?? 0) > now,
    isUnread: (key, now) => (recall(key, now)?.unread ?? 0) >= MAX_UNREAD,
    pays(caller) {
      const { written, read } = callers.get(caller) ?? ASSUMED;
      return read >= MIN_READ_SHARE * written;
    },
    recordSent: (beginning, until) => sent.set(beginning, until),
    recordUse({ key, caller }, { cachedTokens, cacheWriteTokens }, now) {
      const before = recall(key, now);
      const isRead = before !== null && cachedTokens > 0 && cachedTokens >= before.cachedTokens;
      const isWritten = cacheWriteTokens > 0;
      const unread = (isRead ? 0 : (before?.unread ?? 0)) + (isWritten ? 1 : 0);
      writes.set(key, { cachedTokens: cachedTokens + cacheWriteTokens, unread, until: now + UNREAD_MS });
      callers.set(caller, addUse(callers.get(caller) ?? ASSUMED, isWritten, isRead));
    },
  };
}

function addUse({ written, read }: CallerWrites, isWritten: boolean, isRead: boolean): CallerWrites {
  const weight = written >= MAX_WRITTEN ? 0.5 : 1;
  return { written: written * weight + (isWritten ? 1 : 0), read: read * weight + (isRead ? 1 : 0) };
}
