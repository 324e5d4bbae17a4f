import type { Harness, Subject, Trial } from "../load/harness.ts";
import { closedTrial, STREAM_EVENTS } from "../load/trials.ts";
import { inTurn } from "../load/turns.ts";
import { medianOf } from "../report/figures.ts";
import { bunRelay } from "../targets/bun-relay.ts";
import { startWithLimits } from "../targets/gateway.ts";

const ROUNDS = 7;
const SLICE_MS = 350;
const WARM_UP = { maxRequests: 12_000, durationMs: 15_000 } as const;
const STREAM_WARM_UP = { maxRequests: 1_500, durationMs: 6_000 } as const;

/**
 * Measures the processor time of a request as a multiple of what the bare relay needs for the same one. Both are measured in turn, and
 * the median of the ratios counts, so that a machine that becomes slower affects both.
 */
export async function measureWork(harness: Harness) {
  const gateway = await startWithLimits(harness.upstreamPort);
  const relay = await bunRelay.start(harness.upstreamPort);
  const ratioOf = async (trial: Trial, warmUp: Partial<Trial>): Promise<number> => {
    for (const subject of [relay, gateway]) await harness.run(subject, { ...trial, ...warmUp });
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const costs = new Map<Subject, number>();
      for (const subject of inTurn([gateway, relay], round)) {
        const { cpuUs, requests } = await harness.run(subject, trial);
        costs.set(subject, cpuUs / requests);
      }
      ratios.push((costs.get(gateway) ?? 0) / (costs.get(relay) ?? 0));
    }
    return medianOf(ratios) as number;
  };
  const small = await ratioOf(closedTrial(SLICE_MS, {}), WARM_UP);
  const stream = await ratioOf(closedTrial(SLICE_MS, { events: STREAM_EVENTS }), STREAM_WARM_UP);
  await gateway.stop();
  await relay.stop();
  return { "work.small": small, "work.stream": stream };
}
