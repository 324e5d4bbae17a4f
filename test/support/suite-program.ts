/** Ends a suite's program: prints its last line, which CI reads, and sets the exit code. A suite that tried nothing has failed. */
export function reportCounts(passed: number, failed: number): void {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

/** The options by which a simulation chooses its seeds. */
export const SEED_OPTIONS = {
  seed: { type: "string" },
  from: { type: "string", default: "1" },
} as const;

/** Returns the seeds that options choose: only `seed`, or `seeds` of them from `from`. */
export function listSeeds(options: {
  readonly seed?: string;
  readonly from: string;
  readonly seeds: string;
}) {
  const { seed, from, seeds } = options;
  if (seed !== undefined) return [Number(seed)];
  return Array.from({ length: Number(seeds) }, (_, i) => Number(from) + i);
}
