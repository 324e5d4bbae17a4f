import { medianOf } from "../figures.ts";
import type { Harness, Trial } from "../harness.ts";
import { closedTrial, STREAM_EVENTS } from "../parts.ts";
import { type ProbedGateway, startProbed } from "./probed-gateway.ts";

const LIMIT_MS = 20_000;
const SLICES = 5;
const SMALL = { warmUp: 8_000, slice: 1_000 } as const;
const STREAM = { warmUp: 2_000, slice: 300 } as const;

/**
 * Measures the bytes of the heap that a request allocates. The process collects nothing, so that its heap grows by exactly what is
 * allocated; memory outside of the heap does not count.
 */
export async function measureAllocations(harness: Harness) {
  const gateway = await startProbed(harness.upstreamPort, { BUN_JSC_useGC: "0", BUN_GC_TIMER_DISABLE: "1" });
  const found = {
    "allocated.small": await allocationsOf({ harness, gateway, trial: closedTrial(LIMIT_MS, {}), ...SMALL }),
    "allocated.stream": await allocationsOf({
      harness,
      gateway,
      trial: closedTrial(LIMIT_MS, { events: STREAM_EVENTS }),
      ...STREAM,
    }),
  };
  await gateway.running.stop();
  return found;
}

interface Allocating {
  readonly harness: Harness;
  readonly gateway: ProbedGateway;
  readonly trial: Trial;
  /** Requests before the first slice, which compile the code. */
  readonly warmUp: number;
  /** Requests of a slice. */
  readonly slice: number;
}

async function allocationsOf({ harness, gateway, trial, warmUp, slice }: Allocating): Promise<number> {
  const { running, read } = gateway;
  await harness.run(running, { ...trial, maxRequests: warmUp });
  const costs: number[] = [];
  for (let i = 0; i < SLICES; i++) {
    const before = await read("now");
    const { requests } = await harness.run(running, { ...trial, maxRequests: slice });
    costs.push(((await read("now")).heapCapacity - before.heapCapacity) / requests);
  }
  return medianOf(costs) as number;
}
