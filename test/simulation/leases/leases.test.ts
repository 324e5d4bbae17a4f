import { describe, expect, test } from "bun:test";
import { RUNS_SLOW_TESTS, shareOf } from "../../support/long-run.ts";
import { planSteps } from "./plan-steps.ts";
import { describeFailure } from "./shrink.ts";
import { simulateLeases } from "./simulate-leases.ts";

const STEPS = 100;
const GATEWAYS = 3;
const SEEDS_PER_TEST = 4;
/** `npm run suite -- leases` runs more seeds with more steps. */
const TESTS = shareOf(25, 1 / 10);

async function run(seed: number, gateways: number, steps: number) {
  const simulated = { seed, gateways, steps: planSteps(seed, steps) };
  const outcome = await simulateLeases(simulated);
  expect(outcome.broken === null ? null : await describeFailure(simulated, outcome)).toBeNull();
  return outcome;
}

describe("several simulated gateways that lease money", () => {
  test.each(
    Array.from({ length: TESTS }, (_, at) => [1 + at * SEEDS_PER_TEST, (at + 1) * SEEDS_PER_TEST] as const),
  )(
    "never spend more than there is, and give everything back, with the seeds %d to %d",
    async (first, last) => {
      for (let seed = first; seed <= last; seed++) await run(seed, GATEWAYS, STEPS);
    },
  );

  test.skipIf(!RUNS_SLOW_TESTS)(
    "never spend more than there is when twenty gateways share three accounts",
    async () => {
      await run(1_001, 20, STEPS);
    },
  );

  test("do the same in two simulations of one seed", async () => {
    const [first, second] = [await run(7, GATEWAYS, STEPS), await run(7, GATEWAYS, STEPS)];
    expect(second).toEqual(first);
  });

  test.skipIf(!RUNS_SLOW_TESTS)("meet every situation that the simulation covers in ten seeds", async () => {
    const seen: Record<string, number> = {};
    for (let seed = 31; seed <= 40; seed++)
      for (const [what, times] of Object.entries((await run(seed, GATEWAYS, STEPS)).seen))
        seen[what] = (seen[what] ?? 0) + times;
    for (const what of ["held", "refused", "unavailable", "request lost", "reply lost", "late"])
      expect(seen[what] ?? 0, what).toBeGreaterThan(5);
    for (const what of [
      "crash",
      "restart",
      "take over",
      "pause",
      "resume",
      "refund",
      "expire",
      "correct down",
    ])
      expect(seen[what] ?? 0, what).toBeGreaterThan(0);
  });
});
