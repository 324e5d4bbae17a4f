import { statusOf } from "../../base/errors.ts";
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
