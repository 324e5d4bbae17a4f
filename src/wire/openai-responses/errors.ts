import type { Fields } from "../../base/json/fields.ts";
import type { StreamError } from "../canonical/model/format.ts";

/** A failure to report to a client of the Responses API. */
interface ResponsesError {
  /** A code of base/errors. */
  readonly code: string;
  readonly message: string;
  /** HTTP status. */
  readonly status: number;
  readonly metadata?: Fields;
}

/** OpenAI's error types, by which SDKs choose their error class, and the codes that agents act on. */
const OPENAI_ERRORS: Readonly<Record<string, { readonly type: string; readonly code: string | null }>> = {
  invalid_request: { type: "invalid_request_error", code: null },
  invalid_model: { type: "invalid_request_error", code: "model_not_found" },
  context_length_exceeded: { type: "invalid_request_error", code: "context_length_exceeded" },
  previous_response_not_found: { type: "invalid_request_error", code: "previous_response_not_found" },
  authentication: { type: "authentication_error", code: "invalid_api_key" },
  insufficient_credits: { type: "insufficient_quota", code: "insufficient_quota" },
  model_not_allowed: { type: "permission_error", code: "model_not_allowed" },
  permission_denied: { type: "permission_error", code: "permission_denied" },
  content_blocked: { type: "permission_error", code: "content_blocked" },
  not_found: { type: "invalid_request_error", code: "not_found" },
  method_not_allowed: { type: "invalid_request_error", code: "method_not_allowed" },
  upgrade_required: { type: "invalid_request_error", code: "upgrade_required" },
  client_timeout: { type: "invalid_request_error", code: "client_timeout" },
  payload_too_large: { type: "invalid_request_error", code: "payload_too_large" },
  unsupported_media_type: { type: "invalid_request_error", code: "unsupported_media_type" },
  rate_limit_exceeded: { type: "rate_limit_error", code: "rate_limit_exceeded" },
};

const SERVER_ERROR = { type: "server_error", code: "server_error" };

/**
 * Encodes a failure as OpenAI's error object (docs/api/errors.md). It also contains the facts that the other
 * endpoints report: the status, the metadata, and the gateway's own code.
 */
export function encodeResponsesError({
  code,
  message,
  status,
  metadata,
}: ResponsesError): Record<string, unknown> {
  const mapped = OPENAI_ERRORS[code] ?? SERVER_ERROR;
  const param = typeof metadata?.["field"] === "string" ? metadata["field"] : null;
  const error = { message, type: mapped.type, code: mapped.code, param, status };
  return { error: metadata === undefined ? error : { ...error, metadata }, error_type: code };
}

/** Failures of a stream that the request caused; agents do not retry them. */
const REQUEST_FAULTS = new Set(["invalid_request", "invalid_model"]);

/** Encodes the `error` of a failed response: a code that streaming clients act on, with the HTTP status. */
export function encodeFailure({
  type,
  message,
  code: status,
  metadata,
}: StreamError): Record<string, unknown> {
  const code = REQUEST_FAULTS.has(type) ? "invalid_prompt" : (OPENAI_ERRORS[type]?.code ?? SERVER_ERROR.code);
  return { code, message, status, ...(metadata === undefined ? {} : { metadata }) };
}
