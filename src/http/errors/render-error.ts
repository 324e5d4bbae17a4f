import { type Failure, statusOf } from "../../base/errors.ts";

/** A failure as the answer of every endpoint whose API has no shape of its own (docs/contract.md, "When things go wrong"). */
export function renderError(failure: Failure, headers: Record<string, string>): Response {
  const { message, code: type, metadata } = failure;
  const body = {
    error: { message, code: statusOf(failure), type, ...(metadata ? { metadata } : {}) },
    error_type: type,
  };
  return respondWithError(failure, body, headers);
}

/** A failure's body with the status and the headers that it has in every API. */
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
      ...failure.headers,
      "content-type": "application/json",
      ...(failure.retryAfterS === undefined ? {} : { "retry-after": String(failure.retryAfterS) }),
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    },
  });
}
