import type { Harness } from "../harness.ts";
import { startWithLimits } from "../laboratory/targets/gateway.ts";
import { closedTrial } from "../parts.ts";
import { startProbed } from "../probe/start-probed.ts";

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
