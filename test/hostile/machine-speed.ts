import { threadTimeMs } from "../support/thread-time.ts";

/** Processor time that the document takes on the machine on which the bounds were measured, at rest. Milliseconds. */
const REFERENCE_MS = 7;
const TRIES = 5;

const document = JSON.stringify(
  Array.from({ length: 100_000 }, (_, id) => ({ id, text: "a".repeat(id % 50) })),
);

/**
 * Returns how many times slower this machine works at the moment than the one on which the bounds were measured; 1 where it
 * is not slower. Processors that share caches with other work need more time for the same instructions.
 */
export function measureSlowness(): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const start = threadTimeMs();
    JSON.parse(document);
    least = Math.min(least, threadTimeMs() - start);
  }
  return Math.max(1, least / REFERENCE_MS);
}
