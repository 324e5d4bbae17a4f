import { type Failure, nameInMetadata, statusOf } from "../../base/failures/errors.ts";
import { toHeaderText } from "../../base/text/header-text.ts";

/** Renders a failure in the gateway's own format (docs/api/errors.md). */
export function renderError(failure: Failure, headers: Record<string, string>): Response {
  const { message, code: type, metadata } = failure;
  const body = {
    error: { message, code: statusOf(failure), type, metadata: nameInMetadata(type, metadata) },
    error_type: type,
  };
  return respondWithError(failure, body, headers);
}

/** Returns an error response with a body in any format, and the status and headers that all formats share. */
export function respondWithError(
  failure: Failure,
  body: Readonly<Record<string, unknown>>,
  headers: Record<string, string>,
): Response {
  const status = statusOf(failure);
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      ...headers,
      ...encodeAll(failure.headers),
      "content-type": "application/json",
      ...(failure.retryAfterS === undefined ? {} : { "retry-after": String(failure.retryAfterS) }),
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    },
  });
}

function encodeAll(headers: Failure["headers"]): Record<string, string> {
  const encoded: Record<string, string> = {};
  for (const name in headers) encoded[name] = toHeaderText(headers[name] as string);
  return encoded;
}
