import type { Harness } from "../harness.ts";
import { closedTrial } from "../parts.ts";
import { startProbed } from "./probed-gateway.ts";

const REQUESTS = 20_000;
const LIMIT_MS = 20_000;

/**
 * Measures by how many bytes live memory grows with each of many small requests, between two full collections, after as many requests
 * as a warm-up. Also returns the files of the program that a start has loaded.
 */
export async function measureMemory(harness: Harness) {
  const { running, read } = await startProbed(harness.upstreamPort);
  const { modules } = await read("now");
  const trial = closedTrial(LIMIT_MS, { maxRequests: REQUESTS });
  await harness.run(running, trial);
  const before = await read("collected");
  const { requests } = await harness.run(running, trial);
  const after = await read("collected");
  await running.stop();
  return { "memory.slope": (after.live - before.live) / requests, "start.modules": modules };
}
