import { existsSync, readFileSync } from "node:fs";

const POLL_MS = 1;
/** A signal takes effect within this time, also on a machine that is overloaded. Milliseconds. */
const EFFECT_MS = 60_000;

/** States of proc(5) in which a process executes nothing: stopped, traced, a zombie, dead. */
const STILL = ["T", "t", "Z", "X"];
const DEAD = ["Z", "X"];

/**
 * Stops a process and then its children. Returns their ids when none of them runs. The process itself comes first: as long as it runs,
 * the list of its children may lack one that is being started, or several while another one ends (proc(5)). Rejects if one still runs
 * after a minute.
 */
export async function stopFamily(leader: number): Promise<number[]> {
  await stopAll([leader]);
  const children = listChildren(leader);
  await stopAll(children);
  return [leader, ...children];
}

/** Lets a process and its children that `stopFamily` has stopped go on. */
export function resumeFamily(leader: number): void {
  signalAll([leader, ...listChildren(leader)], "SIGCONT");
}

/** Kills processes and resolves when all have ended. Rejects if one has not after a minute. */
export async function killAll(pids: readonly number[]): Promise<void> {
  signalAll(pids, "SIGKILL");
  await untilAllAre(DEAD, pids);
}

async function stopAll(pids: readonly number[]): Promise<void> {
  signalAll(pids, "SIGSTOP");
  await untilAllAre(STILL, pids);
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended in the meantime.
    }
  }
}

async function untilAllAre(states: readonly string[], pids: readonly number[]): Promise<void> {
  const until = Date.now() + EFFECT_MS;
  for (;;) {
    const others = pids.filter((pid) => !states.includes(readState(pid)));
    if (others.length === 0) return;
    if (Date.now() > until) throw new Error(`processes ${others.join(", ")} did not react to a signal`);
    await Bun.sleep(POLL_MS);
  }
}

/** Returns the state of a process as in proc(5): `X` if there is none, or no such file system. */
export function readState(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it may contain parentheses and spaces.
    return stat.charAt(stat.lastIndexOf(")") + 2);
  } catch {
    return "X";
  }
}

function listChildren(parent: number): number[] {
  const path = `/proc/${parent}/task/${parent}/children`;
  return existsSync(path) ? readFileSync(path, "utf8").trim().split(" ").filter(Boolean).map(Number) : [];
}
