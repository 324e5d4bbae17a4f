import { BoundedMap } from "../../base/bounded-map.ts";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";

/** How many sign-ins of one address may fail in `WINDOW_MS`. */
const MAX_FAILURES = 10;
const WINDOW_MS = 15 * 60_000;
const MAX_ADDRESSES = 10_000;

interface Failures {
  readonly count: number;
  /** When the count begins again. Milliseconds since the epoch. */
  readonly until: number;
}

/** Counts failed sign-ins of client addresses, in the memory of one process. */
export class FailedSignIns {
  private readonly failures = new BoundedMap<string, Failures>({ max: MAX_ADDRESSES });

  constructor(private readonly clock: Clock) {}

  /**
   * Runs a sign-in of an address. It counts as failed until it has returned, so that several at the same time are counted.
   * @throws GatewayError `rate_limit_exceeded` if too many sign-ins of the address have failed; what `signIn` throws.
   */
  async count<Result>(addressHash: string, signIn: () => Promise<Result>): Promise<Result> {
    const now = this.clock.now();
    const known = this.failures.get(addressHash);
    const { count, until } =
      known !== undefined && known.until > now ? known : { count: 0, until: now + WINDOW_MS };
    if (count >= MAX_FAILURES) rejectAddress(Math.ceil((until - now) / 1000));
    this.failures.set(addressHash, { count: count + 1, until });
    const result = await signIn();
    this.forgive(addressHash);
    return result;
  }

  private forgive(addressHash: string): void {
    const known = this.failures.get(addressHash);
    if (known !== undefined) this.failures.set(addressHash, { ...known, count: known.count - 1 });
  }
}

function rejectAddress(retryAfterS: number): never {
  return fail(
    "rate_limit_exceeded",
    `Too many sign-ins from this address have failed. Wait ${retryAfterS} s.`,
    { retryAfterS, metadata: { limit_source: "sign_in" } },
  );
}
