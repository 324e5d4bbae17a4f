/**
 * Simulates traffic through the gateway to twenty vendors: `npm run test:routing`.
 *
 *   --seed=<number>   only this one
 *   --from=<number>   seeds from here on
 *   --seeds=<number>  so many
 *   --days=<number>   each so long
 */
import { parseArgs } from "node:util";
import { simulateTraffic } from "./simulate-traffic.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    from: { type: "string", default: "1" },
    seeds: { type: "string", default: "3" },
    days: { type: "string", default: "1" },
  },
});
const days = Number(options.days);
const first = Number(options.seed ?? options.from);
const seeds = options.seed === undefined ? Number(options.seeds) : 1;
let failed = 0;
for (let seed = first; seed < first + seeds; seed++) {
  const report = await simulateTraffic(seed, { days, perSecond: 1, outagePerSecond: 40, conversations: 60 });
  const { broken, ...seen } = report;
  console.log(`seed ${seed}: ${JSON.stringify(seen)}`);
  if (broken.length === 0) continue;
  failed += 1;
  for (const what of broken) console.log(`seed ${seed}: ${what}`);
  console.log(`again: npm run test:routing -- --seed=${seed} --days=${days}`);
}
console.log(`${seeds - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
