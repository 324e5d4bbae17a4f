import type { Clock } from "../../base/time/clock.ts";
import type { ReloadOptions } from "../../core/settings/config-reload.ts";
import type { ProcessMetrics } from "../watch/process-group.ts";
import type { FromProcess, ProcessStarted, ReloadAnswer, ReloadOutcome, ToProcess } from "./messages.ts";
import { Questions } from "./questions.ts";
import { STEP_MS } from "./reload-processes.ts";
import type { GatewayChild } from "./supervisor.ts";

/** How to start a gateway process. */
interface SpawnOptions {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Receives complete lines of its standard output, which is its log. */
  readonly writeLines: (lines: string) => void;
  /** Returns the metrics of the other processes. */
  readonly readOthers: () => Promise<readonly ProcessMetrics[]>;
  /** Reloads the configuration of all processes, on behalf of a request to this one. */
  readonly reloadAll: (options: ReloadOptions) => Promise<ReloadOutcome>;
  readonly clock: Clock;
}

/** Starts a gateway process that reports to this one. */
export function spawnChild(options: SpawnOptions): GatewayChild {
  const { command, environment, writeLines, clock } = options;
  const questions = new Questions<ProcessMetrics>(clock);
  const steps = new Questions<ReloadAnswer>(clock, STEP_MS);
  const send = (message: ToProcess): void => {
    if (child.exitCode === null) child.send(message);
  };
  const started = Promise.withResolvers<ProcessStarted | null>();
  const confirmed = Promise.withResolvers<void>();
  const child = Bun.spawn([...command], {
    env: { ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    // In a group of its own, so that Ctrl-C reaches only the supervisor, which tells each process once.
    detached: true,
    serialization: "json",
    ipc(message: FromProcess) {
      switch (message.kind) {
        case "started":
          return started.resolve(message);
        case "keysConfirmed":
          return confirmed.resolve();
        case "metrics":
          return questions.answer(message.id, message.metrics);
        case "readOthers":
          options
            .readOthers()
            .then((others) => send({ kind: "others", id: message.id, others }))
            // It has ended, and waits for no answer.
            .catch(() => {});
          break;
        case "reloadAnswer":
          return steps.answer(message.id, message.answer);
        case "reloadWanted":
          options
            .reloadAll(message.options)
            .then((outcome) => send({ kind: "reloadOutcome", id: message.id, outcome }))
            .catch(() => {});
          break;
      }
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
      send({ kind: "keysShown" });
      return confirmed.promise;
    },
    readMetrics: () => questions.ask((id) => send({ kind: "readMetrics", id })),
    // The message to a process that has ended needs no answer.
    reload: (step) =>
      Promise.race([steps.ask((id) => send({ kind: "reloadStep", id, step })), exited.then(() => null)]),
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
