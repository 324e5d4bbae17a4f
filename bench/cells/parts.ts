import { type Harness, type Outcome, type Trial, WrongAnswers } from "../load/harness.ts";
import { CONNECTIONS, closedTrial, STREAM_EVENTS } from "../load/trials.ts";
import { inTurn } from "../load/turns.ts";
import type { Findings, Measured } from "./findings.ts";
import type { PartName, Plan } from "./plan.ts";
import type { Target, TargetName } from "./targets.ts";

const LATENCY_RATE = 200;
const FIRST_TOKEN_RATE = 50;
const OPEN_LOOP_CONNECTIONS = 512;

/** What every part needs. */
export interface Bench {
  readonly plan: Plan;
  readonly harness: Harness;
  readonly targets: readonly Target[];
  readonly findings: Findings;
  say(line: string): void;
}

type Use = (outcome: Outcome, target: Target, round: number) => void;

/** Measures processor time and requests per second with small bodies and small answers. */
export async function measureSmall(bench: Bench): Promise<void> {
  const { plan } = bench;
  const trial = closedTrial(plan.closedMs, {});
  await warmUp(bench, "small", trial);
  for (let round = 1; round <= plan.rounds; round++) {
    await each(bench, "small", trial, round, (outcome, { name, databasePid }) => {
      addCpu(bench, "small.cpu", name, round, outcome);
      if (databasePid !== null)
        bench.findings.add("small.database", name, round, outcome.databaseCpuUs / outcome.requests);
      bench.findings.add(`small.rps.${CONNECTIONS}`, name, round, rate(outcome));
    });
    for (const connections of plan.otherConnections) {
      await each(bench, "small", { ...trial, connections }, round, (outcome, { name }) =>
        bench.findings.add(`small.rps.${connections}`, name, round, rate(outcome)),
      );
    }
  }
}

/** Measures the same with an agent's conversation of 200 kB. */
export async function measureLarge(bench: Bench): Promise<void> {
  const trial = closedTrial(bench.plan.closedMs, { body: "large" });
  await warmUp(bench, "large", trial);
  for (let round = 1; round <= bench.plan.rounds; round++) {
    await each(bench, "large", trial, round, (outcome, { name }) => {
      addCpu(bench, "large.cpu", name, round, outcome);
      bench.findings.add(`large.rps.${CONNECTIONS}`, name, round, rate(outcome));
    });
  }
}

/** Measures streams sent in a burst: what a stream costs, and what each further event adds. */
export async function measureStream(bench: Bench): Promise<void> {
  const long = closedTrial(bench.plan.closedMs, { events: STREAM_EVENTS });
  const short = { ...long, events: 1 };
  await warmUp(bench, "stream", long);
  for (let round = 1; round <= bench.plan.rounds; round++) {
    const base = new Map<TargetName, number>();
    await each(bench, "stream", short, round, (outcome, { name }) => {
      base.set(name, outcome.cpuUs / outcome.requests);
      addCpu(bench, "stream.base", name, round, outcome);
    });
    await each(bench, "stream", long, round, (outcome, target) => {
      const { name } = target;
      addCpu(bench, "stream.cpu", name, round, outcome);
      bench.findings.add(`stream.rps.${CONNECTIONS}`, name, round, rate(outcome));
      const added = outcome.cpuUs / outcome.requests - (base.get(name) ?? 0);
      if (target.pid !== null) bench.findings.add("stream.event", name, round, added / (STREAM_EVENTS - 1));
    });
  }
}

/** Measures how much a target adds to the time of an answer and to the first token, at a rate that all targets sustain. */
export async function measureLatency(bench: Bench): Promise<void> {
  const { plan } = bench;
  const plain = openTrial(LATENCY_RATE, plan.openMs, 0);
  const stream = openTrial(FIRST_TOKEN_RATE, plan.openMs, 10);
  await warmUp(bench, "latency", plain);
  for (let round = 1; round <= plan.rounds; round++) {
    await compare(bench, plain, round, "latency.answer", (outcome) => outcome.latency);
    await compare(bench, stream, round, "latency.first-token", (outcome) => outcome.firstToken);
  }
}

/** Adds p50 and p99, and by how much each exceeds that of `direct` in the same round. */
async function compare(
  bench: Bench,
  trial: Trial,
  round: number,
  figure: string,
  spreadOf: (outcome: Outcome) => { readonly p50: number; readonly p99: number },
): Promise<void> {
  const found = new Map<TargetName, { readonly p50: number; readonly p99: number }>();
  await each(bench, "latency", trial, round, (outcome, { name }) => found.set(name, spreadOf(outcome)));
  const direct = found.get("direct");
  for (const [name, spread] of found) {
    for (const share of ["p50", "p99"] as const) {
      bench.findings.add(`${figure}.${share}`, name, round, spread[share]);
      if (direct === undefined || name === "direct") continue;
      bench.findings.add(`${figure}.added.${share}`, name, round, spread[share] - direct[share]);
    }
  }
}

/** Runs a trial once on every target. Each round begins with another target, so that none is always first. */
export async function each(
  bench: Bench,
  part: PartName,
  trial: Trial,
  round: number,
  use: Use,
): Promise<void> {
  for (const target of inTurn(bench.targets, round))
    await attempt(bench, part, target, async () =>
      use(await bench.harness.run(target, trial), target, round),
    );
}

/** Warms targets up, so that compilers and allocators have settled before the measurement. */
export async function warmUp(bench: Bench, part: PartName, trial: Trial): Promise<void> {
  bench.say(`${part} …`);
  const { ms, requests, limitMs } = bench.plan.warmUp;
  const missing = new Map<Target, number>();
  await each(bench, part, { ...trial, durationMs: ms }, 0, (outcome, target) => {
    missing.set(target, requests - outcome.requests);
  });
  for (const target of bench.targets) {
    const maxRequests = missing.get(target) ?? 0;
    // An open loop sends at its rate only, so it needs no other limit.
    if (maxRequests <= 0 || trial.ratePerSecond > 0) continue;
    await attempt(bench, part, target, async () => {
      await bench.harness.run(target, { ...trial, maxRequests, durationMs: limitMs - ms });
    });
  }
}

/** Records a target's failure instead of rethrowing it. A target that failed in a part is not measured in it any more. */
export async function attempt(
  bench: Bench,
  part: Measured,
  target: Pick<Target, "name">,
  work: () => Promise<void>,
): Promise<void> {
  if (bench.findings.hasFailed(target.name, part)) return;
  try {
    await work();
  } catch (error) {
    if (!(error instanceof WrongAnswers)) throw error;
    bench.findings.fail(target.name, part, error.message);
    bench.say(`  ${target.name} failed: ${error.message}`);
  }
}

/** Adds the processor time per request; `direct` has none. */
export function addCpu(
  bench: Bench,
  figure: string,
  name: TargetName,
  round: number,
  outcome: Outcome,
): void {
  if (name !== "direct") bench.findings.add(figure, name, round, outcome.cpuUs / outcome.requests);
}

function rate(outcome: Outcome): number {
  return (outcome.requests * 1000) / outcome.elapsedMs;
}

/** Requests that leave on schedule, whether earlier ones were answered or not. Streams are paced at 5 ms. */
function openTrial(ratePerSecond: number, durationMs: number, events: number): Trial {
  const intervalMs = events === 0 ? 0 : 5;
  return closedTrial(durationMs, { ratePerSecond, events, intervalMs, connections: OPEN_LOOP_CONNECTIONS });
}
