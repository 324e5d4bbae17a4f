import type { RunOptions } from "./run-program.ts";

/** A gateway that was started from an installation. */
export interface StartedGateway {
  readonly url: string;
  /** Returns the output so far. */
  printed(): string;
  /** The keys that its first start printed; empty at later starts. */
  readonly managementKey: string;
  readonly inferenceKey: string;
  /** Sends a signal. Resolves with the exit code, or the name of the signal that ended it. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | string>;
  /** Sends SIGINT to all processes that the command has started, as a terminal does on Ctrl-C, and waits for their end. */
  interrupt(): Promise<void>;
}

/** The process groups that tests have started, one for each command. */
const groups = new Set<number>();

/** Kills what tests that failed have left running. */
export function killStarted(): void {
  for (const group of groups) signal(group, "SIGKILL");
  groups.clear();
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // All of its processes have ended.
  }
}

/**
 * Starts a gateway with a command, and waits until it listens.
 * @throws Error with its output if it ends before.
 */
export async function startInstalled(
  command: readonly string[],
  { cwd, environment = {} }: RunOptions,
): Promise<StartedGateway> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  groups.add(child.pid);
  let output = "";
  const listening = Promise.withResolvers<void>();
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      output += decoder.decode(piece, { stream: true });
      // With this line the gateway has recorded that its keys were shown.
      if (output.includes('"message":"listening"') && urlIn(output) !== undefined) listening.resolve();
    }
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  reading.then(() => listening.reject(new Error(`the gateway did not start: ${output}`)));
  await listening.promise;
  return {
    url: urlIn(output) as string,
    printed: () => output,
    managementKey: keyIn(output, "management"),
    inferenceKey: keyIn(output, "inference"),
    async end(name) {
      child.kill(name);
      await Promise.all([child.exited, reading]);
      return child.signalCode ?? child.exitCode ?? "";
    },
    async interrupt() {
      signal(child.pid, "SIGINT");
      // The pipes end with the last process that writes to them.
      await Promise.all([child.exited, reading]);
    },
  };
}

function urlIn(output: string): string | undefined {
  return /^Gateway listens on (\S+)$/m.exec(output)?.[1];
}

function keyIn(output: string, kind: string): string {
  return new RegExp(`${kind} key\\s+(gw_\\S+)`).exec(output)?.[1] ?? "";
}
