import { StoreError } from "./store-error.ts";

/**
 * The closed set of errors that a client can get, each with its HTTP status (docs/api/errors.md). Adding a code here is the only
 * way to add an error.
 */
export const ERROR_STATUS = {
  invalid_request: 400,
  invalid_model: 400,
  context_length_exceeded: 400,
  previous_response_not_found: 400,
  authentication: 401,
  insufficient_credits: 402,
  model_not_allowed: 403,
  permission_denied: 403,
  content_blocked: 403,
  not_found: 404,
  method_not_allowed: 405,
  client_timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  upgrade_required: 426,
  rate_limit_exceeded: 429,
  internal: 500,
  upstream_error: 502,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** An error as a value. `message` and `metadata` are public: they contain no secret, stack or path. */
export interface Failure {
  readonly code: ErrorCode;
  /** Describes the error and what to do. */
  readonly message: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The `Retry-After` header in whole seconds, at least 1. */
  readonly retryAfterS?: number;
  /** Further response headers, such as those of a limit. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Details for the log. Never rendered. */
  readonly internal?: string;
}

/** Returns the HTTP status of a failure. */
export function statusOf(failure: Failure): number {
  return ERROR_STATUS[failure.code];
}

/**
 * Returns the `metadata` of an error whose `code` is its HTTP status: with the error's name as `code`, for clients that look for a text
 * there (docs/api/errors.md).
 */
export function nameInMetadata(code: string, metadata: Failure["metadata"]): Record<string, unknown> {
  return { code, ...metadata };
}

/** A `Failure` that is thrown, up to where errors are rendered. */
export class GatewayError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = "GatewayError";
    this.failure = failure;
  }
}

/** Throws a failure as a `GatewayError`. */
export function fail(code: ErrorCode, message: string, rest: Omit<Failure, "code" | "message"> = {}): never {
  throw new GatewayError({ code, message, ...rest });
}

/**
 * Throws `invalid_request` for one field. The message is the field's name followed by `problem`, a sentence without
 * its full stop such as "must be a string". A path such as `messages[3].content` names a nested field.
 */
export function rejectField(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}

const STORE_UNAVAILABLE: Failure = {
  code: "unavailable",
  message: "The gateway cannot reach its store at the moment. Try again later.",
  retryAfterS: 5,
};

/** The failure that a caller learns of an unexpected error. */
export const INTERNAL = "The gateway failed. Try again.";

/**
 * Returns the failure of anything that was thrown. An unexpected error becomes `internal`: its details are for the log, and the caller
 * learns only that the gateway failed. If the store is unavailable, the request may be retried.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof GatewayError) return error.failure;
  if (error instanceof StoreError) return { ...STORE_UNAVAILABLE, internal: error.message };
  const internal = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "internal", message: INTERNAL, internal };
}

/** Returns what the log says of anything that was thrown. */
export function detailOf(error: unknown): string {
  const { internal, message } = failureOf(error);
  return internal ?? message;
}
