import { join } from "node:path";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import type { Running } from "../targets/contestant.ts";
import type { ProbeReading } from "./probe.ts";

/** A program with the probe in its process. */
export interface Probed {
  readonly running: Running;
  read(path: "now" | "collected"): Promise<ProbeReading>;
}

const PROBE_MS = 20_000;

/** Starts a program on Bun with the probe; `start` takes further variables for its environment. */
export async function startProbed(
  start: (environment: Readonly<Record<string, string>>) => Promise<Running>,
): Promise<Probed> {
  const port = await findFreePort();
  const running = await start({
    BENCH_PROBE_PORT: String(port),
    BUN_OPTIONS: `--preload=${join(import.meta.dir, "probe.ts")}`,
  });
  const read = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${path}`, { signal: AbortSignal.timeout(PROBE_MS) });
    return (await answer.json()) as ProbeReading;
  };
  return { running, read };
}
