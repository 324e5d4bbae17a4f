import { BoundedMap } from "../../../base/collections/bounded-map.ts";

/** The endpoint at which the prompt cache of a conversation is warm. */
export interface CacheAffinity {
  /** Slug. */
  readonly provider: string;
  readonly modelId: string;
  readonly keyLabel: string;
  /** Tokens of the last prompt that was sent there. */
  readonly tokens: number;
  /** When that cache expires. Milliseconds since the epoch. */
  readonly until: number;
}

/** Remembers in memory which endpoint last answered a conversation, so that its next turn finds its prompt cached. */
export interface AffinityMemory {
  /** Returns the affinity of a session; null if none is known, or its cache has expired. */
  recall(session: string, now: number): CacheAffinity | null;
  remember(session: string, affinity: CacheAffinity): void;
  /** Counts the conversations with a warm cache by provider. Visits all conversations. */
  countByProvider(now: number): ReadonlyMap<string, number>;
  /** Forgets all conversations at a provider: their next turns go where the routing prefers. Returns how many there were. */
  forget(provider: string): number;
}

/** The maximum number of conversations. The least recently used one is evicted first. */
const MAX_SESSIONS = 50_000;

/** Creates an empty memory. */
export function createAffinityMemory(): AffinityMemory {
  const known = new BoundedMap<string, CacheAffinity>({ max: MAX_SESSIONS });
  return {
    recall(session, now) {
      const affinity = known.get(session);
      if (affinity === undefined) return null;
      if (affinity.until > now) return affinity;
      known.delete(session);
      return null;
    },
    remember: (session, affinity) => known.set(session, affinity),
    countByProvider(now) {
      const counts = new Map<string, number>();
      for (const { provider, until } of known.values())
        if (until > now) counts.set(provider, (counts.get(provider) ?? 0) + 1);
      return counts;
    },
    forget(provider) {
      const before = known.size;
      for (const [session, affinity] of known) if (affinity.provider === provider) known.delete(session);
      return before - known.size;
    },
  };
}
