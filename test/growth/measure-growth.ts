import { threadTimeMs } from "../support/thread-time.ts";

/** Repeatable work of some size. */
export type Work = () => unknown;

/** The ratio of the two sizes: three doublings, so that the difference exceeds the noise. */
const DOUBLINGS = 3;
export const LARGER = 2 ** DOUBLINGS;
/** The most by which the cost may grow when the size doubles. Quadratic cost grows by four. */
const MOST = 3;

const SMALL_RUNS = 3;
/** The maximum number of runs of the large size. Short runs count, because caches, compiler, garbage collector and other programs vary. */
const TRIES = 30;

/** Returns the CPU time of this thread for the work. */
function time(work: Work): number {
  const begin = threadTimeMs();
  work();
  return threadTimeMs() - begin;
}

/**
 * Returns whether the cost of the work grows about linearly: doubling the size at most triples it. Two measurements of the same
 * thread are compared, and no time with a constant. Of the small size the shortest time but one counts: the clock of a virtual
 * machine can measure far too little once, which no large run could make good.
 */
export function growsLinearly(small: Work, large: Work): boolean {
  const ofSmall: number[] = [];
  let ofLarge = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    for (let run = 0; run < SMALL_RUNS; run++) ofSmall.push(time(small));
    ofSmall.sort((a, b) => a - b);
    ofLarge = Math.min(ofLarge, time(large));
    if (ofLarge <= (ofSmall[1] as number) * MOST ** DOUBLINGS) return true;
  }
  return false;
}
