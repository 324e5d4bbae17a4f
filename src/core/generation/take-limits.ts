import { fail } from "../../base/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";
import { boundAnswers } from "../ledger/worst-case.ts";
import { limitHeaders } from "../limits/limit-headers.ts";
import type {
  LimitDecision,
  LimitRejection,
  LimitScope,
  LimitVerdict,
  RateLimitStatus,
} from "../limits/rate-limiter.ts";
import { rejectAnonymous } from "../limits/reject-anonymous.ts";
import type { Admission } from "./admission.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { namesFreeModel } from "./free-models.ts";

/** The caller's limits after a request was counted. */
export interface TakenLimits {
  /** Null if no limit applies. */
  readonly limitStatus: RateLimitStatus | null;
  /** The account's limit on free models; null if the request names none, or if it is not limited. */
  readonly freeLimit: LimitVerdict | null;
}

/**
 * Counts a generation for the rate limits of its key and account or client address, and of its model (docs/api/limits.md, "Rate
 * limits"). `id` is the generation's. A promise only if a limiter must ask elsewhere.
 * @throws GatewayError `rate_limit_exceeded`; `authentication` if anonymous requests are not allowed.
 */
export function takeLimits(
  deps: GenerationDeps,
  call: GenerationCall,
  admitted: AdmittedId,
): MaybePromise<TakenLimits> {
  if (call.shadowOf !== undefined) return { limitStatus: null, freeLimit: null };
  const freeLimit = peekFreeLimit(deps, call.principal, admitted.admission.deployments);
  return freeLimit instanceof Promise
    ? countLater(deps, call, admitted, freeLimit)
    : countAfter(deps, call, admitted, freeLimit);
}

async function countLater(
  deps: GenerationDeps,
  call: GenerationCall,
  admitted: AdmittedId,
  freeLimit: Promise<LimitVerdict | null>,
): Promise<TakenLimits> {
  return countAfter(deps, call, admitted, await freeLimit);
}

/** Counts a generation once it is known how many free requests its account has left. */
function countAfter(
  deps: GenerationDeps,
  call: GenerationCall,
  admitted: AdmittedId,
  freeLimit: LimitVerdict | null,
): MaybePromise<TakenLimits> {
  const { modelId } = admitted.admission;
  const scopes = deps.listLimits(call.principal, modelId);
  if (scopes.length === 0) return { limitStatus: null, freeLimit };
  const decision = countGeneration(deps, call.request, admitted, scopes);
  return decision instanceof Promise
    ? takeLater(decision, modelId, freeLimit)
    : toTaken(decision, modelId, freeLimit);
}

async function takeLater(
  decision: Promise<LimitDecision>,
  modelId: string,
  freeLimit: TakenLimits["freeLimit"],
): Promise<TakenLimits> {
  return toTaken(await decision, modelId, freeLimit);
}

function toTaken(decision: LimitDecision, modelId: string, freeLimit: TakenLimits["freeLimit"]): TakenLimits {
  return { limitStatus: requireAdmitted(decision, modelId), freeLimit };
}

/** A request that was admitted, and the id of its generation. */
interface AdmittedId {
  readonly id: string;
  readonly admission: Admission;
}

function countGeneration(
  { rateLimiter, clock, holdBounds }: GenerationDeps,
  request: GenerationCall["request"],
  { id, admission }: AdmittedId,
  scopes: readonly LimitScope[],
): MaybePromise<LimitDecision> {
  let completionTokens = 0;
  for (const ofModel of admission.deployments)
    for (const { endpoint } of ofModel) {
      const { expected, most } = boundAnswers(request, endpoint, holdBounds.tokens);
      completionTokens = Math.max(completionTokens, request.maxTokens === null ? expected : most);
    }
  const promptTokens = estimateTokens(request.promptTextBytes);
  return rateLimiter.admit({ id, scopes, promptTokens, completionTokens }, clock.now());
}

/** Returns the account's limit on free models without counting a request; null if no deployment is free, or no limit applies. */
export function peekFreeLimit(
  { freeLimit, clock }: Pick<GenerationDeps, "freeLimit" | "clock">,
  principal: InferencePrincipal,
  deployments: Admission["deployments"],
): MaybePromise<LimitVerdict | null> {
  return namesFreeModel(deployments) ? freeLimit.peek(principal, clock.now()) : null;
}

/**
 * Counts a request that calls no model, for the requests a minute of its key and account or client address. Returns null if no
 * limit applies.
 * @throws GatewayError `rate_limit_exceeded`; `authentication` if anonymous requests are not allowed.
 */
export async function countRequest(
  deps: GenerationDeps,
  principal: InferencePrincipal,
): Promise<RateLimitStatus | null> {
  const scopes = deps.listLimits(principal, null);
  if (scopes.length === 0) return null;
  return requireAdmitted(await deps.rateLimiter.count(scopes, deps.clock.now()), null);
}

function requireAdmitted(decision: LimitDecision, modelId: string | null): RateLimitStatus {
  const { limitStatus } = decision;
  if (decision.kind === "admitted") return limitStatus;
  const { rejection } = decision;
  const { source, kind, limit } = rejection;
  if (source === "anonymous") rejectAnonymous(rejection, limitStatus.requests);
  const retryAfterS = Math.max(1, Math.ceil(rejection.retryAfterMs / 1000));
  const owner =
    source === "gateway" ? JSON.stringify(modelId) : source === "key" ? "This key" : "This account";
  return fail("rate_limit_exceeded", `${owner} ${explain(rejection, retryAfterS)}`, {
    retryAfterS,
    metadata: { limit_source: source, limit_kind: kind, limit },
    headers: limitHeaders(limitStatus),
  });
}

function explain({ kind, limit, isTooLarge }: LimitRejection, retryAfterS: number): string {
  return isTooLarge
    ? `may use ${limit} tokens a minute, and this prompt alone has more. Shorten it.`
    : `${EXCEEDED[kind](limit)}. Wait ${retryAfterS} s, or ask the operator for more.`;
}

const EXCEEDED: Readonly<Record<LimitRejection["kind"], (limit: number) => string>> = {
  requests_per_minute: (limit) => `has used its ${limit} requests a minute`,
  requests_per_hour: (limit) => `has used its ${limit} requests an hour`,
  tokens_per_minute: (limit) => `has too little left of its ${limit} tokens a minute for this request`,
  concurrent: (limit) => `has ${limit} requests under way, which is as many as it may`,
};
