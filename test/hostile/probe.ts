/**
 * Loaded into the gateway's process before it: measures how long its event loop stalled, and how much memory it used.
 * Reachable over a socket in the working directory.
 */
import { heapStats } from "bun:jsc";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { threadTimeMs } from "../support/thread-time.ts";

export const PROBE_SOCKET = "probe.sock";

/** The measurements since the last reset. */
export interface Reading {
  /** The longest time that the event loop worked without a turn, in processor time, so that other processes do not count. */
  readonly stallMs: number;
  /** The maximum of resident memory, and the current value. Megabytes. */
  readonly peakMb: number;
  readonly residentMb: number;
}

/** Collects garbage, and returns what is left: the heap and the memory that its objects hold. Megabytes. */
function collect(): number {
  Bun.gc(true);
  return heapStats().heapSize / 1024 / 1024;
}

if (process.argv.includes("start")) {
  let longest = 0;
  let last = threadTimeMs();
  const look = (): void => {
    const now = threadTimeMs();
    longest = Math.max(longest, now - last);
    last = now;
    setTimeout(look, 1);
  };
  look();
  // The program re-executes itself when it starts.
  rmSync(PROBE_SOCKET, { force: true });
  Bun.serve({
    unix: PROBE_SOCKET,
    fetch({ method }) {
      if (method === "DELETE") {
        longest = 0;
        // Resets the peak.
        writeFileSync("/proc/self/clear_refs", "5");
        return new Response();
      }
      if (method === "POST") {
        const liveMb = collect();
        last = threadTimeMs();
        return Response.json(liveMb);
      }
      const status = readFileSync("/proc/self/status", "latin1");
      const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
      const reading: Reading = {
        stallMs: longest,
        peakMb: megabytes("VmHWM"),
        residentMb: megabytes("VmRSS"),
      };
      return Response.json(reading);
    },
  });
}
