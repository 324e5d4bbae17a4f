import type { Harness, Trial } from "../load/harness.ts";
import { closedTrial, STREAM_EVENTS } from "../load/trials.ts";
import { medianOf } from "../report/figures.ts";
import type { Running } from "../targets/contestant.ts";
import { type Probed, startProbed } from "./start-probed.ts";

const LIMIT_MS = 20_000;
const SLICES = 5;
const SMALL = { warmUp: 8_000, slice: 1_000 } as const;
const STREAM = { warmUp: 2_000, slice: 300 } as const;
/** The process collects nothing, so that its heap grows by exactly what is allocated. */
const WITHOUT_COLLECTION = { BUN_JSC_useGC: "0", BUN_GC_TIMER_DISABLE: "1" } as const;

/**
 * Measures the bytes of the heap that a small request and a stream of 100 events allocate in a program on Bun, which `start` starts with
 * further variables. Memory outside of the heap counts only as far as the runtime counts it.
 */
export async function measureHeap(
  harness: Harness,
  start: (environment: Readonly<Record<string, string>>) => Promise<Running>,
): Promise<{ readonly small: number; readonly stream: number }> {
  const probed = await startProbed((probe) => start({ ...WITHOUT_COLLECTION, ...probe }));
  const small = await heapOf({ harness, probed, trial: closedTrial(LIMIT_MS, {}), ...SMALL });
  const trial = closedTrial(LIMIT_MS, { events: STREAM_EVENTS });
  const stream = await heapOf({ harness, probed, trial, ...STREAM });
  await probed.running.stop();
  return { small, stream };
}

interface Allocating {
  readonly harness: Harness;
  readonly probed: Probed;
  readonly trial: Trial;
  /** Requests before the first slice, which compile the code. */
  readonly warmUp: number;
  /** Requests of a slice. */
  readonly slice: number;
}

async function heapOf({ harness, probed, trial, warmUp, slice }: Allocating): Promise<number> {
  const { running, read } = probed;
  await harness.run(running, { ...trial, maxRequests: warmUp });
  const costs: number[] = [];
  for (let i = 0; i < SLICES; i++) {
    const before = await read("now");
    const { requests } = await harness.run(running, { ...trial, maxRequests: slice });
    costs.push(((await read("now")).heapCapacity - before.heapCapacity) / requests);
  }
  return medianOf(costs) as number;
}
