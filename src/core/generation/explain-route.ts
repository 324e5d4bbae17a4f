import { estimateTokens } from "../../wire/conversation/usage.ts";
import { estimateCost } from "../routing/estimate-cost.ts";
import { healthTargetOf } from "../routing/health-target.ts";
import type { Candidate, SetAside } from "../routing/plan.ts";
import type { SiftedOut } from "../routing/select-offers.ts";
import { consider } from "./admit.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { chooseFormat } from "./encode-for-candidate.ts";
import { findOwnKeys } from "./find-own-keys.ts";
import { judgeNobody } from "./judge-nobody.ts";
import { type Route, routeRequest } from "./route-request.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Who would answer a request now, in turn, and who would not, and why. Nothing is held, counted or sent.
 * @throws GatewayError as `consider`.
 */
export async function explainRoute(
  deps: GenerationDeps,
  call: Pick<GenerationCall, "caller" | "request" | "readHeader">,
): Promise<Fields> {
  const { caller, request } = call;
  const considered = await consider(deps, call, await findOwnKeys(deps, caller));
  const route = routeRequest(deps, caller, request, considered.offers);
  const promptTokens = estimateTokens(request.promptTextBytes);
  const refusal =
    considered.refusal ?? (route.candidates.length === 0 ? judgeNobody(route, considered.requestedId) : null);
  return {
    requested_model: considered.requestedId,
    prompt_tokens: promptTokens,
    candidates: await Promise.all(
      route.candidates.map(async (candidate, at) => ({
        would_be_asked: at < deps.maxAttempts,
        ...describeCandidate(deps, candidate, route, promptTokens),
        upstream_format: at < deps.maxAttempts ? await chooseFormat(deps, call, candidate) : null,
      })),
    ),
    left_out: [...route.setAside.map(describeSetAside), ...considered.siftedOut.map(describeSiftedOut)],
    warm_until: route.warm === null ? null : new Date(route.warm.until).toISOString(),
    warnings: considered.warnings,
    error: refusal === null ? null : { type: refusal.code, message: refusal.message },
  };
}

function describeCandidate(
  { health, clock }: GenerationDeps,
  candidate: Candidate,
  { warm }: Route,
  promptTokens: number,
): Fields {
  const { model, endpoint, key, why } = candidate;
  const now = clock.now();
  const { provider } = healthTargetOf(candidate);
  const { state, success, ttftMs, tokensPerS } = health.endpoint(provider, model.id, now);
  const warmTokens = why === "warm_cache" ? (warm?.tokens ?? 0) : 0;
  return {
    provider: candidate.provider.record.slug,
    model: model.id,
    upstream_model: endpoint.name,
    is_byok: key.ownId !== null,
    reason: why,
    /** US dollars for an answer of usual length. */
    estimated_cost: estimateCost(endpoint, promptTokens, warmTokens, now),
    health: { circuit: state, success, latency_ms: ttftMs, tokens_per_second: tokensPerS },
  };
}

function describeSetAside({ offer, key, why, waitMs }: SetAside): Fields {
  return {
    provider: offer.provider.record.slug,
    model: offer.model.id,
    ...(key === null ? {} : { is_byok: key.ownId !== null }),
    reason: why,
    ...(waitMs === null ? {} : { retry_after: Math.ceil(waitMs / 1000) }),
  };
}

function describeSiftedOut({ offer, why, about }: SiftedOut): Fields {
  return {
    provider: offer.provider.record.slug,
    model: offer.model.id,
    reason: why,
    ...(about === null ? {} : { about }),
  };
}
