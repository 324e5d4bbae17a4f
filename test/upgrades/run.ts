/**
 * Upgrades installations of every earlier version to this one, and goes back: `npm run suite -- upgrades`.
 *
 * --only=<text>    only the parts whose names contain the text
 * --seed=<number>  seed of the load; a run prints its own
 */
import { parseArgs } from "node:util";
import { type Check, checkOnce, printChecks } from "../books/check.ts";
import { makeNextVersion } from "../cluster/next-version.ts";
import { POSTGRES_BIN, startTestPostgres } from "../support/databases/postgres.ts";
import { REDIS_SERVER, startTestRedis } from "../support/databases/redis.ts";
import { removeTempFolders } from "../support/temp-folder.ts";
import { checkRolling } from "./check-rolling.ts";
import { checkUpgrade, type Upgrade } from "./check-upgrade.ts";
import type { Servers } from "./installation.ts";
import { PRESENT, type Program, prepareProgram } from "./program.ts";
import { startUpstream } from "./upstream.ts";
import { EARLIER_VERSIONS } from "./versions.ts";

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(options.seed);
console.log(`upgrades: --seed=${seed}`);

/** Both print that tests are skipped if they are not installed; in CI that is an error. */
const hasServers = POSTGRES_BIN !== null && REDIS_SERVER !== null;
const servers: Servers | null = hasServers
  ? { postgres: await startTestPostgres(), redis: await startTestRedis() }
  : null;
const upstream = startUpstream();
const next = makeNextVersion();
const checks: Check[] = [];

/** A part of the run, whose time is printed. */
interface Part {
  readonly name: string;
  readonly run: () => Promise<readonly Check[]>;
}

async function runParts(parts: readonly Part[]): Promise<void> {
  for (const { name, run } of parts.filter((part) => part.name.includes(options.only))) {
    const from = Date.now();
    checks.push(...(await run()));
    console.log(`${name}: ${((Date.now() - from) / 1_000).toFixed(1)} s`);
  }
}

/** Returns the upgrades of installations. */
function listPairs(earlier: Program, later: Program): Part[] {
  return earlier.stores.flatMap((kind) => {
    if (kind === "postgres" && servers === null) return [];
    const upgrade: Upgrade = {
      earlier,
      later,
      upstream,
      servers: kind === "sqlite" ? null : servers,
      isShared: kind === "postgres" || earlier.sharesFile,
    };
    return { name: `${earlier.name} to ${later.name}, ${kind}`, run: () => checkUpgrade(upgrade) };
  });
}

/** Returns the rolling upgrade of two gateways; none if they cannot share a database. */
function listRolling(earlier: Program, later: Program): Part[] {
  if (servers === null || !earlier.stores.includes("postgres")) return [];
  return [
    { name: `${earlier.name} to ${later.name}, rolling`, run: () => checkRolling(earlier, later, seed) },
  ];
}

/** Returns the earlier versions whose code is there. */
function prepareAll(): Program[] {
  return EARLIER_VERSIONS.flatMap((version) => {
    const program = prepareProgram(version);
    if (!("reason" in program)) return program;
    console.log(`skipped: ${program.name}: ${program.reason}`);
    if (program.isFault) checks.push(checkOnce(`${program.name} can be tested`, [program.reason]));
    return [];
  });
}

try {
  const earlier = prepareAll();
  const later: Program = { ...PRESENT, name: "the next version", command: next.command };
  const pairs = earlier.flatMap((program) => listPairs(program, PRESENT));
  const rolling = earlier.flatMap((program) => listRolling(program, PRESENT));
  // The load waits most of the time.
  await Promise.all([
    runParts([...pairs, ...listPairs(PRESENT, later)]),
    runParts([...rolling, ...listRolling(PRESENT, later)]),
  ]);
} finally {
  next.remove();
  upstream.stop();
  await Promise.all([servers?.postgres.remove(), servers?.redis.remove()]);
  removeTempFolders();
}
printChecks(checks, `npm run suite -- upgrades --seed=${seed}`);
process.exit();
