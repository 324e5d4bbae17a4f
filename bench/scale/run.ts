/**
 * `npm run bench -- scale`: measures what a request costs of each resource of a cluster, at several rates, and computes which of them
 * is used up first at 1 thousand to a million requests a second (docs/scale.md).
 *
 * --seconds=<number>  length of each measurement; 10 by default
 */
import { parseArgs } from "node:util";
import { Harness } from "../load/harness.ts";
import { closedTrial } from "../load/trials.ts";
import { keepResult } from "../machine/folders.ts";
import { runProgram } from "../machine/run-program.ts";
import { costsBetween, readCounters, type UnitCosts } from "./counters.ts";
import { type Measured, project } from "./project.ts";
import { type Site, startSite } from "./site.ts";

const { values: options } = parseArgs({ options: { seconds: { type: "string", default: "10" } } });
const durationMs = Number(options.seconds) * 1_000;

/** Requests a second; 0 for as many as 16 connections can send. */
const RATES = [20, 100, 400, 0] as const;
const CONNECTIONS = 64;
const WARM_UP_REQUESTS = 5_000;

async function measureAll(harness: Harness, site: Site): Promise<Measured[]> {
  await harness.run(site.target, closedTrial(60_000, { maxRequests: WARM_UP_REQUESTS }));
  const found: Measured[] = [];
  for (const ratePerSecond of RATES) {
    const connections = ratePerSecond === 0 ? 16 : CONNECTIONS;
    const before = await readCounters(site);
    const outcome = await harness.run(site.target, closedTrial(durationMs, { ratePerSecond, connections }));
    const costs = costsBetween(before, await readCounters(site), outcome.requests);
    found.push({ rate: (outcome.requests * 1_000) / outcome.elapsedMs, costs });
  }
  return found;
}

const ROWS: readonly [keyof UnitCosts, string, number][] = [
  ["gatewayCpu", "gateway: processor time, µs", 0],
  ["journalBytes", "journal: bytes", 0],
  ["postgresCommits", "PostgreSQL: commits", 4],
  ["postgresCpu", "PostgreSQL: processor time, µs", 0],
  ["walBytes", "PostgreSQL: bytes of WAL", 0],
  ["postgresBytes", "PostgreSQL: bytes on the network", 0],
  ["redisCommands", "Redis: commands", 3],
  ["redisCpu", "Redis: processor time, µs", 1],
  ["redisBytes", "Redis: bytes on the network", 0],
];

function printCosts(all: readonly Measured[]): void {
  console.log(
    `${"a request costs, at requests a second".padEnd(40)}${all.map(({ rate }) => rate.toFixed(0).padStart(9)).join("")}`,
  );
  for (const [name, label, decimals] of ROWS)
    console.log(
      `${label.padEnd(40)}${all.map(({ costs }) => costs[name].toFixed(decimals).padStart(9)).join("")}`,
    );
}

async function main(): Promise<void> {
  const harness = await Harness.start();
  const site = await startSite(harness.upstreamPort);
  const found = await measureAll(harness, site);
  printCosts(found);
  console.log(project(found));
  await keepResult("scale.json", found);
  await site.stop();
  await harness.stop();
}

await runProgram(main);
process.exit();
