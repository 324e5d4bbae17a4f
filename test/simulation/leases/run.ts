/**
 * Simulates gateways that lease money from one ledger: `npm run suite -- leases`.
 *
 *   --seed=<number>      run only this seed
 *   --from=<number>      first seed (default 1)
 *   --seeds=<number>     number of seeds (default 1000)
 *   --steps=<number>     steps of each simulation (default 200)
 *   --gateways=<number>  gateways (default 3)
 */
import { parseArgs } from "node:util";
import { listSeeds, reportCounts, SEED_OPTIONS } from "../../support/suite-program.ts";
import { planSteps } from "./plan-steps.ts";
import { describeFailure } from "./shrink.ts";
import { simulateLeases } from "./simulate-leases.ts";

const { values: options } = parseArgs({
  options: {
    ...SEED_OPTIONS,
    seeds: { type: "string", default: "1000" },
    steps: { type: "string", default: "200" },
    gateways: { type: "string", default: "3" },
  },
});
const seeds = listSeeds(options);
const seen: Record<string, number> = {};
let failed = 0;
for (const seed of seeds) {
  const run = { seed, gateways: Number(options.gateways), steps: planSteps(seed, Number(options.steps)) };
  const outcome = await simulateLeases(run);
  for (const [what, times] of Object.entries(outcome.seen)) seen[what] = (seen[what] ?? 0) + times;
  if (outcome.broken === null) continue;
  failed += 1;
  console.log(await describeFailure(run, outcome));
}
console.log(JSON.stringify(seen));
reportCounts(seeds.length - failed, failed);
