import { encodeMessagesError } from "../../wire/anthropic-messages/errors.ts";
import { openMessagesRequest } from "../../wire/dialects/messages-request.ts";
import type { ErrorRenderer } from "../context.ts";
import { inferenceHandler } from "../inference.ts";
import { respondWithError } from "../render-error.ts";

/** A failure as clients of the Messages API read it. Anthropic's SDKs look for `request-id`. */
export const renderMessagesError: ErrorRenderer = (failure, headers, requestId) =>
  respondWithError(failure, encodeMessagesError(failure, requestId), { ...headers, "request-id": requestId });

/** `POST messages` (docs/contract.md, "Responses and Messages"). */
export const messages = inferenceHandler({
  open: openMessagesRequest,
  renderError: renderMessagesError,
  requestIdHeader: "request-id",
});
