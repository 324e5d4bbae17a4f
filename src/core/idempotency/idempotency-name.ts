import type { Failure } from "../../base/failures/errors.ts";

/** The maximum number of idempotency keys that an API key may use within the time for which they are remembered. */
export const MAX_NAMES = 10_000;

/** The error message for a request that repeats the idempotency key of another request. */
export const OTHER_REQUEST =
  "This Idempotency-Key was used for another request in the last 24 hours. Use a new key for a new request.";

const NAME = /^[\x21-\x7e]{1,255}$/;

/** Whether the value of an `Idempotency-Key` header is valid. */
export function isIdempotencyName(name: string): boolean {
  return NAME.test(name);
}

/** Returns the failure of a request with an invalid idempotency key. */
export function describeBadName(): Failure {
  return {
    code: "invalid_request",
    message: "Idempotency-Key must be 1 to 255 visible ASCII characters.",
    metadata: { field: "Idempotency-Key" },
  };
}

/** Returns the failure of a request whose API key has used too many idempotency keys. */
export function describeTooManyNames(): Failure {
  return {
    code: "rate_limit_exceeded",
    message: `An API key may use at most ${MAX_NAMES} different Idempotency-Keys in 24 hours.`,
    metadata: { limit_source: "key" },
    retryAfterS: 3_600,
  };
}
