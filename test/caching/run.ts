/**
 * Measures what marks for vendors' caches save and cost, by kinds of conversations, against a simulated cache: `npm run suite -- caching`.
 *
 *   --seed=<number>  of the texts of made conversations (default 1)
 */
import { parseArgs } from "node:util";
import { reportCounts } from "../support/suite-program.ts";
import { makeClasses } from "./conversations.ts";
import { findBroken } from "./expect.ts";
import { changeOf, measureClasses } from "./measure.ts";
import { readRecordedClasses } from "./recorded.ts";

const { values: options } = parseArgs({ options: { seed: { type: "string", default: "1" } } });
const recorded = readRecordedClasses();
if (recorded.length === 0) console.log("skipped: recorded conversations, because there are none");
const costs = await measureClasses([...makeClasses(Number(options.seed)), ...recorded]);
for (const cost of costs) {
  const change = `${(100 * changeOf(cost)).toFixed(1)} %`.padStart(8);
  console.log(`${change}  ${cost.requests} requests, $${cost.plain.toFixed(4)} without marks  ${cost.name}`);
}
const broken = findBroken(costs);
for (const line of broken) console.log(line);
reportCounts(costs.length - broken.length, broken.length);
