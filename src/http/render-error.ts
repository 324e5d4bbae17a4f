import { type Failure, statusOf } from "../base/errors.ts";

/** A failure as the answer that every endpoint but the Messages API gives (docs/contract.md, "When things go wrong"). */
export function renderError(failure: Failure, headers: Record<string, string>): Response {
  const status = statusOf(failure);
  const { message, code: type, metadata } = failure;
  const body = {
    error: { message, code: status, type, ...(metadata ? { metadata } : {}) },
    error_type: type,
  };
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
