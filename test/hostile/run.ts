/**
 * Sends the gateway what an attacker sends and answers it what a broken vendor answers, and looks how long its event loop
 * was held up, how much memory it took and what it said: `npm run test:hostile`.
 *
 *   --only=<words>  cases whose name has these words in it
 */
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { type Field, startField } from "./field.ts";
import type { HostileCase } from "./hostile-case.ts";

const { values: options } = parseArgs({ options: { only: { type: "string", default: "" } } });

/** The longest that a case may hold up the event loop. Milliseconds. */
const MAX_STALL_MS = 100;
/** A case is tried again where it took longer: compilers and collectors have their moments. */
const TRIES = 3;

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

async function tryCase(field: Field, hostile: HostileCase): Promise<Row> {
  let row = await runCase(field, hostile);
  for (let again = 1; again < TRIES && row.problem?.startsWith("held up") === true; again++) {
    row = await runCase(field, hostile);
  }
  return row;
}

async function runCase(
  field: Field,
  { name, run, maxStallMs = MAX_STALL_MS, maxMemoryMb }: HostileCase,
): Promise<Row> {
  field.vendor.answer(() => null);
  const before = await field.read();
  let status = "–";
  let problem: string | null = null;
  try {
    status = await run(field);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const { stallMs, peakMb } = await field.read();
  const memoryMb = Math.max(0, peakMb - before.residentMb);
  if (stallMs > maxStallMs) problem ??= `held up the event loop for ${stallMs.toFixed(0)} ms`;
  if (maxMemoryMb !== undefined && memoryMb > maxMemoryMb) problem ??= `took ${memoryMb.toFixed(0)} MB`;
  return { name, status, stallMs, memoryMb, problem };
}

function print({ name, status, stallMs, memoryMb, problem }: Row): void {
  const figures = `${stallMs.toFixed(0).padStart(6)} ms ${memoryMb.toFixed(0).padStart(6)} MB`;
  console.log(`${problem === null ? "ok  " : "FAIL"} ${figures}  ${status.padEnd(12)} ${name}`);
  if (problem !== null) console.log(`     ${problem}`);
}

const cases = await loadCases();
const field = await startField();
const rows: Row[] = [];
console.log("       stall   memory  status       case");
try {
  for (const hostile of cases) {
    const row = await tryCase(field, hostile);
    print(row);
    rows.push(row);
  }
} finally {
  await field.stop();
}
const failed = rows.filter(({ problem }) => problem !== null).length;
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 || rows.length === 0 ? 1 : 0;
