import { z } from "zod";
import { ERROR_STATUS, type ErrorCode } from "../../base/failures/errors.ts";
import { ErrorType } from "../api/error-type.ts";
import { namedBody } from "./named-body.ts";

/** The error body of every API without a format of its own (`renderError`). */
export const ErrorBody = namedBody("Error", "An error.", {
  error: z.looseObject({
    message: z.string().describe("Human-readable description of the problem and how to fix it."),
    code: z.int().describe("HTTP status."),
    type: ErrorType,
    metadata: z
      .looseObject({
        code: ErrorType.describe("The `type` again, for clients that expect a string code."),
        field: z.string().optional().describe("The invalid field of the request."),
        limit_source: z.string().optional().describe("Which limit was reached."),
      })
      .describe("Machine-readable details, depending on the type."),
  }),
  error_type: ErrorType,
});

/** The error body of the Messages API. */
export const MessagesErrorBody = namedBody("MessagesError", "An error of the Messages API.", {
  type: z.literal("error"),
  error: z.looseObject({
    type: z.string().describe("Anthropic's error type."),
    message: z.string(),
    code: z.int().describe("HTTP status."),
    metadata: z.looseObject({ code: ErrorType }).describe("The gateway's error type, and further details."),
  }),
  request_id: z.string().optional(),
});

/** The error body of the Responses API. */
export const ResponsesErrorBody = namedBody("ResponsesError", "An error of the Responses API.", {
  error: z.looseObject({
    message: z.string(),
    type: z.string(),
    code: z.string().nullable().describe("OpenAI's error code."),
    status: z.int().describe("HTTP status."),
    param: z.string().nullish(),
  }),
});

/** The meaning of each error type. */
const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "the body is not JSON, or a field is invalid; `metadata.field` is its name",
  invalid_model: "the model is unknown, not served by this gateway, or not supported by this endpoint",
  context_length_exceeded:
    "the prompt exceeds the model's context window; `metadata` has `limit` and `requested`",
  previous_response_not_found:
    "`previous_response_id` names no response that is kept for this key; send the whole conversation",
  authentication: "the API key is missing or not valid",
  insufficient_credits: "the balance or a spending limit does not cover the possible cost of the request",
  model_not_allowed: "a policy excludes every provider of the model; `metadata.rule` is the rule",
  permission_denied: "the key is of the wrong kind or lacks permission",
  content_blocked: "a guardrail of the gateway does not allow a text; `metadata.guardrail` is its name",
  not_found: "the resource does not exist or belongs to another account",
  method_not_allowed: "the path does not support the method; `Allow` lists the supported ones",
  client_timeout: "the request body arrived too slowly",
  conflict:
    "the change conflicts with the current state, or the Idempotency-Key was used for another request",
  payload_too_large: "the body exceeds the size limit",
  unsupported_media_type: "the body's media type or encoding is not supported",
  upgrade_required: "no WebSocket is opened at this path; send the request over HTTP",
  rate_limit_exceeded: "a rate limit is exceeded; `Retry-After` says when to retry",
  internal: "internal error of the gateway",
  upstream_error: "the provider failed or returned an invalid response",
  unavailable: "the provider or the gateway's store is unavailable; `Retry-After` says when to retry",
};

/** The error types with one HTTP status. */
interface StatusErrors {
  readonly status: number;
  readonly codes: readonly ErrorCode[];
  readonly description: string;
}

/** Returns error types by HTTP status. */
export function describeErrors(codes: readonly ErrorCode[]): readonly StatusErrors[] {
  const statuses = [...new Set(codes.map((code) => ERROR_STATUS[code]))].sort((a, b) => a - b);
  return statuses.map((status) => {
    const same = ErrorType.options.filter((code) => ERROR_STATUS[code] === status && codes.includes(code));
    const description = `${same.map((code) => `\`${code}\`: ${MEANINGS[code]}`).join("; ")}.`;
    return { status, codes: same, description };
  });
}
