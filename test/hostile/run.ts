/**
 * Sends the gateway what attackers send, and answers it as broken vendors answer, and measures how long its event loop
 * stalled, how much memory it used and what it answered: `npm run suite -- hostile`.
 *
 * --only=<words>  cases whose name contains these words
 */
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { reportCounts } from "../support/suite-program.ts";
import { healthy } from "../support/vendors/vendor.ts";
import type { HostileCase } from "./hostile-case.ts";
import { measureSlowness } from "./machine-speed.ts";
import { startTestBed, type TestBed } from "./test-bed.ts";

const { values: options } = parseArgs({ options: { only: { type: "string", default: "" } } });

/** The maximum stall of the event loop in a case, on a machine as fast as the reference. Milliseconds. */
const MAX_STALL_MS = 100;
/** After this time a case has failed. */
const CASE_MS = 60_000;
/** A case that took longer is tried again, because compilation, garbage collection and other processes cause outliers. */
const TRIES = 5;
const REST_MS = 500;

/** A row of the table. */
interface Row {
  readonly name: string;
  readonly status: string;
  readonly stallMs: number;
  readonly memoryMb: number;
  readonly problem: string | null;
}

async function loadCases(): Promise<HostileCase[]> {
  const files = [...new Glob("*.ts").scanSync(`${import.meta.dir}/cases`)].sort();
  const loaded = files.map(
    async (file) => (await import(`./cases/${file}`)) as { default: readonly HostileCase[] },
  );
  const cases = (await Promise.all(loaded)).flatMap((module) => module.default);
  return cases.filter(({ name }) => name.includes(options.only));
}

async function tryCase(shared: TestBed, hostile: HostileCase): Promise<Row> {
  let row = await runWhereItBelongs(shared, hostile);
  for (let again = 1; again < TRIES && row.problem?.startsWith("held up") === true; again++) {
    await Bun.sleep(REST_MS);
    row = await runWhereItBelongs(shared, hostile);
  }
  return row;
}

/** Runs a case at the gateway that the cases share, or at its own. */
async function runWhereItBelongs(shared: TestBed, hostile: HostileCase): Promise<Row> {
  if (hostile.config === undefined) return runCase(shared, hostile);
  const own = await startTestBed(hostile.config);
  try {
    return await runCase(own, hostile);
  } finally {
    await own.stop();
  }
}

async function runCase(
  bed: TestBed,
  { name, run, maxStallMs = MAX_STALL_MS, maxMemoryMb }: HostileCase,
): Promise<Row> {
  bed.vendor.answer(() => null);
  bed.scripted.perform(healthy("Alpha"));
  await bed.forget();
  const before = await bed.read();
  let status = "–";
  let problem: string | null = null;
  try {
    status = await Promise.race([run(bed), failAfter(CASE_MS)]);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const { stallMs, peakMb } = await bed.read();
  const memoryMb = Math.max(0, peakMb - before.residentMb);
  if (stallMs > maxStallMs && stallMs > maxStallMs * measureSlowness())
    problem ??= `held up the event loop for ${stallMs.toFixed(0)} ms`;
  if (maxMemoryMb !== undefined && memoryMb > maxMemoryMb) problem ??= `took ${memoryMb.toFixed(0)} MB`;
  return { name, status, stallMs, memoryMb, problem };
}

/** Does not keep the process alive. */
function failAfter(ms: number): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`not done after ${ms} ms`)), ms).unref();
  });
}

function print({ name, status, stallMs, memoryMb, problem }: Row): void {
  const figures = `${stallMs.toFixed(0).padStart(6)} ms ${memoryMb.toFixed(0).padStart(6)} MB`;
  console.log(`${problem === null ? "ok  " : "FAIL"} ${figures}  ${status.padEnd(12)} ${name}`);
  if (problem !== null) console.log(`     ${problem}`);
}

const cases = await loadCases();
const bed = await startTestBed();
const rows: Row[] = [];
console.log("       stall   memory  status       case");
try {
  for (const hostile of cases) {
    const row = await tryCase(bed, hostile);
    print(row);
    rows.push(row);
  }
} finally {
  await bed.stop();
}
const failed = rows.filter(({ problem }) => problem !== null).length;
reportCounts(rows.length - failed, failed);
