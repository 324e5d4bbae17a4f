/** `npm run bench -- --processes`: one gateway process on PostgreSQL, and two that share a port. See README.md. */

import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Harness, type Outcome, type Trial } from "../load/harness.ts";
import { closedTrial } from "../load/trials.ts";
import { inTurn } from "../load/turns.ts";
import { startDatabase } from "../machine/database.ts";
import { OUT, ROOT } from "../machine/folders.ts";
import { formatRatio, medianOf, tableLine } from "../report/figures.ts";
import type { Running } from "../targets/contestant.ts";
import { startGateway } from "../targets/start-gateway.ts";

/** Connections of the closed loops. */
const CONNECTIONS = [8, 40, 400] as const;
const PROCESSES = [1, 2] as const;
const FULL = { rounds: 5, durationMs: 3_000, warmUpRequests: 20_000, warmUpMs: 20_000 } as const;
const QUICK = { rounds: 3, durationMs: 600, warmUpRequests: 4_000, warmUpMs: 4_000 } as const;
/** The longest wait for the log of the last requests. Milliseconds. */
const LOG_MS = 10_000;
const START_MS = 20_000;
const POLL_MS = 50;

/** A gateway of one or several processes on a database of its own. */
interface Site {
  readonly processes: number;
  readonly target: Running;
  readonly logFile: string;
  stop(): Promise<void>;
}

/** One measurement. Times are processor time in microseconds. */
interface Round {
  readonly processes: number;
  readonly connections: number;
  readonly perSecond: number;
  readonly cpuEach: number;
  readonly databaseCpuEach: number;
  /** The lowest and the highest share of the requests that one process answered. */
  readonly lowest: number;
  readonly highest: number;
}

/** Measures both in turn and returns the table. Rejects if an answer was wrong or a process did not start. */
export async function compareProcesses(isQuick: boolean): Promise<string> {
  const { rounds, durationMs, warmUpRequests, warmUpMs } = isQuick ? QUICK : FULL;
  const harness = await Harness.start();
  const sites: Site[] = [];
  for (const processes of PROCESSES) sites.push(await startSite(processes, harness.upstreamPort));
  const warmUp = closedTrial(warmUpMs, { connections: 40, maxRequests: warmUpRequests });
  for (const site of sites) await measure(harness, site, warmUp);
  const found: Round[] = [];
  for (let round = 0; round < rounds; round++)
    for (const connections of CONNECTIONS)
      for (const site of inTurn(sites, round))
        found.push(await measure(harness, site, closedTrial(durationMs, { connections })));
  for (const site of sites) await site.stop();
  await harness.stop();
  return render(found);
}

async function startSite(processes: number, upstreamPort: number): Promise<Site> {
  mkdirSync(OUT, { recursive: true });
  const logFile = join(OUT, `processes-${processes}.jsonl`);
  const database = await startDatabase();
  const installation = {
    name: "postgres",
    checkout: ROOT,
    databaseUrl: database.url,
    processes,
    logFile,
  } as const;
  const target = await startGateway(installation, upstreamPort);
  if (processes > 1) await waitForAll(logFile, processes);
  const stop = async () => {
    await target.stop();
    await database.stop();
    rmSync(logFile);
  };
  return { processes, target: { ...target, databasePid: database.pid }, logFile, stop };
}

/** Waits until the supervisor has logged that all processes listen. */
async function waitForAll(logFile: string, processes: number): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (!readFileSync(logFile, "utf8").includes(`"processes":${processes}`)) {
    if (performance.now() > deadline) throw new Error(`${processes} processes did not listen in time`);
    await Bun.sleep(POLL_MS);
  }
}

async function measure(harness: Harness, site: Site, trial: Trial): Promise<Round> {
  const logged = statSync(site.logFile).size;
  const outcome = await harness.run(site.target, trial);
  const counts = await countAll(site, { from: logged, requests: outcome.requests });
  const { processes } = site;
  return { processes, connections: trial.connections, ...costsOf(outcome), ...sharesOf(counts) };
}

function costsOf({ requests, elapsedMs, cpuUs, databaseCpuUs }: Outcome) {
  return {
    perSecond: (requests * 1_000) / elapsedMs,
    cpuEach: cpuUs / requests,
    databaseCpuEach: databaseCpuUs / requests,
  };
}

/** Returns how many requests each process has answered, once all of them are in the log after its first `from` bytes. */
async function countAll(
  { logFile, processes }: Site,
  { from, requests }: { readonly from: number; readonly requests: number },
): Promise<readonly number[]> {
  const deadline = performance.now() + LOG_MS;
  for (;;) {
    const counts = countLogged(readFileSync(logFile).subarray(from).toString(), processes);
    const sum = counts.reduce((total, count) => total + count, 0);
    if (sum === requests) return counts;
    if (performance.now() > deadline)
      throw new Error(`${requests} requests were answered, and ${sum} were logged`);
    await Bun.sleep(POLL_MS);
  }
}

/** Counts the requests in a log by process. A gateway of one process does not log its index. */
function countLogged(log: string, processes: number): number[] {
  const counts = new Array<number>(processes).fill(0);
  for (const [, index] of log.matchAll(/"message":"request"(?:,"process":(\d+))?/g)) {
    const at = Number(index ?? 1) - 1;
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

function sharesOf(counts: readonly number[]) {
  const sum = counts.reduce((total, count) => total + count, 0);
  return { lowest: Math.min(...counts) / sum, highest: Math.max(...counts) / sum };
}

type Figure = "perSecond" | "cpuEach" | "databaseCpuEach";

const FIGURES: readonly (readonly [Figure, string])[] = [
  ["perSecond", "requests per second"],
  ["cpuEach", "CPU of a request, µs"],
  ["databaseCpuEach", "its database's, µs"],
];

const line = tableLine({ label: 34, column: 16 });

function render(found: readonly Round[]): string {
  const lines = ["", line("", ["1 process", "2 processes", "2 / 1"])];
  for (const connections of CONNECTIONS) {
    lines.push(`${connections} connections`);
    const rounds = (processes: number) =>
      found.filter((one) => one.connections === connections && one.processes === processes);
    for (const [figure, label] of FIGURES) {
      const [one, two] = PROCESSES.map(
        (processes) => medianOf(rounds(processes).map((round) => round[figure])) ?? 0,
      );
      lines.push(
        line(`  ${label}`, [
          (one ?? 0).toFixed(0),
          (two ?? 0).toFixed(0),
          formatRatio((two ?? 0) / (one ?? 1)),
        ]),
      );
    }
    const several = rounds(2);
    const lowest = Math.min(...several.map((round) => round.lowest));
    const highest = Math.max(...several.map((round) => round.highest));
    lines.push(
      line("  share of a process, all rounds", ["", `${percent(lowest)} to ${percent(highest)}`, ""]),
    );
    const each = several.map((round) => percent(round.lowest)).join(", ");
    lines.push(`  lowest share of each round: ${each}`);
  }
  return lines.join("\n");
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
