import { createTurns } from "../../base/collections/turns.ts";
import { GatewayError } from "../../base/failures/errors.ts";
import type { Clock } from "../../base/time/clock.ts";

/** Bounds concurrent work. Waiting holders take turns, so that one with many requests does not starve others. */
export interface Gate {
  /**
   * Resolves when a slot is free, with a function that releases it and must be called once.
   * Rejects with a `GatewayError` `unavailable` after the maximum wait.
   */
  enter(holder: string): Promise<() => void>;
}

/** Creates a gate with a number of slots. No wait is longer than `maxWaitMs` milliseconds. */
export function createGate(clock: Clock, slots: number, maxWaitMs: number): Gate {
  const waiting = createTurns<() => boolean>();
  let free = slots;

  const leave = (): void => {
    free++;
    while (free > 0) {
      const admit = waiting.next();
      if (admit === null) return;
      // A wait that has timed out takes no slot.
      if (admit()) free--;
    }
  };

  return {
    enter(holder) {
      if (free > 0) {
        free--;
        return Promise.resolve(leave);
      }
      return new Promise((resolve, reject) => {
        let isOver = false;
        const timer = clock.after(maxWaitMs, () => {
          isOver = true;
          reject(new GatewayError({ code: "unavailable", message: BUSY, retryAfterS: BUSY_RETRY_S }));
        });
        waiting.add(holder, () => {
          if (isOver) return false;
          timer.cancel();
          resolve(leave);
          return true;
        });
      });
    },
  };
}

const BUSY = "The gateway is decompressing too many request bodies at the moment. Try again later.";
const BUSY_RETRY_S = 5;
