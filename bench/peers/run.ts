/** `npm run bench -- peers`: measures other gateways and relays beside this one. See docs/performance.md. */
import { Harness } from "../load/harness.ts";
import { describeMachine, nameMoment, readCommit } from "../machine/describe-machine.ts";
import { keepResult, ROOT } from "../machine/folders.ts";
import { runProgram } from "../machine/run-program.ts";
import { bifrost } from "../targets/bifrost.ts";
import { bunRelay } from "../targets/bun-relay.ts";
import { byteRelay } from "../targets/byte-relay.ts";
import type { Contestant } from "../targets/contestant.ts";
import { direct } from "../targets/direct.ts";
import { floors } from "../targets/floors.ts";
import { gateway } from "../targets/gateway.ts";
import { litellm } from "../targets/litellm.ts";
import { nginx } from "../targets/nginx.ts";
import { portkey } from "../targets/portkey.ts";
import { readToolVersions } from "../targets/programs.ts";
import { measureAgents } from "./measure-agents.ts";
import { measureBurst } from "./measure-burst.ts";
import { measureFeatures } from "./measure-features.ts";
import { measureHeaps } from "./measure-heap.ts";
import { measureLatency } from "./measure-latency.ts";
import { measureLoops, measureTranslation } from "./measure-loops.ts";
import { measureStart } from "./measure-start.ts";
import { measureStreams } from "./measure-streams.ts";
import { type LabPlan, type PartName, readLabPlan, usage } from "./plan.ts";
import { publish } from "./publish.ts";
import { type LabResults, PartLog, type PartResult } from "./results.ts";
import { type Lab, messageOf } from "./rounds.ts";
import { renderTables } from "./tables.ts";

/** In the order of the tables. */
const CONTESTANTS: readonly Contestant[] = [
  direct,
  byteRelay,
  nginx,
  bunRelay,
  ...floors,
  gateway,
  bifrost,
  portkey,
  litellm,
];

const PARTS: Record<PartName, (lab: Lab) => Promise<void>> = {
  loops: measureLoops,
  translation: measureTranslation,
  latency: measureLatency,
  burst: measureBurst,
  start: measureStart,
  features: measureFeatures,
  streams: measureStreams,
  agents: measureAgents,
  heap: measureHeaps,
};

/** The only variants that a part measures. Absent: all. */
const VARIANTS: Partial<Record<PartName, readonly string[]>> = {
  agents: [nginx.name, gateway.name],
  heap: [...floors, gateway].map(({ name }) => name),
};

async function main(): Promise<void> {
  const names = CONTESTANTS.map(({ name }) => name);
  const plan = readLabPlan(process.argv.slice(2), names);
  if (plan === null) {
    console.log(usage(names));
    return;
  }
  say(describeMachine());
  const { contestants, skipped } = await prepareAll(plan);
  // Read before anything is published, which changes files of the checkout.
  const commit = readCommit();
  const harness = await Harness.start();
  const parts: Partial<Record<PartName, PartResult>> = {};
  const file = `peers-${nameMoment(new Date())}.json`;
  const tools = readToolVersions();
  const labels = Object.fromEntries(CONTESTANTS.map(({ name, label }) => [name, label]));
  for (const name of plan.parts) {
    parts[name] = await measurePart(name, commit, { plan, harness, contestants, skipped });
    await keep({ labels, tools, parts }, plan, file);
  }
  await harness.stop();
  console.log(renderTables({ labels, tools, parts }));
  const hasFailed = Object.values(parts).some(({ absent }) =>
    absent.some(({ subject }) => subject === "gateway"),
  );
  if (hasFailed) process.exitCode = 1;
  if (plan.isQuick) console.log("A quick run: it shows that everything runs, and its figures mean nothing.");
}

/** Installs what is missing, and says what is skipped. */
async function prepareAll(plan: LabPlan) {
  const contestants: Contestant[] = [];
  const skipped: Skipped[] = [];
  for (const contestant of CONTESTANTS.filter(({ name }) => plan.targets.includes(name))) {
    try {
      await contestant.prepare();
      contestants.push(contestant);
    } catch (error) {
      skipped.push({ contestant, reason: messageOf(error) });
      say(`Skipped: ${contestant.label}: ${messageOf(error)}`);
    }
  }
  return { contestants, skipped };
}

/** A variant that could not be installed, and why. */
interface Skipped {
  readonly contestant: Contestant;
  readonly reason: string;
}

async function measurePart(
  name: PartName,
  commit: string | null,
  { skipped, contestants, ...rest }: Omit<Lab, "log" | "say"> & { skipped: readonly Skipped[] },
): Promise<PartResult> {
  const isIn = ({ name: variant, parts }: Contestant) =>
    (parts?.includes(name) ?? true) && (VARIANTS[name]?.includes(variant) ?? true);
  const log = new PartLog();
  for (const { contestant, reason } of skipped) if (isIn(contestant)) log.fail(contestant.name, reason);
  const measuredAt = new Date().toISOString();
  await PARTS[name]({ ...rest, contestants: contestants.filter(isIn), log, say });
  return log.finish({ measuredAt, commit, machine: describeMachine() });
}

async function keep(results: LabResults, plan: LabPlan, file: string): Promise<void> {
  await keepResult(file, results);
  if (plan.publishes) await publish(results, ROOT);
}

function say(line: string): void {
  console.error(line);
}

await runProgram(main);
