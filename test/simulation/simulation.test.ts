import { describe, expect, test } from "bun:test";
import { shareOf } from "../support/long-run.ts";
import { simulate } from "./simulate.ts";

const STEPS = 150;
const SEEDS_PER_TEST = 20;
/** `npm run test:simulation` runs more seeds with more steps. */
const TESTS = shareOf(10, 1 / 5);

describe("the simulated gateway", () => {
  test.each(
    Array.from({ length: TESTS }, (_, at) => [1 + at * SEEDS_PER_TEST, (at + 1) * SEEDS_PER_TEST] as const),
  )("all invariants about money hold with the seeds %d to %d", async (first, last) => {
    for (let seed = first; seed <= last; seed++) {
      const { broken } = await simulate(seed, STEPS);
      if (broken !== null)
        throw new Error(
          `${broken}\nRepeat with: npm run test:simulation -- --seed=${seed} --steps=${STEPS} --trace`,
        );
    }
  });

  test("two simulations of one seed are equal", async () => {
    const first = await simulate(7, STEPS);
    const second = await simulate(7, STEPS);
    expect(second).toEqual(first);
  });

  test("40 seeds exercise every situation that the simulation covers", async () => {
    const seen: Record<string, number> = {};
    for (let seed = 1; seed <= 2 * SEEDS_PER_TEST; seed++) {
      for (const [what, times] of Object.entries((await simulate(seed, STEPS)).seen))
        seen[what] = (seen[what] ?? 0) + times;
    }
    const tried = ["whole", "failed", "cancelled", "interrupted", "holds", "restarts", "failed starts"];
    for (const what of [...tried, "impossible counts", "status 200", "status 402", "status 503"]) {
      expect(seen[what] ?? 0, what).toBeGreaterThan(20);
    }
    expect(seen["cut short"] ?? 0).toBeGreaterThan(0);
  });
});
