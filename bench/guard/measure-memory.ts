import type { Harness } from "../load/harness.ts";
import { closedTrial } from "../load/trials.ts";
import { startProbed } from "../machine/start-probed.ts";
import { startWithLimits } from "../targets/gateway.ts";

const WARM_UP = { maxRequests: 20_000, durationMs: 20_000 } as const;
/** So slow that even a busy machine is faster. */
const MS_PER_REQUEST = 1;

/**
 * Measures by how many bytes live memory grows with each of `count` small requests, between two full collections, after 20,000 requests
 * as a warm-up.
 */
export async function measureMemory(harness: Harness, count: number) {
  const { running, read } = await startProbed((environment) =>
    startWithLimits(harness.upstreamPort, environment),
  );
  await harness.run(running, closedTrial(0, WARM_UP));
  const before = await read("collected");
  const trial = closedTrial(count * MS_PER_REQUEST, { maxRequests: count });
  const { requests } = await harness.run(running, trial);
  const after = await read("collected");
  await running.stop();
  return { "memory.slope": (after.live - before.live) / requests };
}
