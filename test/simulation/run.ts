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
import { simulate } from "./simulate.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    seeds: { type: "string", default: "1000" },
    steps: { type: "string", default: "300" },
    trace: { type: "boolean", default: false },
  },
});
const steps = Number(options.steps);
const first = Number(options.seed ?? options.from);
const seeds = options.seed === undefined ? Number(options.seeds) : 1;
const seen: Record<string, number> = {};
let failed = 0;
for (let seed = first; seed < first + seeds; seed++) {
  const simulated = await simulate(seed, steps);
  for (const [what, times] of Object.entries(simulated.seen)) seen[what] = (seen[what] ?? 0) + times;
  if (options.trace) console.log(simulated.trace.map((line, at) => `${at} ${line}`).join("\n"));
  if (simulated.broken === null) continue;
  failed += 1;
  console.log(`seed ${seed}, after ${simulated.trace.length} events: ${simulated.broken}`);
  console.log(`Repeat with: npm run suite -- simulation --seed=${seed} --steps=${steps} --trace`);
}
console.log(JSON.stringify(seen));
console.log(`${seeds - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
