import { fail } from "../../base/errors.ts";
import { anonymousStatus, limitHeaders } from "./limit-headers.ts";
import type { LimitVerdict } from "./sliding-window.ts";

/**
 * Refuses a caller without a key whose address has used its limit up.
 * @throws GatewayError `rate_limit_exceeded`; `authentication` where the operator lets nobody in without a key, because
 * waiting would not help.
 */
export function rejectAnonymous(verdict: LimitVerdict): never {
  const headers = limitHeaders(anonymousStatus(verdict));
  if (verdict.limit === 0) {
    fail(
      "authentication",
      'This gateway takes no requests without an API key. Send one as "Authorization: Bearer gw_…".',
      { headers },
    );
  }
  const retryAfterS = Math.max(1, Math.ceil(verdict.retryAfterMs / 1000));
  return fail(
    "rate_limit_exceeded",
    `This address has used its ${verdict.limit} requests an hour without a key. Wait ${retryAfterS} s, or send an API key.`,
    { retryAfterS, metadata: { limit_source: "anonymous" }, headers },
  );
}
