import { describe, expect, test } from "bun:test";
import { IS_LONG_RUN, shareOf } from "../support/long-run.ts";
import { simulate } from "./simulate.ts";

const STEPS = 150;
/** The seeds that every run tries. `npm run suite -- simulation` runs more seeds with more steps. */
const FIRST_SEEDS = shareOf(24, 1 / 2);
/** How often each situation occurs at least in them. */
const OFTEN = shareOf(10, 1 / 3);
const SEEDS_PER_TEST = 20;
/** How long 20 seeds may take on a loaded machine. Milliseconds. */
const SEEDS_TIMEOUT_MS = 60_000;
/** Tests with further seeds in a long run. */
const FURTHER_TESTS = IS_LONG_RUN ? 9 : 0;

/** Simulates some seeds, and returns how often each situation has occurred. Throws if an invariant is broken. */
async function simulateSeeds(first: number, last: number): Promise<Readonly<Record<string, number>>> {
  const all: Record<string, number> = {};
  for (let seed = first; seed <= last; seed++) {
    const { broken, seen } = await simulate(seed, STEPS);
    if (broken !== null)
      throw new Error(
        `${broken}\nRepeat with: npm run suite -- simulation --seed=${seed} --steps=${STEPS} --trace`,
      );
    for (const [what, times] of Object.entries(seen)) all[what] = (all[what] ?? 0) + times;
  }
  return all;
}

describe("the simulated gateway", () => {
  test(
    "all invariants about money and kept responses hold with the first seeds, which exercise every situation that the simulation covers",
    async () => {
      const seen = await simulateSeeds(1, FIRST_SEEDS);
      const tried = ["whole", "failed", "cancelled", "interrupted", "holds", "restarts", "failed starts"];
      for (const what of [...tried, "impossible counts", "status 200", "status 402", "status 503"]) {
        expect(seen[what] ?? 0, what).toBeGreaterThan(OFTEN);
      }
      for (const what of ["cut short", "cancels", "object completed", "object failed", "object cancelled"])
        expect(seen[what] ?? 0, what).toBeGreaterThan(0);
    },
    SEEDS_TIMEOUT_MS,
  );

  test.each(Array.from({ length: FURTHER_TESTS }, (_, at) => FIRST_SEEDS + 1 + at * SEEDS_PER_TEST))(
    "all invariants about money hold with 20 more seeds from %d on",
    async (first) => {
      const seen = await simulateSeeds(first, first + SEEDS_PER_TEST - 1);
      expect(seen["whole"]).toBeGreaterThan(0);
    },
  );

  test("two simulations of one seed are equal", async () => {
    const first = await simulate(7, STEPS);
    const second = await simulate(7, STEPS);
    expect(second).toEqual(first);
  });
});
