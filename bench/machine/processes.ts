import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Subprocess } from "bun";
import { readTree } from "./proc.ts";

const READY_MS = 60_000;
const POLL_MS = 5;
const GRACE_MS = 3_000;

/** The core of a process: measured ones on the first, measuring ones on the second. */
type Core = "target" | "harness";

const running = new Set<Subprocess>();
const cleanups = new Set<() => Promise<void>>();
let cores = readCores();

/** Returns the command that pins `command` to its core; `command` itself where that is not possible. */
export function pinned(core: Core, command: readonly string[]): string[] {
  if (cores === null) return [...command];
  return ["taskset", "-c", String(core === "target" ? cores[0] : cores[1]), ...command];
}

/** Lets all processes that are started from now on use every core. */
export function unpin(): void {
  cores = null;
}

/** Describes the pinning for the report. */
export function describePinning(): string {
  if (cores === null) return "not pinned";
  return `targets on core ${cores[0]}, load and upstream on core ${cores[1]}`;
}

/** Pins a running process and those that it has started, and with them those that it will start. */
export function pinRunning(core: Core, pid: number): void {
  if (cores === null) return;
  const number = String(core === "target" ? cores[0] : cores[1]);
  for (const member of readTree(pid)) Bun.spawnSync(["taskset", "-a", "-p", "-c", number, member]);
}

/** Registers what ends a server that is not one process. The returned function does it. */
export function adoptServer(remove: () => Promise<void>): () => Promise<void> {
  const cleanup = () => (cleanups.delete(cleanup) ? remove() : Promise.resolve());
  cleanups.add(cleanup);
  return cleanup;
}

/** Registers a process, so that it is ended with the bench. */
export function adopt<T extends Subprocess>(process: T): T {
  running.add(process);
  process.exited.then(() => running.delete(process));
  return process;
}

/** What a measured process gets besides its command. */
interface SpawnOptions {
  readonly cwd: string;
  /** Its only variables, besides PATH and HOME: those of the developer must have no effect. */
  readonly env: Readonly<Record<string, string>>;
  /** The files of its output and its errors. Absent: they are not kept. */
  readonly stdout?: string | undefined;
  readonly stderr?: string;
}

/** Starts a process on the core of the measured ones. */
export function spawnMeasured(command: readonly string[], options: SpawnOptions): Subprocess {
  const { cwd, env, stdout, stderr } = options;
  const { PATH = "", HOME = "" } = process.env;
  return adopt(
    Bun.spawn(pinned("target", command), {
      cwd,
      env: { PATH, HOME, ...env },
      stdin: "ignore",
      stdout: stdout === undefined ? "ignore" : Bun.file(stdout),
      stderr: stderr === undefined ? "ignore" : Bun.file(stderr),
    }),
  );
}

/** Ends a process and waits until it has exited. */
export async function end(process: Subprocess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  process.kill("SIGTERM");
  const timer = setTimeout(() => process.kill("SIGKILL"), GRACE_MS);
  await process.exited;
  clearTimeout(timer);
}

/** Ends every process that the bench has started. */
export async function endAll(): Promise<void> {
  await Promise.all([...running].map(end));
  await Promise.all([...cleanups].map((cleanup) => cleanup()));
}

/** Ends every process without waiting, as the last resort. */
export function killAll(): void {
  for (const process of running) process.kill("SIGKILL");
}

/** Waits until `url` returns 200. Rejects if the process exits first or takes too long. */
export async function waitUntilReady(url: string, process: Subprocess): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline) {
    if (process.exitCode !== null) throw new Error(`it ended with code ${process.exitCode}`);
    if (await isReady(url)) return;
    await Bun.sleep(POLL_MS);
  }
  throw new Error(`it did not answer ${url} within ${READY_MS / 1000} s`);
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1_000) })).status === 200;
  } catch {
    return false;
  }
}

/** Two cores this process may use, or `null` if there is only one or no way to pin. */
function readCores(): readonly [number, number] | null {
  if (Bun.which("taskset") === null || availableParallelism() < 2) return null;
  const allowed = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
  const [first, second] = allowed.split(",").flatMap(expandRange);
  return first === undefined || second === undefined ? null : [first, second];
}

function expandRange(range: string): number[] {
  const [from = 0, to = from] = range.split("-").map(Number);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
