/** Where the prompt cache of a conversation is warm. */
export interface CacheAffinity {
  /** Slug. */
  readonly provider: string;
  readonly modelId: string;
  readonly keyLabel: string;
  /** Tokens of the prompt that was sent there last. */
  readonly tokens: number;
  /** Until when that cache lives, milliseconds since the epoch. */
  readonly until: number;
}

/** Which place answered a conversation last, so that its next turn finds its prompt there. In the memory of this process. */
export interface AffinityMemory {
  /** Null where nothing is known, or what is known has grown cold. */
  recall(session: string, now: number): CacheAffinity | null;
  remember(session: string, place: CacheAffinity): void;
}

/** Conversations that are remembered at once; the one that was quiet for longest goes first. */
const MAX_SESSIONS = 50_000;

/** An empty memory. */
export function createAffinityMemory(): AffinityMemory {
  const places = new Map<string, CacheAffinity>();
  return {
    recall(session, now) {
      const place = places.get(session);
      if (place === undefined) return null;
      if (place.until > now) return place;
      places.delete(session);
      return null;
    },
    remember(session, place) {
      places.delete(session);
      if (places.size >= MAX_SESSIONS) places.delete(places.keys().next().value as string);
      places.set(session, place);
    },
  };
}
