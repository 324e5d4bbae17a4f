import { edenGC, fullGC, heapStats } from "bun:jsc";

const ROUNDS = 1_000;

/** Counts the payloads by their type. Nothing else in the program creates objects of this type meanwhile. */
const countPayloads = () => heapStats().objectTypeCounts["Float64Array"] ?? 0;

/**
 * Calls `pass` 1,000 times with an object that it keeps only for some further calls. Returns how many of these objects a collection of
 * young objects leaves, after a collection of all objects before them.
 */
export function countKept(pass: (payload: object) => void): number {
  for (let round = 0; round < ROUNDS; round++) pass(new Float64Array(1));
  fullGC();
  const before = countPayloads();
  for (let round = 0; round < ROUNDS; round++) pass(new Float64Array(1));
  edenGC();
  return countPayloads() - before;
}
