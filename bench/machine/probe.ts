/**
 * Loaded into a program by `bun --preload`, only by the bench: answers with figures of the process on the port of
 * `BENCH_PROBE_PORT`. Loading it into the gateway keeps such figures out of the program that is shipped.
 */
import { heapStats } from "bun:jsc";
import { isMainThread } from "node:worker_threads";

/** What the probe answers with. Bytes. */
export interface ProbeReading {
  /** The size of all blocks of the heap. Without collection it only grows, by what is allocated. */
  readonly heapCapacity: number;
  /** The size of what is alive, and of the memory outside of the heap that it keeps. After `/collected` only. */
  readonly live: number;
}

if (isMainThread) {
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(process.env["BENCH_PROBE_PORT"]),
    routes: {
      "/now": () => Response.json(read()),
      "/collected": () => {
        Bun.gc(true);
        return Response.json(read());
      },
    },
  }).unref();
}

function read(): ProbeReading {
  const { heapCapacity, heapSize, extraMemorySize } = heapStats();
  return { heapCapacity, live: heapSize + extraMemorySize };
}
