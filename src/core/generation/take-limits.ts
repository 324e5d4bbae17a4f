import { fail } from "../../base/errors.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { Caller } from "../accounts/records.ts";
import { boundCompletion } from "../ledger/worst-case.ts";
import { anonymousStanding, limitHeaders } from "../limits/limit-headers.ts";
import type { LimitRefusal, LimitStanding, LimitSubjects } from "../limits/rate-limits.ts";
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
  if (deps.rateLimits === null) return null;
  const wish = {
    id,
    subjects: subjectsOf(caller, modelId),
    promptTokens: estimateTokens(request.promptTextBytes),
    completionTokens: Math.max(
      ...offers.flat().map(({ endpoint }) => boundCompletion(request, endpoint, deps.holdTokens)),
    ),
  };
  const answer = deps.rateLimits.admit(wish, deps.clock.now());
  return answer.kind === "counted" ? answer.standing : refuse(answer.refusal, answer.standing, modelId);
}

/**
 * Counts a request of a caller without a key against the limit of its address. Null for a key.
 * @throws GatewayError `rate_limit_exceeded`, `authentication`.
 */
export function countAnonymous(
  { anonymousLimit, clock }: GenerationDeps,
  { caller }: GenerationCall,
): LimitStanding | null {
  if (caller.kind !== "anonymous") return null;
  const verdict = anonymousLimit.admit(caller.addressHash, clock.now());
  return verdict.allowed ? anonymousStanding(verdict) : refuseAnonymous(verdict);
}

/** Whom a caller's requests are counted for. */
export function subjectsOf(caller: Caller, modelId: string | null): LimitSubjects {
  return caller.kind === "key"
    ? { key: caller.key.id, account: caller.account.id, gateway: modelId }
    : { key: null, account: null, gateway: modelId };
}

function refuse(refusal: LimitRefusal, standing: LimitStanding, modelId: string): never {
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
