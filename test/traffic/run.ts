/**
 * Simulates traffic through the gateway to twenty vendors: `npm run suite -- routing`.
 *
 * --seed=<number>   only this seed
 * --from=<number>   first seed
 * --seeds=<number>  number of seeds
 * --days=<number>   simulated days for each
 */
import { parseArgs } from "node:util";
import { listSeeds, reportCounts, SEED_OPTIONS } from "../support/suite-program.ts";
import { DEAD_KINDS } from "./outage.ts";
import {
  type Simulated,
  simulateConversations,
  simulateOutage,
  simulateRandomOutages,
} from "./simulate-traffic.ts";

const { values: options } = parseArgs({
  options: {
    ...SEED_OPTIONS,
    seeds: { type: "string", default: "2" },
    days: { type: "string", default: "1" },
  },
});
const days = Number(options.days);
const seeds = listSeeds(options);

/** Requests per second, on an ordinary day and during an outage. */
const [CALM, DENSE] = [1, 40];
const CONVERSATIONS = 60;

let [passed, failed] = [0, 0];

function print(seed: number, { report, broken }: Simulated<unknown>): void {
  if (broken.length === 0) passed += 1;
  else failed += 1;
  console.log(`seed ${seed}: ${JSON.stringify(report)}`);
  for (const what of broken) console.log(`seed ${seed}: BROKEN: ${what}`);
  if (broken.length > 0) console.log(`Repeat with: npm run suite -- routing --seed=${seed} --days=${days}`);
}

for (const seed of seeds) {
  for (const kind of DEAD_KINDS) print(seed, await simulateOutage(seed, kind, DENSE));
  print(seed, await simulateConversations(seed, CONVERSATIONS));
  print(seed, await simulateRandomOutages(seed, { days, perSecond: CALM }));
}
reportCounts(passed, failed);
