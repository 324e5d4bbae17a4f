import type { Trial } from "./harness.ts";

/** Processor time is measured with this many connections: busy, but not overloaded. */
export const CONNECTIONS = 16;
/** Content events of a long stream. */
export const STREAM_EVENTS = 100;
/** Never reached in practice; every run is bounded in count and in time. */
const MANY = 200_000;

/** Connections, each of which sends again once it is answered. */
export function closedTrial(durationMs: number, differing: Partial<Trial>): Trial {
  return {
    body: "small",
    events: 0,
    intervalMs: 0,
    connections: CONNECTIONS,
    ratePerSecond: 0,
    maxRequests: MANY,
    durationMs,
    ...differing,
  };
}
