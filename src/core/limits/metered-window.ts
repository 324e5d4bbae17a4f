/** Amounts that were counted close together; they leave the window with the latest of them. */
interface Batch {
  readonly openedAt: number;
  lastAt: number;
  amount: number;
  hasLeft: boolean;
}

/** What was counted, so that it can be corrected once more is known. */
export interface Counted {
  /** Counts by so much more, or less where it is negative; nothing where it has left the window. */
  correct(difference: number): void;
}

/** A sum over a window that slides. Times are milliseconds. */
export interface MeteredWindow {
  /** The sum now. */
  sum(now: number): number;
  count(amount: number, now: number): Counted;
  /** Until the sum is at most `ceiling`; 0 where it is. */
  waitUntil(ceiling: number, now: number): number;
}

/** Batches of a full window: what bounds the memory of one, and how early at most an amount is merged. */
const BATCHES = 60;

/**
 * A window of `windowMs`. It never forgets an amount early: whatever minute one looks at, what was counted in it is in the sum.
 * An amount is kept apart from others for a sixtieth of the window only, so that a window takes little memory, however much is
 * counted in it; that keeps it for at most as much longer.
 */
export function createMeteredWindow(windowMs: number): MeteredWindow {
  const batches: Batch[] = [];
  let total = 0;

  const slide = (now: number): void => {
    let left = 0;
    for (
      let batch = batches[left];
      batch !== undefined && batch.lastAt <= now - windowMs;
      batch = batches[left]
    ) {
      batch.hasLeft = true;
      total -= batch.amount;
      left += 1;
    }
    if (left > 0) batches.splice(0, left);
  };

  const openBatch = (now: number): Batch => {
    const newest = batches.at(-1);
    if (newest !== undefined && now - newest.openedAt < windowMs / BATCHES) {
      newest.lastAt = Math.max(newest.lastAt, now);
      return newest;
    }
    const opened = { openedAt: now, lastAt: now, amount: 0, hasLeft: false };
    batches.push(opened);
    return opened;
  };

  return {
    sum(now) {
      slide(now);
      return total;
    },
    count(amount, now) {
      slide(now);
      const batch = openBatch(now);
      const add = (more: number): void => {
        batch.amount += more;
        total += more;
      };
      add(amount);
      return { correct: (difference) => (batch.hasLeft ? undefined : add(difference)) };
    },
    waitUntil(ceiling, now) {
      slide(now);
      let rest = total;
      let waitMs = 0;
      for (const batch of batches) {
        if (rest <= ceiling) break;
        rest -= batch.amount;
        waitMs = batch.lastAt + windowMs - now;
      }
      return waitMs;
    },
  };
}
