import type { Clock } from "../../base/clock.ts";
import { GatewayError } from "../../base/errors.ts";
import { createTurns } from "../../base/turns.ts";

/** Lets a few in at once; those who wait take turns, so that one who asks often does not keep others out. */
export interface Gate {
  /**
   * Resolves once there is room, with a function that makes it again. To be called once.
   * Rejects with a `GatewayError` `unavailable` where it takes too long.
   */
  enter(holder: string): Promise<() => void>;
}

/** A gate of so many places, before which nobody waits longer than `maxWaitMs`. */
export function createGate(clock: Clock, places: number, maxWaitMs: number): Gate {
  const waiting = createTurns<() => boolean>();
  let free = places;

  const leave = (): void => {
    free++;
    while (free > 0) {
      const admit = waiting.next();
      if (admit === null) return;
      // One that has given up takes no place.
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

const BUSY = "The gateway has too many compressed bodies to unpack at the moment. Repeat the request later.";
const BUSY_RETRY_S = 5;
