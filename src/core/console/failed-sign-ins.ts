import { fail, GatewayError } from "../../base/failures/errors.ts";
import type { Clock } from "../../base/time/clock.ts";
import { WindowCounter } from "./window-counter.ts";

/** How many sign-ins of one address may fail in a quarter of an hour. */
const FAILURES = { max: 10, windowMs: 15 * 60_000 };

/**
 * Counts failed sign-ins of client addresses. Sign-ins with a key or code, and those through an OpenID Connect provider, are counted
 * separately.
 */
export class FailedSignIns {
  private readonly ofSecrets: WindowCounter;
  private readonly ofProvider: WindowCounter;

  constructor(clock: Clock) {
    this.ofSecrets = new WindowCounter(clock, FAILURES);
    this.ofProvider = new WindowCounter(clock, FAILURES);
  }

  /**
   * Runs a sign-in of an address with a key or code. A valid one is never rejected because others of the address have failed: many people
   * may share the address, and each API request tries a key as well.
   * @throws GatewayError `rate_limit_exceeded` instead of `rejection`, the error for an invalid secret, if too many sign-ins of the address
   * have failed; errors of `signIn`.
   */
  async withSecret<Result>(
    addressHash: string,
    signIn: () => Promise<Result>,
    rejection: "authentication" | "not_found" = "authentication",
  ): Promise<Result> {
    try {
      return await signIn();
    } catch (error) {
      if (error instanceof GatewayError && error.failure.code === rejection)
        requireRoom(this.ofSecrets, addressHash);
      throw error;
    }
  }

  /**
   * Runs a sign-in of an address that calls the provider. It counts as failed until it has returned, so that concurrent ones are counted.
   * @throws GatewayError `rate_limit_exceeded` if too many sign-ins of the address have failed; errors of `signIn`.
   */
  async withProvider<Result>(addressHash: string, signIn: () => Promise<Result>): Promise<Result> {
    requireRoom(this.ofProvider, addressHash);
    const result = await signIn();
    this.ofProvider.giveBack(addressHash);
    return result;
  }
}

function requireRoom(counter: WindowCounter, addressHash: string): void {
  const retryAfterS = counter.take(addressHash);
  if (retryAfterS === null) return;
  fail("rate_limit_exceeded", `Too many sign-ins from this address have failed. Wait ${retryAfterS} s.`, {
    retryAfterS,
    metadata: { limit_source: "sign_in" },
  });
}
