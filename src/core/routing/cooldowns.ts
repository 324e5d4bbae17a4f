/**
 * Keys that are set aside for a while, because their account is out of credit. In the memory of this process; a key
 * that is forgotten early costs one failed attempt.
 */
export interface Cooldowns {
  /** Sets a key aside until `until`, milliseconds since the epoch. */
  setAside(keyLabel: string, until: number): void;
  /** How long a key is still set aside; 0 when it is not. Milliseconds. */
  remainingMs(keyLabel: string, now: number): number;
}

/** Keys that are remembered at once; accounts bring any number of them. */
const MAX_KEYS = 10_000;

/** An empty set of cooldowns. */
export function createCooldowns(): Cooldowns {
  const until = new Map<string, number>();
  return {
    setAside(keyLabel, end) {
      if (until.size >= MAX_KEYS) until.delete(until.keys().next().value as string);
      until.set(keyLabel, Math.max(end, until.get(keyLabel) ?? 0));
    },
    remainingMs(keyLabel, now) {
      const end = until.get(keyLabel);
      if (end === undefined) return 0;
      if (end > now) return end - now;
      until.delete(keyLabel);
      return 0;
    },
  };
}
