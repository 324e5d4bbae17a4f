import { readFileSync } from "node:fs";
import type { Tolerance } from "../peers/plan.ts";
import { cpuBetween, readCpu } from "./proc.ts";

/** The disturbance by others during a round. */
export interface Disturbance {
  /** The share of processor time that the host gave to other machines. */
  readonly steal: number;
  /** Cores that programs outside the bench kept busy. */
  readonly others: number;
}

/** Processor time of the whole machine so far, in ticks. */
interface MachineTicks {
  readonly busy: number;
  readonly steal: number;
  readonly total: number;
}

/** Begins to watch the machine. The returned function ends it. The bench and the processes that it has started are no disturbance. */
export function watchHost(): () => Disturbance {
  const ticks = readMachineTicks(readFileSync("/proc/stat", "utf8"));
  const own = readCpu(process.pid);
  const startedAt = performance.now();
  return () => {
    const ownUs = cpuBetween(own, readCpu(process.pid));
    const elapsedUs = (performance.now() - startedAt) * 1_000;
    return disturbanceBetween(ticks, readMachineTicks(readFileSync("/proc/stat", "utf8")), ownUs / elapsedUs);
  };
}

/** Parses the first line of `/proc/stat`. Throws if there is none. */
export function readMachineTicks(stat: string): MachineTicks {
  const line = /^cpu +(.+)$/m.exec(stat)?.[1];
  if (line === undefined) throw new Error("/proc/stat has no line of all processors");
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0] = line
    .split(" ")
    .map(Number);
  const busy = user + nice + system + irq + softirq;
  return { busy, steal, total: busy + idle + wait + steal };
}

/** Returns the disturbance between two readings; `ownCores` is how many cores the bench kept busy itself. */
export function disturbanceBetween(before: MachineTicks, after: MachineTicks, ownCores: number): Disturbance {
  const total = after.total - before.total;
  if (total <= 0) return { steal: 0, others: 0 };
  const cores = navigator.hardwareConcurrency;
  const busyCores = ((after.busy - before.busy) / total) * cores;
  return { steal: (after.steal - before.steal) / total, others: Math.max(0, busyCores - ownCores) };
}

/** Whether a round is kept. */
export function isTolerable(found: Disturbance, tolerance: Tolerance | null): boolean {
  return tolerance === null || (found.steal <= tolerance.steal && found.others <= tolerance.others);
}
