/** The result of a child process. */
export interface ChildRun {
  /** `null` if it was ended because it took too long. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ChildOptions {
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
}

/** How long a child may take to end after SIGTERM. Milliseconds. */
const GRACE_MS = 2_000;

/** Leaders of the running process groups. */
const leaders = new Set<number>();

/** Ends all running children immediately, before this process exits. */
export function endChildren(): void {
  for (const leader of leaders) signalGroup(leader, "SIGKILL");
}

/** Runs a command in its own process group, and ends what remains of the group. */
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
  // Remaining processes would keep its output open.
  signalGroup(child.pid, "SIGKILL");
  leaders.delete(child.pid);
  const [stdout, stderr] = await output;
  return { exitCode: isLate ? null : exitCode, stdout, stderr };
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // No process of the group is left.
  }
}
