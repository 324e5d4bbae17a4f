/**
 * Several gateways on one PostgreSQL and one Redis, behind a TCP balancer, under load and under faults; then their books are
 * compared with the vendor's bill and with what clients saw: `npm run suite -- cluster`.
 *
 * --seed=<number>      seed of all random choices; a run prints its own
 * --kills=<number>     number of gateways that are killed
 * --gateways=<number>  number of gateways
 * --logs=<folder>      writes the log of each gateway there
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Check, checkOnce, printChecks } from "../books/check.ts";
import { checkBooks } from "../books/check-books.ts";
import { AS_SHIPPED } from "../support/gateway/gateway-process.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { checkContract } from "./check-contract.ts";
import { checkCredit } from "./check-credit.ts";
import { checkLimits } from "./check-limits.ts";
import { checkRest } from "./check-rest.ts";
import { startClients } from "./clients.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { describeRun } from "./describe-run.ts";
import { FaultLanes } from "./fault-lanes.ts";
import { Grants } from "./grants.ts";
import { makeNextVersion } from "./next-version.ts";
import { createPayers } from "./payers.ts";
import { readBooks } from "./read-books.ts";
import { Renewals } from "./renewals.ts";
import { rollTo } from "./roll-to.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    kills: { type: "string", default: "30" },
    gateways: { type: "string", default: "3" },
    logs: { type: "string" },
  },
});
const seed = Number(options.seed);
const kills = Number(options.kills);
const gateways = Number(options.gateways);

const CLIENTS = 24;
/** How far limits of rate and concurrency may be exceeded (docs/operations/failures.md, "Redis"). */
const LIMIT_SLACK = 2;

/** Runs everything and returns what was checked. */
async function run(cluster: Cluster): Promise<Check[]> {
  const { members, vendor, url } = cluster;
  await Promise.all(members.map(({ node }) => node.start()));
  const payers = await createPayers(url);
  const { all, current, poor } = payers;
  const clients = startClients({ url, payers: current, count: CLIENTS, chance: createSeededRandom(seed) });
  const grants = new Grants(url, poor, createSeededRandom(seed + 1));
  const renewals = new Renewals(payers);
  const lanes = new FaultLanes(cluster, seed + 2);
  await rollTo(cluster, nextVersion.command);
  const done = await lanes.run(kills);
  await lanes.calm();
  await Promise.all([clients.stop(), grants.stop(), renewals.stop()]);
  const rest = await checkRest(cluster, all);
  const ends = (await Promise.all(members.map(({ node }) => node.stopAtRest()))).flat();
  const books = await readBooks(cluster.databaseUrl);
  const { asked, answers } = clients;
  const { bill } = vendor;
  describeRun(answers, lanes.faults);
  return [
    checkOnce(`gateways are killed ${kills} times`, done < kills ? [`${done} times`] : []),
    checkOnce(
      "after the rolling upgrade the database has every step of the newer schema once",
      Bun.deepEquals(books.steps, nextVersion.steps) ? [] : books.steps,
    ),
    ...checkContract({ answers, faults: lanes.faults, bill }),
    ...checkCredit({ answers, faults: lanes.faults, books }),
    ...checkLimits({ asked, bill, payers: all, slack: LIMIT_SLACK }),
    rest,
    checkOnce(
      "a process ends only if it is told to, and then with 0",
      members.flatMap(({ node }) => node.faults),
    ),
    checkOnce("a clean stop exits with 0, and leaves an empty journal and no lease", [
      ...ends,
      ...books.leased,
    ]),
    checkOnce("what is leased is the sum of the leases", books.wrongLeases),
    checkOnce("no record is in quarantine", books.quarantined),
    grants.check(books),
    renewals.check(),
    ...checkBooks({ asked, bill, payers: all, books }),
  ];
}

console.log(`cluster: ${gateways} gateways, ${kills} kills, ${CLIENTS} clients, --seed=${seed}`);
const nextVersion = makeNextVersion();
const cluster = await startCluster(gateways, AS_SHIPPED);
const checks: Check[] = [];
try {
  checks.push(...(await run(cluster)));
} catch (error) {
  checks.push(
    checkOnce("the run comes to its end", [error instanceof Error ? (error.stack ?? "") : String(error)]),
  );
} finally {
  if (options.logs !== undefined)
    for (const { node } of cluster.members) await Bun.write(join(options.logs, `${node.name}.log`), node.log);
  await cluster.remove();
  nextVersion.remove();
}
printChecks(checks, `npm run suite -- cluster --seed=${seed} --kills=${kills}`);
process.exit();
