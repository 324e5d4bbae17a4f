/** `npm run bench`: compares the gateway with no gateway, the minimal gateway and another product. See README.md. */
import { cpus, loadavg, release, totalmem } from "node:os";
import { Harness } from "../load/harness.ts";
import { nameMoment, readCommit, readNodeVersion } from "../machine/describe-machine.ts";
import { keepResult } from "../machine/folders.ts";
import { describePinning, unpin } from "../machine/processes.ts";
import { runProgram } from "../machine/run-program.ts";
import { checkGoals } from "./aims.ts";
import { Findings } from "./findings.ts";
import { measureMemory } from "./memory.ts";
import { type Bench, measureLarge, measureLatency, measureSmall, measureStream } from "./parts.ts";
import { type PartName, type Plan, readPlan, USAGE } from "./plan.ts";
import { measurePlanning } from "./planning.ts";
import { renderReport } from "./report.ts";
import { compareProcesses } from "./several-processes.ts";
import { startTarget, type Target } from "./targets.ts";
import { compareTelemetry } from "./telemetry.ts";
import { measureTranslation } from "./translation.ts";

const TIMED: Record<Exclude<PartName, "memory">, (bench: Bench) => Promise<void>> = {
  small: measureSmall,
  large: measureLarge,
  stream: measureStream,
  translation: measureTranslation,
  latency: measureLatency,
  planning: measurePlanning,
};

const QUICK_NOTE =
  "A quick run: slices are short, and slow targets are not warm yet. Take the aims from a full run.\n";

async function main(): Promise<void> {
  const plan = readPlan(process.argv.slice(2));
  if (plan === null) {
    console.log(USAGE);
    return;
  }
  if (plan.comparesProcesses) unpin();
  const startedAt = new Date();
  const machine = describeMachine();
  console.log(
    `${machine.cpu}, ${machine.cores} cores, Linux ${machine.kernel}, Bun ${machine.bun}, Node.js ${machine.node}; ${machine.pinning}`,
  );
  if (plan.comparesProcesses) {
    console.log(await compareProcesses(plan.isQuick));
    return;
  }
  if (plan.comparesTelemetry) {
    console.log(await compareTelemetry(plan.isQuick, plan.before));
    return;
  }
  const findings = await measure(plan);
  console.log(renderReport(findings, plan));
  if (plan.isQuick) console.log(QUICK_NOTE);
  const file = await keep({ startedAt, seconds: secondsSince(startedAt), machine, plan, findings });
  console.log(`All rounds: ${file} (${secondsSince(startedAt)} s)`);
  if (findings.failures.some(({ target }) => target === "gateway" || target === "postgres"))
    process.exitCode = 1;
}

async function measure(plan: Plan): Promise<Findings> {
  const findings = new Findings();
  const harness = await Harness.start();
  const targets = await startTargets(plan, harness, findings);
  const bench: Bench = { plan, harness, targets, findings, say };
  for (const part of plan.parts) if (part !== "memory") await TIMED[part](bench);
  const names = targets.filter(({ pid }) => pid !== null).map(({ name }) => name);
  await Promise.all(targets.map((target) => target.stop()));
  if (plan.parts.includes("memory")) await measureMemory(bench, names);
  await harness.stop();
  return findings;
}

/** Starts the targets. One that does not start is reported and skipped. */
async function startTargets(plan: Plan, harness: Harness, findings: Findings): Promise<Target[]> {
  const targets: Target[] = [];
  for (const name of plan.targets) {
    const started = await startTarget(name, { upstreamPort: harness.upstreamPort, before: plan.before });
    if (typeof started !== "string") {
      targets.push(started);
      continue;
    }
    findings.fail(name, "start", started);
    say(`${name} did not start: ${started}`);
  }
  return targets;
}

function describeMachine() {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryMb: Math.round(totalmem() / 1_000_000),
    kernel: release(),
    bun: Bun.version,
    node: readNodeVersion(),
    pinning: describePinning(),
    loadBefore: loadavg(),
    commit: readCommit(),
  };
}

function keep(run: {
  startedAt: Date;
  seconds: number;
  machine: object;
  plan: Plan;
  findings: Findings;
}): Promise<string> {
  const { samples, failures } = run.findings;
  const { startedAt, seconds, machine, plan } = run;
  const content = { startedAt, seconds, machine, plan, aims: checkGoals(run.findings), failures, samples };
  return keepResult(`${nameMoment(startedAt)}.json`, content);
}

function secondsSince(moment: Date): number {
  return Math.round((Date.now() - moment.getTime()) / 1000);
}

function say(line: string): void {
  console.error(line);
}

await runProgram(main);
