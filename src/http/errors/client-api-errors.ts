import { statusOf } from "../../base/failures/errors.ts";
import type { ClientApiDeclaration } from "../../wire/client-apis/client-api.ts";
import type { ErrorRenderer } from "../context/context.ts";
import { renderError, respondWithError } from "./render-error.ts";

/** Returns what renders the failures of a client API, with its own header for the id of the request. */
export function rendererOf({ encodeError, requestIdHeader }: ClientApiDeclaration): ErrorRenderer {
  if (encodeError === undefined) return renderError;
  return (failure, headers, requestId) => {
    const body = encodeError(failure, { requestId, status: statusOf(failure) });
    const all = requestIdHeader === undefined ? headers : { ...headers, [requestIdHeader]: requestId };
    return respondWithError(failure, body, all);
  };
}

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
