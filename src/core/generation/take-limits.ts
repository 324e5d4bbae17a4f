import { fail } from "../../base/errors.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { Principal } from "../accounts/records.ts";
import { boundAnswers } from "../ledger/worst-case.ts";
import { anonymousStatus, limitHeaders } from "../limits/limit-headers.ts";
import { type LimitRejection, type RateLimitStatus, tightest } from "../limits/rate-limits.ts";
import { rejectAnonymous } from "../limits/reject-anonymous.ts";
import type { Admission } from "./admit.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";

/**
 * Counts a request against the limits of its key, its account and the model it asks for (docs/contract.md, "Keys, money,
 * limits"). Null where nobody is limited.
 * @throws GatewayError `rate_limit_exceeded`.
 */
export function takeLimits(
  deps: GenerationDeps,
  { principal, request }: GenerationCall,
  id: string,
  { modelId, deployments }: Pick<Admission, "modelId" | "deployments">,
): RateLimitStatus | null {
  const scopes = deps.listLimits(principal, modelId);
  if (scopes.length === 0) return null;
  const wish = {
    id,
    scopes,
    promptTokens: estimateTokens(request.promptTextBytes),
    completionTokens: Math.max(
      ...deployments.flat().map(({ endpoint }) => {
        const { expected, most } = boundAnswers(request, endpoint, deps.holdBounds.tokens);
        return request.maxTokens === null ? expected : most;
      }),
    ),
  };
  const answer = deps.rateLimits.admit(wish, deps.clock.now());
  return answer.kind === "counted" ? answer.limitStatus : refuse(answer.refusal, answer.limitStatus, modelId);
}

/**
 * Counts a request of a caller without a key against the limit of its address; `standing` is how its other limits stand.
 * A key's stays as it is.
 * @throws GatewayError `rate_limit_exceeded`, `authentication`.
 */
export function countAnonymous(
  { anonymousLimit, clock }: Pick<GenerationDeps, "anonymousLimit" | "clock">,
  principal: Principal,
  limitStatus: RateLimitStatus | null,
): RateLimitStatus | null {
  if (principal.kind !== "anonymous") return limitStatus;
  const verdict = anonymousLimit.admit(principal.addressHash, clock.now());
  if (!verdict.allowed) rejectAnonymous(verdict);
  if (limitStatus === null) return anonymousStatus(verdict);
  return { ...limitStatus, requests: tightest([verdict, limitStatus.requests]) };
}

/**
 * Counts a request that calls no model: against the requests a minute of its key and account, or of its address. Null where
 * nobody is limited.
 * @throws GatewayError `rate_limit_exceeded`, `authentication`.
 */
export function countRequest(deps: GenerationDeps, principal: Principal): RateLimitStatus | null {
  const scopes = deps.listLimits(principal, null);
  if (scopes.length === 0) return countAnonymous(deps, principal, null);
  const answer = deps.rateLimits.countRequest(scopes, deps.clock.now());
  return answer.kind === "counted" ? answer.limitStatus : refuse(answer.refusal, answer.limitStatus, null);
}

function refuse(refusal: LimitRejection, limitStatus: RateLimitStatus, modelId: string | null): never {
  const { source, kind, limit } = refusal;
  const retryAfterS = Math.max(1, Math.ceil(refusal.retryAfterMs / 1000));
  const whose = { key: "This key", account: "This account", gateway: JSON.stringify(modelId) }[source];
  const what = refusal.isTooLarge
    ? `may use ${limit} tokens a minute, and this prompt alone has more. Shorten it.`
    : `${USED[kind](limit)}. Wait ${retryAfterS} s, or ask the operator for more.`;
  return fail("rate_limit_exceeded", `${whose} ${what}`, {
    retryAfterS,
    metadata: { limit_source: source, limit_kind: kind, limit },
    headers: limitHeaders(limitStatus),
  });
}

const USED = {
  requests_per_minute: (limit: number) => `has used its ${limit} requests a minute`,
  tokens_per_minute: (limit: number) =>
    `has too little left of its ${limit} tokens a minute for this request`,
  concurrent: (limit: number) => `has ${limit} requests under way, which is as many as it may`,
} as const;
