import { z } from "zod";
import { ERROR_STATUS, type ErrorCode } from "../../base/errors.ts";

const CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

/** An error's kind, the same everywhere. */
export const ErrorType = z.enum(CODES).meta({ id: "ErrorType", description: "What kind of error it is" });

/** How errors look in every API that has no shape of its own (`renderError`). */
export const ErrorAnswer = z
  .looseObject({
    error: z.looseObject({
      message: z.string().describe("For people: what is wrong, and what to do next"),
      code: z.int().describe("The HTTP status"),
      type: ErrorType,
      metadata: z
        .looseObject({
          field: z.string().optional().describe("The field of the request that is wrong"),
          limit_source: z.string().optional().describe("Whose limit was met"),
        })
        .optional()
        .describe("Facts for programs; which ones depends on the type"),
    }),
    error_type: ErrorType,
  })
  .meta({ id: "Error", description: "How every error looks" });

/** How errors look in the Messages API. */
export const MessagesErrorAnswer = z
  .looseObject({
    type: z.literal("error"),
    error: z.looseObject({ type: z.string().describe("Anthropic's word for it"), message: z.string() }),
    request_id: z.string().optional(),
  })
  .meta({ id: "MessagesError", description: "How errors of the Messages API look" });

/** How errors look in the Responses API. */
export const ResponsesErrorAnswer = z
  .looseObject({
    error: z.looseObject({
      message: z.string(),
      type: z.string(),
      code: z.string().nullable().describe("OpenAI's word for it"),
      status: z.int().describe("The HTTP status"),
      param: z.string().nullish(),
    }),
  })
  .meta({ id: "ResponsesError", description: "How errors of the Responses API look" });

/** When each kind of error is answered: a new kind needs its sentence. */
const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid_request:
    "the request is not JSON, or a field has the wrong type or range; `metadata.field` names it",
  invalid_model: "the model is unknown, served by nobody here, or not for this endpoint",
  context_length_exceeded:
    "the prompt is longer than the model takes; `metadata` has `limit` and `requested`",
  authentication: "there is no key, or one that is not valid",
  insufficient_credits: "the balance or a spending limit does not cover what the request may cost",
  model_not_allowed: "a policy leaves nobody to answer; `metadata.rule` names it",
  permission_denied: "the key is of another kind, or may not do this",
  not_found: "there is no such thing, or it is another account's",
  method_not_allowed: "the address has other methods; `Allow` lists them",
  client_timeout: "the body of the request came too slowly",
  conflict: "the change does not fit what is there, or the Idempotency-Key stands for another request",
  payload_too_large: "the body is longer than the gateway takes",
  unsupported_media_type: "the body has an encoding or a type that is not known",
  rate_limit_exceeded: "a limit is used up; `Retry-After` says when to come again",
  internal: "the gateway failed",
  upstream_error: "the provider failed or sent what is no answer",
  unavailable:
    "the provider or the gateway's own store is away at the moment; `Retry-After` says when to come again",
};

/** The errors of one status. */
export interface StatusErrors {
  readonly status: number;
  readonly codes: readonly ErrorCode[];
  readonly description: string;
}

/** Errors by their status. */
export function describeErrors(codes: readonly ErrorCode[]): readonly StatusErrors[] {
  const statuses = [...new Set(codes.map((code) => ERROR_STATUS[code]))].sort((a, b) => a - b);
  return statuses.map((status) => {
    const same = CODES.filter((code) => ERROR_STATUS[code] === status && codes.includes(code));
    const description = `${same.map((code) => `\`${code}\`: ${MEANINGS[code]}`).join("; ")}.`;
    return { status, codes: same, description };
  });
}
