import { type ErrorCode, fail } from "../failures/errors.ts";

/*
 * Errors for requests that exceed a bound of the gateway. All have the same form: the field, what was found, the bound, the remedy.
 */

/** The part of a request that exceeds a bound. */
interface Excess {
  /** Its path: `messages[3].tool_calls`. */
  readonly field: string;
  /** The number of things found: "25000 messages". */
  readonly found: string;
  readonly bound: number;
  /** What to do about it, as a sentence. */
  readonly remedy: string;
}

/** Rejects a request that has too much of something. */
export function rejectExcess(excess: Excess, code: ErrorCode = "invalid_request"): never {
  const { field, found, bound, remedy } = excess;
  return fail(code, `${field} has ${found}; at most ${bound} are accepted. ${remedy}`, {
    metadata: { field, limit: bound },
  });
}

/** The maximum number of things of one kind in a request. */
export interface CountLimit {
  /** The name of the things: "tool calls". */
  readonly what: string;
  readonly bound: number;
  /** What to do about an excess, as a sentence. */
  readonly remedy: string;
}

/**
 * Requires that a field has at most as many things as the limit allows.
 * @throws GatewayError `invalid_request` that names the field, the number and the bound.
 */
export function requireAtMost(field: string, count: number, { what, bound, remedy }: CountLimit): void {
  if (count > bound) rejectExcess({ field, found: `${count} ${what}`, bound, remedy });
}

/**
 * Requires a body of at most `bound` bytes.
 * @throws GatewayError `payload_too_large`.
 */
export function requireBodyBytes({ length }: Buffer, bound: number, remedy: string): void {
  if (length > bound)
    rejectExcess({ field: "body", found: `${length} bytes`, bound, remedy }, "payload_too_large");
}

/** Counts things in many fields of a request against one limit. */
export class Tally {
  private count = 0;

  constructor(private readonly limit: CountLimit) {}

  /**
   * Adds the things of a field.
   * @throws GatewayError `invalid_request` if there are too many in total; `field` is the list that contains all of them.
   */
  add(count: number, field: string): void {
    this.count += count;
    const { what, bound, remedy } = this.limit;
    if (this.count > bound) rejectExcess({ field, found: `more than ${bound} ${what}`, bound, remedy });
  }
}
