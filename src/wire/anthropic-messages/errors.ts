import { ERROR_STATUS, type ErrorCode, nameInMetadata } from "../../base/failures/errors.ts";
import { asFields } from "../../base/json/fields.ts";

/** A failure to report to a client of this API; see `Failure` in base/errors. */
interface MessagesFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The error type of this API for each error code. */
const TYPES: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "invalid_request_error",
  invalid_model: "invalid_request_error",
  context_length_exceeded: "invalid_request_error",
  previous_response_not_found: "invalid_request_error",
  authentication: "authentication_error",
  insufficient_credits: "billing_error",
  model_not_allowed: "permission_error",
  permission_denied: "permission_error",
  content_blocked: "permission_error",
  not_found: "not_found_error",
  method_not_allowed: "invalid_request_error",
  upgrade_required: "invalid_request_error",
  client_timeout: "timeout_error",
  conflict: "invalid_request_error",
  payload_too_large: "request_too_large",
  unsupported_media_type: "invalid_request_error",
  rate_limit_exceeded: "rate_limit_error",
  internal: "api_error",
  upstream_error: "api_error",
  unavailable: "overloaded_error",
};

/** Returns the error type of this API for an error code of the gateway; `api_error` for unknown codes. */
export function nameErrorType(code: string): string {
  return Object.hasOwn(TYPES, code) ? TYPES[code as ErrorCode] : "api_error";
}

/**
 * Encodes an error body (docs/api/errors.md). The SDK reads `error_code` and what belongs to it from
 * `error.details`; all other facts are in `error.metadata`.
 */
export function encodeMessagesError(failure: MessagesFailure, requestId: string): Record<string, unknown> {
  const { code, metadata } = failure;
  const details = metadata?.["error_code"] === undefined ? null : readDetails(metadata);
  return {
    type: "error",
    error: {
      type: nameErrorType(code),
      message: code === "context_length_exceeded" ? describeOverflow(failure) : failure.message,
      code: ERROR_STATUS[code],
      ...(details === null ? {} : { details }),
      metadata: nameInMetadata(code, metadata),
    },
    error_type: code,
    request_id: requestId,
  };
}

function readDetails({ error_code, unsupported }: Readonly<Record<string, unknown>>) {
  return { error_code, ...(unsupported === undefined ? {} : { unsupported }) };
}

/** Words the error so that clients of this API recognize it and shorten the conversation. */
function describeOverflow({ message, metadata }: MessagesFailure): string {
  const { limit, prompt_limit: promptLimit, requested, requested_is: kind } = asFields(metadata) ?? {};
  if (typeof limit !== "number") return message.includes(TOO_LONG) ? message : `${TOO_LONG}: ${message}`;
  // Without a count, the prompt is at least one token too long.
  const tokens = typeof requested === "number" ? requested : limit + 1;
  const text = `${TOO_LONG}: ${tokens} tokens > ${promptLimit ?? limit} maximum`;
  return kind === "at_least" ? `${text} (at least so many tokens)` : text;
}

const TOO_LONG = "prompt is too long";
