import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { WindowCounter } from "./window-counter.ts";

/** How many sign-ins of one address may fail in a quarter of an hour. */
const FAILURES = { max: 10, windowMs: 15 * 60_000 };

/** Counts failed sign-ins of client addresses. */
export class FailedSignIns {
  private readonly failures: WindowCounter;

  constructor(clock: Clock) {
    this.failures = new WindowCounter(clock, FAILURES);
  }

  /**
   * Runs a sign-in of an address. It counts as failed until it has returned, so that several at the same time are counted.
   * @throws GatewayError `rate_limit_exceeded` if too many sign-ins of the address have failed; what `signIn` throws.
   */
  async count<Result>(addressHash: string, signIn: () => Promise<Result>): Promise<Result> {
    const retryAfterS = this.failures.take(addressHash);
    if (retryAfterS !== null)
      fail("rate_limit_exceeded", `Too many sign-ins from this address have failed. Wait ${retryAfterS} s.`, {
        retryAfterS,
        metadata: { limit_source: "sign_in" },
      });
    const result = await signIn();
    this.failures.giveBack(addressHash);
    return result;
  }
}
