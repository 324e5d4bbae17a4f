/**
 * Sends requests of the three client APIs to hosts that refuse what their vendors' documents do not name: `npm run suite -- profiles`. All
 * profiles are tried without HTTP, one of each host also through the front door, and each entry of a profile is deleted once.
 *
 * --seed=<number>   other rows
 * --host=<slug>     only this host
 */
import { parseArgs } from "node:util";
import { loadShippedCatalog } from "../../../src/app/catalog/load-catalog.ts";
import { reportCounts } from "../../support/suite-program.ts";
import { deleteEachEntry } from "./delete-entries.ts";
import { type DistinctProfile, listDistinctProfiles, pickServed } from "./distinct-profiles.ts";
import { runProfiles } from "./run-profiles.ts";
import { DOCUMENTED_HOSTS } from "./strict-host.ts";
import { type Ask, encodeWith, startStrictSite } from "./strict-site.ts";

const { values: options } = parseArgs({
  options: { seed: { type: "string", default: "1" }, host: { type: "string" } },
});
const seed = Number(options.seed);
const hosts = options.host === undefined ? DOCUMENTED_HOSTS : new Set([options.host]);
const catalog = loadShippedCatalog();
const profiles = listDistinctProfiles(hosts, catalog);
const byHost = Map.groupBy(profiles, ({ host }) => host);
const startedAt = Date.now();
let [passed, failed] = [0, 0];

async function tryHost(host: string, way: string, own: readonly DistinctProfile[], ask: Ask): Promise<void> {
  const { requests, found } = await runProfiles(own, ask, seed);
  console.log(`${host}, ${way}: ${own.length} profiles, ${requests} requests, ${found.length} findings`);
  for (const { client, model, kind, field, detail, body } of found)
    console.log(
      `FAIL ${host}, ${client}, ${model}: ${kind} ${field}: ${detail.slice(0, 300)} of ${JSON.stringify(body).slice(0, 1_000)}`,
    );
  const bad = new Set(found.map(({ model }) => model)).size;
  passed += own.length - bad;
  failed += bad;
}

const site = await startStrictSite(hosts);
for (const [host, own] of byHost) {
  await tryHost(host, "encoded", own, encodeWith(catalog));
  await tryHost(host, "through the front door", pickServed(own), site.ask);
}
await site.stop();
const { noticed, missed } = await deleteEachEntry(catalog, profiles, seed);
console.log(
  `deleted entries: ${noticed.length} noticed, ${missed.length} only by the golden file: ${missed.join("; ")}`,
);
console.log(`seed ${seed}, ${Math.round((Date.now() - startedAt) / 1000)} s`);
reportCounts(passed, failed);
process.exit();
