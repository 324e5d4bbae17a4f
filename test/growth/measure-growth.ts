import { threadTimeMs } from "../support/thread-time.ts";

/** Work of some size, done again and again. */
export type Work = () => unknown;

/** How much larger the large size is: three doublings, so that what is measured stands out of the noise. */
const DOUBLINGS = 3;
export const LARGER = 2 ** DOUBLINGS;
/** Doubling the size may make the work cost so many times as much; where the cost grows with the square it is four. */
const MOST = 3;

const SMALL_RUNS = 3;
/** Caches, compilers and collectors have their moments: the least time of so many runs counts. */
const TRIES = 8;

/** The time of this thread that the work took. */
function time(work: Work): number {
  const begin = threadTimeMs();
  work();
  return threadTimeMs() - begin;
}

/**
 * Whether the work's cost grows about as its size does: doubling the size at most triples it. Two times of one thread in
 * one moment are compared, and never one with a constant.
 */
export function growsLinearly(small: Work, large: Work): boolean {
  let ofSmall = Number.POSITIVE_INFINITY;
  let ofLarge = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    for (let run = 0; run < SMALL_RUNS; run++) ofSmall = Math.min(ofSmall, time(small));
    ofLarge = Math.min(ofLarge, time(large));
    if (ofLarge <= ofSmall * MOST ** DOUBLINGS) return true;
  }
  return false;
}
