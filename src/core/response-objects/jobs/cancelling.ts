import { fail } from "../../../base/failures/errors.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { type ObjectHead, RUNNING } from "../records/response-object.ts";

/**
 * Checks that a response can be cancelled. `field` is the parameter with its id.
 * @throws GatewayError `invalid_request`.
 */
export function requireBackground({ isBackground }: ObjectHead, field: string): void {
  if (!isBackground)
    fail("invalid_request", "Only responses with background: true can be cancelled.", {
      metadata: { field },
    });
}

/** How to wait for the end of a response. */
interface Waiting {
  /** Milliseconds. */
  readonly longestMs: number;
  find(): Promise<ObjectHead>;
  /** Resolves when it is worth looking again. */
  pause(): Promise<void>;
}

/** Returns a response once it has ended, or as it is after the longest time. Rejects as `find`. */
export async function waitForEnd(
  clock: Pick<Clock, "now">,
  { longestMs, find, pause }: Waiting,
): Promise<ObjectHead> {
  const until = clock.now() + longestMs;
  for (;;) {
    const response = await find();
    if (!RUNNING.includes(response.status) || clock.now() >= until) return response;
    await pause();
  }
}
