import type { TestClock } from "./test-clock.ts";

/** Long enough for an answer that is due within this time to arrive before its deadline. */
const STEP_MS = 5;
/** Steps after a timer: together longer than the deadline of a command. */
const STEPS = 12;

/**
 * Returns a function that lets a little time pass, to be called between turns of the event loop: after each timer some short steps, in which
 * answers arrive before their deadlines, and then at once the time to the next timer, in which nothing can happen.
 */
export function passTimeOf(clock: TestClock): () => void {
  let steps = 0;
  return () => {
    if (steps < STEPS) clock.advance(STEP_MS);
    else clock.advanceToTimer();
    steps = steps < STEPS ? steps + 1 : 0;
  };
}
