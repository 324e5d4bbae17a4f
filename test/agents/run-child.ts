/** What a child has come to. */
export interface ChildRun {
  /** Null when it was ended for taking too long. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ChildOptions {
  readonly cwd: string;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
}

/** How long a child may take to end when it is asked to. Milliseconds. */
const GRACE_MS = 2_000;

/** Leaders of the groups that are running. */
const leaders = new Set<number>();

/** Ends all children that are running, at once: for when this process has to go. */
export function endChildren(): void {
  for (const leader of leaders) signalGroup(leader, "SIGKILL");
}

/** Runs a command in a process group of its own, and ends all that is left of the group. */
export async function runChild(
  command: readonly string[],
  { cwd, env, timeoutMs }: ChildOptions,
): Promise<ChildRun> {
  const child = Bun.spawn([...command], {
    cwd,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  leaders.add(child.pid);
  const output = Promise.all([child.stdout.text(), child.stderr.text()]);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    signalGroup(child.pid, "SIGTERM");
    setTimeout(() => signalGroup(child.pid, "SIGKILL"), GRACE_MS).unref();
  }, timeoutMs);
  const exitCode = await child.exited;
  clearTimeout(timer);
  // What it left behind would hold its output open.
  signalGroup(child.pid, "SIGKILL");
  leaders.delete(child.pid);
  const [stdout, stderr] = await output;
  return { exitCode: isLate ? null : exitCode, stdout, stderr };
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // Nobody of the group is left.
  }
}
