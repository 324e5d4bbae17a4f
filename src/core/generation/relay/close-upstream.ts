import type { Clock } from "../../../base/time/clock.ts";
import type { Exchange, UpstreamResponse } from "../../deployments/transport.ts";

/** How long an upstream may take to close its answer after its last event. Milliseconds. */
const CLOSE_MS = 1_000;

/** Waits for an upstream to close a complete answer, so that the connection can be reused; cancels it if that takes too long. */
export function closeUpstream(
  clock: Clock,
  { exchange, response }: { readonly exchange: Exchange; readonly response: UpstreamResponse },
): void {
  const timer = clock.after(CLOSE_MS, () => exchange.cancel());
  const drain = async (): Promise<void> => {
    while ((await response.read()) !== null);
  };
  drain()
    .catch(() => exchange.cancel())
    .finally(() => timer.cancel());
}
