import { readdirSync, readFileSync } from "node:fs";

/** Linux counts ticks of 10 ms in `stat` on every architecture that Bun supports. */
const TICK_NS = 10_000_000;
/** Two readings, each rounded down to whole ticks. */
const TICK_ERROR_NS = 2 * TICK_NS;
const STAT_PARENT = 1;
const STAT_TIMES = [11, 12] as const;
const STAT_CHILDREN_TIMES = [13, 14] as const;

/** Processor time used so far by a process, its threads and its children. */
export interface CpuReading {
  /** By thread, in nanoseconds; excludes threads that have ended. */
  readonly byThread: ReadonlyMap<string, number>;
  /** In total, in ticks; includes threads and children that have ended. */
  readonly coarseNs: number;
}

/** Reads the processor time of the process tree under `pid`. */
export function readCpu(pid: number): CpuReading {
  const byThread = new Map<string, number>();
  let coarseNs = 0;
  for (const member of readTree(pid)) {
    coarseNs += readTicks(member) * TICK_NS;
    for (const thread of list(`/proc/${member}/task`)) {
      const used = read(`/proc/${member}/task/${thread}/schedstat`)?.split(" ")[0];
      if (used !== undefined) byThread.set(thread, Number(used));
    }
  }
  return { byThread, coarseNs };
}

/**
 * Returns the microseconds used between two readings: the precise count, or the coarse one if threads that ended in between
 * took a part of the precise count with them.
 */
export function cpuBetween(before: CpuReading, after: CpuReading): number {
  let preciseNs = 0;
  for (const [thread, used] of after.byThread) preciseNs += used - (before.byThread.get(thread) ?? 0);
  const coarseNs = after.coarseNs - before.coarseNs;
  return (coarseNs - preciseNs > TICK_ERROR_NS ? coarseNs : preciseNs) / 1_000;
}

/** Returns the resident memory of the process tree under `pid`, in MB (1,000,000 bytes). */
export function readResidentMb(pid: number): number {
  let kilobytes = 0;
  for (const member of readTree(pid)) {
    const found = /VmRSS:\s+(\d+) kB/.exec(read(`/proc/${member}/status`) ?? "")?.[1];
    kilobytes += Number(found ?? 0);
  }
  return (kilobytes * 1024) / 1_000_000;
}

/** Returns `pid` and all its descendants. */
export function readTree(pid: number): string[] {
  const children = new Map<string, string[]>();
  for (const entry of list("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const parent = readStat(entry)?.[STAT_PARENT];
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), entry]);
  }
  const tree = [String(pid)];
  for (const member of tree) tree.push(...(children.get(member) ?? []));
  return tree;
}

function readTicks(pid: string): number {
  const fields = readStat(pid);
  if (fields === null) return 0;
  return [...STAT_TIMES, ...STAT_CHILDREN_TIMES].reduce((sum, field) => sum + Number(fields[field] ?? 0), 0);
}

/** Returns the fields of `stat` after the name, which may contain spaces and brackets. */
function readStat(pid: string): string[] | null {
  const text = read(`/proc/${pid}/stat`);
  return text === null ? null : text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns `null` if the process has ended since it was listed. */
function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
