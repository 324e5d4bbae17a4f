/** By how much slower time passes until a wall clock that was set back has caught up: an hour takes ten. */
const SLOWER = 0.1;

/**
 * Returns a clock reading that never goes back, in whole milliseconds since the epoch. It follows `wall`, the system's time, even over a
 * jump forward. If the system's clock is set back, the reading continues at nine tenths of the speed of `elapsed`, which counts
 * milliseconds and never jumps, until the system's clock has caught up. So cooldowns, windows of limits and deadlines last only a tenth
 * longer, instead of the whole time by which the clock was set back.
 */
export function createSteadyTime(wall: () => number, elapsed: () => number): () => number {
  let time = wall();
  /** The last reading of `elapsed` while the system's clock is behind; null otherwise, to save a second reading. */
  let readAt: number | null = null;
  return () => {
    const present = wall();
    if (readAt === null && present >= time) {
      time = present;
      return present;
    }
    const now = elapsed();
    const slower = time + (readAt === null ? 0 : now - readAt) * (1 - SLOWER);
    readAt = present >= slower ? null : now;
    time = Math.max(present, slower);
    return Math.floor(time);
  };
}
