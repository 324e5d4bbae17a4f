import type { Step } from "./plan-steps.ts";
import { type LeaseOutcome, type LeaseRun, simulateLeases } from "./simulate-leases.ts";

/** Runs that shrinking may take. */
const MAX_RUNS = 200;

/** Removes steps from a failing run as long as it still fails, and returns the shortest that was found and its outcome. */
export async function shrinkRun(
  run: LeaseRun,
  outcome: LeaseOutcome,
): Promise<{ readonly run: LeaseRun; readonly outcome: LeaseOutcome }> {
  let best = { run, outcome };
  let runs = 0;
  for (let size = Math.ceil(run.steps.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0)
    for (let from = 0; from < best.run.steps.length && runs < MAX_RUNS; runs++) {
      const steps = without(best.run.steps, from, size);
      const shorter = { ...run, steps };
      const tried = await simulateLeases(shorter);
      if (tried.broken === null) from += size;
      else best = { run: shorter, outcome: tried };
    }
  return best;
}

function without(steps: readonly Step[], from: number, size: number): readonly Step[] {
  return [...steps.slice(0, from), ...steps.slice(from + size)];
}

/** Describes a failing run: its seed, what was violated, and the shortest history that still violates something. */
export async function describeFailure(run: LeaseRun, outcome: LeaseOutcome): Promise<string> {
  const shrunk = await shrinkRun(run, outcome);
  const { seed, gateways, steps } = run;
  return [
    `seed ${seed}, ${gateways} gateways, ${steps.length} steps: ${outcome.broken}`,
    `With ${shrunk.run.steps.length} of the steps: ${shrunk.outcome.broken}`,
    ...shrunk.outcome.trace,
    `Repeat with: npm run suite -- leases --seed=${seed} --gateways=${gateways} --steps=${steps.length}`,
  ].join("\n");
}
