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
import { planSteps } from "./plan-steps.ts";
import { describeFailure } from "./shrink.ts";
import { simulateLeases } from "./simulate-leases.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    seeds: { type: "string", default: "1000" },
    steps: { type: "string", default: "200" },
    gateways: { type: "string", default: "3" },
  },
});
const first = Number(options.seed ?? options.from);
const seeds = options.seed === undefined ? Number(options.seeds) : 1;
const seen: Record<string, number> = {};
let failed = 0;
for (let seed = first; seed < first + seeds; seed++) {
  const run = { seed, gateways: Number(options.gateways), steps: planSteps(seed, Number(options.steps)) };
  const outcome = await simulateLeases(run);
  for (const [what, times] of Object.entries(outcome.seen)) seen[what] = (seen[what] ?? 0) + times;
  if (outcome.broken === null) continue;
  failed += 1;
  console.log(await describeFailure(run, outcome));
}
console.log(JSON.stringify(seen));
console.log(`${seeds - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
