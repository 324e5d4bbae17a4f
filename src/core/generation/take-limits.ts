import { fail } from "../../base/errors.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { Caller } from "../accounts/records.ts";
import { boundAnswers } from "../ledger/worst-case.ts";
import { anonymousStanding, limitHeaders } from "../limits/limit-headers.ts";
import { type LimitRefusal, type LimitStanding, tightest } from "../limits/rate-limits.ts";
import { refuseAnonymous } from "../limits/refuse-anonymous.ts";
import type { Admission } from "./admit.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";

/**
 * Counts a request against the limits of its key, its account and the model it asks for (docs/contract.md, "Keys, money,
 * limits"). Null where nobody is limited.
 * @throws GatewayError `rate_limit_exceeded`.
 */
export function takeLimits(
  deps: GenerationDeps,
  { caller, request }: GenerationCall,
  id: string,
  { modelId, offers }: Pick<Admission, "modelId" | "offers">,
): LimitStanding | null {
  const subjects = deps.listLimits(caller, modelId);
  if (subjects.length === 0) return null;
  const wish = {
    id,
    subjects,
    promptTokens: estimateTokens(request.promptTextBytes),
    completionTokens: Math.max(
      ...offers.flat().map(({ endpoint }) => {
        const { expected, most } = boundAnswers(request, endpoint, deps.holdBounds.tokens);
        return request.maxTokens === null ? expected : most;
      }),
    ),
  };
  const answer = deps.rateLimits.admit(wish, deps.clock.now());
  return answer.kind === "counted" ? answer.standing : refuse(answer.refusal, answer.standing, modelId);
}

/**
 * Counts a request of a caller without a key against the limit of its address; `standing` is how its other limits stand.
 * A key's stays as it is.
 * @throws GatewayError `rate_limit_exceeded`, `authentication`.
 */
export function countAnonymous(
  { anonymousLimit, clock }: Pick<GenerationDeps, "anonymousLimit" | "clock">,
  caller: Caller,
  standing: LimitStanding | null,
): LimitStanding | null {
  if (caller.kind !== "anonymous") return standing;
  const verdict = anonymousLimit.admit(caller.addressHash, clock.now());
  if (!verdict.allowed) refuseAnonymous(verdict);
  if (standing === null) return anonymousStanding(verdict);
  return { ...standing, requests: tightest([verdict, standing.requests]) };
}

/**
 * Counts a request that calls no model: against the requests a minute of its key and account, or of its address. Null where
 * nobody is limited.
 * @throws GatewayError `rate_limit_exceeded`, `authentication`.
 */
export function countRequest(deps: GenerationDeps, caller: Caller): LimitStanding | null {
  const subjects = deps.listLimits(caller, null);
  if (subjects.length === 0) return countAnonymous(deps, caller, null);
  const answer = deps.rateLimits.countRequest(subjects, deps.clock.now());
  return answer.kind === "counted" ? answer.standing : refuse(answer.refusal, answer.standing, null);
}

function refuse(refusal: LimitRefusal, standing: LimitStanding, modelId: string | null): never {
  const { source, kind, limit } = refusal;
  const retryAfterS = Math.max(1, Math.ceil(refusal.retryAfterMs / 1000));
  const whose = { key: "This key", account: "This account", gateway: JSON.stringify(modelId) }[source];
  const what = refusal.isTooLarge
    ? `may use ${limit} tokens a minute, and this prompt alone has more. Shorten it.`
    : `${USED[kind](limit)}. Wait ${retryAfterS} s, or ask the operator for more.`;
  return fail("rate_limit_exceeded", `${whose} ${what}`, {
    retryAfterS,
    metadata: { limit_source: source, limit_kind: kind, limit },
    headers: limitHeaders(standing),
  });
}

const USED = {
  requests_per_minute: (limit: number) => `has used its ${limit} requests a minute`,
  tokens_per_minute: (limit: number) =>
    `has too little left of its ${limit} tokens a minute for this request`,
  concurrent: (limit: number) => `has ${limit} requests under way, which is as many as it may`,
} as const;
