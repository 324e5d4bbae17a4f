import { join } from "node:path";
import type { Running } from "../laboratory/contestant.ts";
import { createPrepaidKey, RATE_LIMIT, SPEND_LIMIT, startVariant } from "../laboratory/targets/gateway.ts";
import { findFreePort } from "../processes.ts";
import type { ProbeReading } from "./probe.ts";

/** A gateway with everything on and with the probe in its process. */
export interface ProbedGateway {
  readonly running: Running;
  read(path: "now" | "collected"): Promise<ProbeReading>;
}

const PROBE_MS = 20_000;

/** Starts a gateway with the probe. `environment` has further variables for it. */
export async function startProbed(
  upstreamPort: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<ProbedGateway> {
  const port = await findFreePort();
  const running = await startWithLimits(upstreamPort, {
    ...environment,
    BENCH_PROBE_PORT: String(port),
    BUN_OPTIONS: `--preload=${join(import.meta.dir, "probe.ts")}`,
  });
  const read = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${path}`, { signal: AbortSignal.timeout(PROBE_MS) });
    return (await answer.json()) as ProbeReading;
  };
  return { running, read };
}

/** Starts a gateway as the laboratory does: an account, a key with a spending limit and three kinds of rate limit, ledger, records, log. */
export function startWithLimits(
  upstreamPort: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> {
  return startVariant("gateway", upstreamPort, {
    environment,
    createKey: (manage) => createPrepaidKey(manage, { spend_limit: SPEND_LIMIT, rate_limit: RATE_LIMIT }),
  });
}
