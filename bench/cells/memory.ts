import { WrongAnswers } from "../load/harness.ts";
import { closedTrial } from "../load/trials.ts";
import { cpuBetween, readCpu, readResidentMb } from "../machine/proc.ts";
import type { Measured } from "./findings.ts";
import { attempt, type Bench } from "./parts.ts";
import type { SlowStreams, Soak } from "./plan.ts";
import { startTarget, type Target, type TargetName } from "./targets.ts";

const SAMPLE_MS = 250;
const IDLE_MS = 1_000;
/** The share of streams that must be open at once for the figure to count. */
const LEAST_SHARE_AT_ONCE = 0.95;

/** Slices of the long run after which memory is read. */
export const SOAK_SLICES = 5;
/** The share of short streams in each slice. */
const SOAK_STREAM_SHARE = 0.2;
const SOAK_STREAM_EVENTS = 20;

/** Measures the resident memory of fresh processes: idle, under many slow streams and after them, and over a long run. */
export async function measureMemory(bench: Bench, names: readonly TargetName[]): Promise<void> {
  const { slowStreams, soak } = bench.plan;
  for (const name of names) {
    bench.say(`memory: ${slowStreams.count} slow streams through ${name} …`);
    await withFresh(bench, "memory", name, (target) => holdStreams(bench, target, slowStreams));
  }
  if (soak === null) return;
  for (const name of soak.targets.filter((other) => names.includes(other))) {
    bench.say(`memory: ${soak.requests} requests to ${name} …`);
    await withFresh(bench, "soak", name, (target) => soakTarget(bench, target, soak));
  }
}

async function withFresh(
  bench: Bench,
  part: Measured,
  name: TargetName,
  work: (target: Target & { pid: number }) => Promise<void>,
): Promise<void> {
  const target = await startTarget(name, {
    upstreamPort: bench.harness.upstreamPort,
    before: bench.plan.before,
  });
  if (typeof target === "string") {
    bench.findings.fail(name, part, target);
    return;
  }
  try {
    const { pid } = target;
    if (pid !== null) await attempt(bench, part, target, () => work({ ...target, pid }));
  } finally {
    await target.stop();
  }
}

async function holdStreams(bench: Bench, target: Target & { pid: number }, slow: SlowStreams): Promise<void> {
  const { findings, harness } = bench;
  const openingMs = (slow.count / slow.opensPerSecond) * 1000;
  const streamMs = slow.events * slow.intervalMs;
  await Bun.sleep(IDLE_MS);
  findings.add("memory.idle", target.name, 1, readResidentMb(target.pid));
  const watch = new Watch(target.pid);
  // Measures from when all are open until the first ends; the later half, because some targets open them slowly.
  const eventCpu = readEventCpu(
    target.pid,
    slow,
    openingMs + (streamMs - openingMs) / 2,
    streamMs - SAMPLE_MS,
  );
  const trial = closedTrial(openingMs + 1_000, { ...slow, connections: slow.count, maxRequests: slow.count });
  const running = harness.run(target, { ...trial, ratePerSecond: slow.opensPerSecond });
  const outcome = await running.finally(() => watch.stop());
  if (outcome.peakStreams < LEAST_SHARE_AT_ONCE * slow.count) {
    throw new WrongAnswers(`of ${slow.count} streams it let no more than ${outcome.peakStreams} run at once`);
  }
  findings.add("memory.streams", target.name, 1, watch.most);
  findings.add("memory.event", target.name, 1, await eventCpu);
  await Bun.sleep(slow.restMs);
  findings.add("memory.after", target.name, 1, readResidentMb(target.pid));
}

/** Returns the microseconds of processor time per single event, between two moments from now. */
async function readEventCpu(pid: number, slow: SlowStreams, fromMs: number, toMs: number): Promise<number> {
  await Bun.sleep(fromMs);
  const before = readCpu(pid);
  const startedAt = performance.now();
  await Bun.sleep(toMs - fromMs);
  const used = cpuBetween(before, readCpu(pid));
  const events = ((performance.now() - startedAt) / slow.intervalMs) * slow.count;
  return used / events;
}

async function soakTarget(bench: Bench, target: Target & { pid: number }, soak: Soak): Promise<void> {
  const size = Math.floor(soak.requests / SOAK_SLICES);
  const streams = Math.floor(size * SOAK_STREAM_SHARE);
  const stopAt = performance.now() + soak.limitMs;
  for (let slice = 1; slice <= SOAK_SLICES; slice++) {
    const left = () => Math.max(1, stopAt - performance.now());
    const plain = { maxRequests: size - streams };
    const stream = { maxRequests: streams, events: SOAK_STREAM_EVENTS };
    const first = await bench.harness.run(target, closedTrial(left(), plain));
    const second = await bench.harness.run(target, closedTrial(left(), stream));
    if (first.requests + second.requests < size) {
      bench.say(`  ${target.name} was stopped after ${soak.limitMs / 1000} s`);
      return;
    }
    await Bun.sleep(IDLE_MS);
    bench.findings.add(`soak.${slice}`, target.name, 1, readResidentMb(target.pid));
  }
}

/** Records the highest resident memory it has read. */
class Watch {
  most = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(pid: number) {
    this.#timer = setInterval(() => {
      this.most = Math.max(this.most, readResidentMb(pid));
    }, SAMPLE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
