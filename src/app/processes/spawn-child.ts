import type { FromProcess, ProcessStarted, ToProcess } from "./messages.ts";
import type { GatewayChild } from "./supervisor.ts";

/** How to start a gateway process. */
export interface SpawnOptions {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Takes complete lines of its standard output, which is its log. */
  readonly writeLines: (lines: string) => void;
}

/** Starts a gateway process that reports to this one. */
export function spawnChild({ command, environment, writeLines }: SpawnOptions): GatewayChild {
  const started = Promise.withResolvers<ProcessStarted | null>();
  const confirmed = Promise.withResolvers<void>();
  const child = Bun.spawn([...command], {
    env: { ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    // In a group of its own: Ctrl-C reaches the supervisor only, which tells the processes once.
    detached: true,
    serialization: "json",
    ipc(message: FromProcess) {
      if (message.kind === "started") started.resolve(message);
      else confirmed.resolve();
    },
  });
  const log = forwardLines(child.stdout, writeLines);
  const exited = child.exited.then(async () => {
    await log;
    started.resolve(null);
    confirmed.resolve();
    return child.signalCode === null ? `exit code ${child.exitCode}` : String(child.signalCode);
  });
  return {
    started: started.promise,
    exited,
    confirmShown() {
      if (child.exitCode === null) child.send({ kind: "keysShown" } satisfies ToProcess);
      return confirmed.promise;
    },
    kill: (signal) => child.kill(signal),
  };
}

/** A line longer than this is forwarded in parts. Characters. */
const MAX_LINE_CHARS = 1024 * 1024;

/** Forwards whole lines, because the lines of several processes go to one place. */
async function forwardLines(
  output: ReadableStream<Uint8Array>,
  writeLines: (lines: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of output) {
    rest += decoder.decode(piece, { stream: true });
    const end = rest.length > MAX_LINE_CHARS ? rest.length : rest.lastIndexOf("\n") + 1;
    if (end === 0) continue;
    writeLines(rest.slice(0, end));
    rest = rest.slice(end);
  }
  if (rest !== "") writeLines(`${rest}\n`);
}
