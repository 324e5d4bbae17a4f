import { fail } from "../../base/failures/errors.ts";
import { limitHeaders } from "./limit-headers.ts";
import type { LimitRejection, LimitVerdict } from "./rate-limiter.ts";

/**
 * Rejects an anonymous caller whose address has used up its limit. `requests` is the status of that limit.
 * @throws GatewayError `rate_limit_exceeded`; `authentication` if the operator allows no anonymous requests at all, because
 * waiting would not help.
 */
export function rejectAnonymous(
  { limit, retryAfterMs }: Pick<LimitRejection, "limit" | "retryAfterMs">,
  requests: LimitVerdict | null,
): never {
  const headers = limitHeaders({ requests, tokens: null });
  if (limit === 0) {
    fail("authentication", 'This gateway requires an API key. Send one as "Authorization: Bearer gw_…".', {
      headers,
    });
  }
  const retryAfterS = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return fail(
    "rate_limit_exceeded",
    `This address has used its ${limit} requests per hour without a key. Wait ${retryAfterS} s, or send an API key.`,
    { retryAfterS, metadata: { limit_source: "anonymous" }, headers },
  );
}
