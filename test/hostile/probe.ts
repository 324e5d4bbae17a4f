/**
 * Loaded into the gateway's process before it: says how long its event loop was held up, and how much memory it took.
 * Reached over a socket in the working directory.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { threadTimeMs } from "../support/thread-time.ts";

export const PROBE_SOCKET = "probe.sock";

/** What is told since it was last told to forget. */
export interface Reading {
  /** The longest that the event loop worked without a turn, of the processor's time: what others take is not counted. */
  readonly stallMs: number;
  /** The most memory that was resident, and what is now. Megabytes. */
  readonly peakMb: number;
  readonly residentMb: number;
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
  // The program puts itself in its own place once more when it starts.
  rmSync(PROBE_SOCKET, { force: true });
  Bun.serve({
    unix: PROBE_SOCKET,
    fetch({ method }) {
      if (method === "DELETE") {
        longest = 0;
        // Forgets the peak.
        writeFileSync("/proc/self/clear_refs", "5");
        return new Response();
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
