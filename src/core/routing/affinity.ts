import { BoundedMap } from "../../base/bounded-map.ts";

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

/** Remembers, in memory, which endpoint answered a conversation last, so that its next turn finds its prompt cached. */
export interface AffinityMemory {
  /** Returns the affinity of a session; null if none is known, or its cache has expired. */
  recall(session: string, now: number): CacheAffinity | null;
  remember(session: string, affinity: CacheAffinity): void;
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
  };
}
