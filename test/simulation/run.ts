/**
 * Simulates the whole service: `npm run suite -- simulation`.
 *
 *   --seed=<number>   run only this seed
 *   --from=<number>   first seed (default 1)
 *   --seeds=<number>  number of seeds (default 1000)
 *   --steps=<number>  steps of each simulation (default 300)
 *   --trace           print what happened
 */
import { parseArgs } from "node:util";
import { listSeeds, reportCounts, SEED_OPTIONS } from "../support/suite-program.ts";
import { simulate } from "./simulate.ts";

const { values: options } = parseArgs({
  options: {
    ...SEED_OPTIONS,
    seeds: { type: "string", default: "1000" },
    steps: { type: "string", default: "300" },
    trace: { type: "boolean", default: false },
  },
});
const steps = Number(options.steps);
const seeds = listSeeds(options);
const seen: Record<string, number> = {};
let failed = 0;
for (const seed of seeds) {
  const simulated = await simulate(seed, steps);
  for (const [what, times] of Object.entries(simulated.seen)) seen[what] = (seen[what] ?? 0) + times;
  if (options.trace) console.log(simulated.trace.map((line, at) => `${at} ${line}`).join("\n"));
  if (simulated.broken === null) continue;
  failed += 1;
  console.log(`seed ${seed}, after ${simulated.trace.length} events: ${simulated.broken}`);
  console.log(`Repeat with: npm run suite -- simulation --seed=${seed} --steps=${steps} --trace`);
}
console.log(JSON.stringify(seen));
reportCounts(seeds.length - failed, failed);
