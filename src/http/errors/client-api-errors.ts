import { statusOf } from "../../base/errors.ts";
import { encodeMessagesError } from "../../wire/anthropic-messages/errors.ts";
import { encodeResponsesError } from "../../wire/openai-responses/errors.ts";
import type { ErrorRenderer } from "../context/context.ts";
import { respondWithError } from "./render-error.ts";

/** A failure as clients of the Messages API read it. Anthropic's SDKs look for `request-id`. */
export const renderMessagesError: ErrorRenderer = (failure, headers, requestId) =>
  respondWithError(failure, encodeMessagesError(failure, requestId), { ...headers, "request-id": requestId });

/** A failure as clients of the Responses API read it: `code` is OpenAI's word, `status` the number. */
export const renderResponsesError: ErrorRenderer = (failure, headers) =>
  respondWithError(failure, encodeResponsesError({ ...failure, status: statusOf(failure) }), headers);
