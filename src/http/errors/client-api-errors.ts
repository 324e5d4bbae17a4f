import { statusOf } from "../../base/failures/errors.ts";
import { encodeMessagesError } from "../../wire/anthropic-messages/errors.ts";
import { encodeResponsesError } from "../../wire/openai-responses/errors.ts";
import type { ErrorRenderer } from "../context/context.ts";
import { respondWithError } from "./render-error.ts";

/** Renders a failure in the format of the Messages API. Anthropic's SDKs read the `request-id` header. */
export const renderMessagesError: ErrorRenderer = (failure, headers, requestId) =>
  respondWithError(failure, encodeMessagesError(failure, requestId), { ...headers, "request-id": requestId });

/** Renders a failure in the format of the Responses API: `code` is OpenAI's error code, `status` the HTTP status. */
export const renderResponsesError: ErrorRenderer = (failure, headers) =>
  respondWithError(failure, encodeResponsesError({ ...failure, status: statusOf(failure) }), headers);

/** Renders a failure as Google's APIs do. */
export const renderGeminiError: ErrorRenderer = (failure, headers) => {
  const status = statusOf(failure);
  const name = status === 404 ? "NOT_FOUND" : "INVALID_ARGUMENT";
  return respondWithError(
    failure,
    { error: { code: status, message: failure.message, status: name } },
    headers,
  );
};

/** Renders a failure as Ollama does. */
export const renderOllamaError: ErrorRenderer = (failure, headers) =>
  respondWithError(failure, { error: failure.message }, headers);

/** Renders a failure as Cohere and Bedrock do. */
export const renderMessageError: ErrorRenderer = (failure, headers) =>
  respondWithError(failure, { message: failure.message }, headers);
