import { type Failure, GatewayError } from "../../../base/failures/errors.ts";
import { estimateTokens } from "../../../wire/conversation/usage.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import { boundAnswers } from "../../ledger/holds/worst-case.ts";
import { limitHeaders } from "../../limits/limit-headers.ts";
import type {
  LimitDecision,
  LimitRejection,
  LimitScope,
  LimitVerdict,
  RateLimitStatus,
} from "../../limits/rate-limiter.ts";
import { rejectAnonymous } from "../../limits/reject-anonymous.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { Admission } from "../prepare/admission.ts";
import { namesFreeModel } from "./free-models.ts";

/** The caller's limits after a request was counted. */
export interface TakenLimits {
  /** Null if no limit applies. */
  readonly limitStatus: RateLimitStatus | null;
  /** The account's limit on free models; null if the request names none, or if it is not limited. */
  readonly freeLimit: LimitVerdict | null;
  /** The model whose limit the request was counted for; absent for the first one. */
  readonly modelId?: string;
  /** Models whose limits are used up, with the milliseconds until they may be called again; absent if there are none. */
  readonly limited?: ReadonlyMap<string, number>;
}

/**
 * Counts a generation for the rate limits of its key and account or client address, and of the first of its models whose limit is not used
 * up (docs/api/limits.md, "Rate limits"). `id` is the generation's id.
 * @throws GatewayError `rate_limit_exceeded`; `authentication` if anonymous requests are not allowed.
 */
export async function takeLimits(
  deps: GenerationDeps,
  call: GenerationCall,
  admitted: AdmittedId,
): Promise<TakenLimits> {
  if (call.shadowOf !== undefined) return { limitStatus: null, freeLimit: null };
  const { modelId, deployments } = admitted.admission;
  const freeLimit = namesFreeModel(deployments) ? await peekFreeLimit(deps, call.principal) : null;
  const scopes = deps.settings.listLimits(call.principal, modelId);
  if (scopes.length === 0) return { limitStatus: null, freeLimit };
  const first = await countGeneration(deps, call.request, admitted, scopes);
  if (first.kind === "rejected" && first.rejection.source === "gateway" && deployments.length > 1)
    return { ...(await countOtherModel(deps, call, admitted, first)), freeLimit };
  return { limitStatus: requireAdmitted(first, modelId), freeLimit };
}

/** Counts a generation for the next of its models after the limit of the first one is used up. */
async function countOtherModel(
  deps: GenerationDeps,
  call: GenerationCall,
  admitted: AdmittedId,
  first: LimitDecision,
): Promise<Omit<TakenLimits, "freeLimit">> {
  const { modelId, deployments } = admitted.admission;
  const limited = new Map([[modelId, waitOf(first)]]);
  for (const [deployment] of deployments) {
    const id = deployment?.model.id ?? modelId;
    if (limited.has(id)) continue;
    const decision = await countGeneration(
      deps,
      call.request,
      admitted,
      deps.settings.listLimits(call.principal, id),
    );
    if (decision.kind === "admitted") return { limitStatus: decision.limitStatus, modelId: id, limited };
    // The limits of the caller count for all models.
    if (decision.rejection.source !== "gateway") return { limitStatus: requireAdmitted(decision, id) };
    limited.set(id, waitOf(decision));
  }
  return { limitStatus: requireAdmitted(first, modelId) };
}

function waitOf(decision: LimitDecision): number {
  return decision.kind === "rejected" ? decision.rejection.retryAfterMs : 0;
}

/** Counts a request for the requests per minute of a fallback model. Returns the failure if they are used up; otherwise null. */
export async function countFallback(
  {
    rateLimiter,
    clock,
    settings: { listLimits },
  }: Pick<GenerationDeps, "rateLimiter" | "clock" | "settings">,
  principal: InferencePrincipal,
  modelId: string,
): Promise<Failure | null> {
  const scopes = listLimits(principal, modelId).filter(({ source }) => source === "gateway");
  if (scopes.length === 0) return null;
  const decision = await rateLimiter.count(scopes, clock.now());
  return decision.kind === "admitted" ? null : describeRejection(decision, modelId);
}

/** A request that was admitted, and the id of its generation. */
interface AdmittedId {
  readonly id: string;
  readonly admission: Admission;
}

function countGeneration(
  { rateLimiter, clock, settings: { holdBounds } }: GenerationDeps,
  request: GenerationCall["request"],
  { id, admission }: AdmittedId,
  scopes: readonly LimitScope[],
): Promise<LimitDecision> {
  const isBounded = request.maxTokens !== null;
  let expectedTokens = 0;
  let most = 0;
  for (const ofModel of admission.deployments)
    for (const { endpoint } of ofModel) {
      const answers = boundAnswers(request, endpoint, holdBounds.tokens);
      expectedTokens = Math.max(expectedTokens, answers.expected);
      most = Math.max(most, answers.most);
    }
  const completionTokens = isBounded ? most : expectedTokens;
  const promptTokens = estimateTokens(request.prompt.textBytes);
  return rateLimiter.admit(
    { id, scopes, promptTokens, completionTokens, expectedTokens, isBounded },
    clock.now(),
  );
}

/** Returns the account's limit on free models without counting a request; null if no limit applies. */
export function peekFreeLimit(
  { settings: { freeLimit }, clock }: Pick<GenerationDeps, "settings" | "clock">,
  principal: InferencePrincipal,
): Promise<LimitVerdict | null> {
  return freeLimit.peek(principal, clock.now());
}

/**
 * Counts a request that calls no model for the requests per minute of its key and account or client address. Returns null if no limit
 * applies.
 * @throws GatewayError `rate_limit_exceeded`; `authentication` if anonymous requests are not allowed.
 */
export async function countRequest(
  deps: GenerationDeps,
  principal: InferencePrincipal,
): Promise<RateLimitStatus | null> {
  const scopes = deps.settings.listLimits(principal, null);
  if (scopes.length === 0) return null;
  return requireAdmitted(await deps.rateLimiter.count(scopes, deps.clock.now()), null);
}

function requireAdmitted(decision: LimitDecision, modelId: string | null): RateLimitStatus {
  if (decision.kind === "admitted") return decision.limitStatus;
  const { rejection, limitStatus } = decision;
  if (rejection.source === "anonymous") rejectAnonymous(rejection, limitStatus.requests);
  throw new GatewayError(describeRejection(decision, modelId));
}

function describeRejection(
  { rejection, limitStatus }: Extract<LimitDecision, { kind: "rejected" }>,
  modelId: string | null,
): Failure {
  const { source, kind, limit } = rejection;
  const retryAfterS = Math.max(1, Math.ceil(rejection.retryAfterMs / 1000));
  const owner =
    source === "gateway" ? JSON.stringify(modelId) : source === "key" ? "This key" : "This account";
  return {
    code: "rate_limit_exceeded",
    message: `${owner} ${explain(rejection, retryAfterS)}`,
    retryAfterS,
    metadata: { limit_source: source, limit_kind: kind, limit },
    headers: limitHeaders(limitStatus),
  };
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
  concurrent: (limit) => `has ${limit} requests in progress, which is its maximum`,
};
