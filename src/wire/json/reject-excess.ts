import { type ErrorCode, fail } from "../../base/errors.ts";

/*
 * Errors of requests that are over a bound of the gateway's. All read alike: the field, what was found, the bound, the
 * remedy.
 */

/** Something of which a request has more than is accepted. */
export interface Excess {
  /** Where it stands: `messages[3].tool_calls`. */
  readonly field: string;
  /** What was found, with its number: "25000 messages". */
  readonly found: string;
  readonly bound: number;
  /** What to do, as a sentence. */
  readonly remedy: string;
}

/** Ends a request that has too much of something. */
export function rejectExcess(excess: Excess, code: ErrorCode = "invalid_request"): never {
  const { field, found, bound, remedy } = excess;
  return fail(code, `${field} has ${found}; at most ${bound} are accepted. ${remedy}`, {
    metadata: { field, limit: bound },
  });
}

/**
 * Ends a request that has more of something than is accepted.
 * @throws GatewayError `invalid_request` that names the field, the number and the bound.
 */
export function requireAtMost(
  field: string,
  count: number,
  what: string,
  bound: number,
  remedy: string,
): void {
  if (count > bound) rejectExcess({ field, found: `${count} ${what}`, bound, remedy });
}

/**
 * Ends a request whose body is larger than its endpoint has use for.
 * @throws GatewayError `payload_too_large`.
 */
export function requireBodyBytes({ length }: Buffer, bound: number, remedy: string): void {
  if (length > bound)
    rejectExcess({ field: "body", found: `${length} bytes`, bound, remedy }, "payload_too_large");
}

/** Counts what stands in many places of a request together against one bound. */
export class Tally {
  private count = 0;

  constructor(
    private readonly what: string,
    private readonly bound: number,
    private readonly remedy: string,
  ) {}

  /**
   * Adds what stands in a field.
   * @throws GatewayError `invalid_request` once there are too many; `field` is what they are all in.
   */
  add(count: number, field: string): void {
    this.count += count;
    if (this.count > this.bound) {
      const found = `more than ${this.bound} ${this.what}`;
      rejectExcess({ field, found, bound: this.bound, remedy: this.remedy });
    }
  }
}
