import { estimateTokens } from "../../wire/conversation/usage.ts";
import { estimateCost } from "../routing/estimate-cost.ts";
import { healthTargetOf } from "../routing/health-target.ts";
import type { Candidate, SkippedCandidate } from "../routing/plan.ts";
import type { FilteredOut } from "../routing/select-deployments.ts";
import { presentStep } from "../usage/route-step.ts";
import { consider } from "./admit.ts";
import type { GenerationDeps } from "./call.ts";
import { classifyNoCandidates } from "./classify-no-candidates.ts";
import { chooseFormat } from "./encode-for-candidate.ts";
import { explainTier } from "./explain-tier.ts";
import { findByokKeys } from "./find-byok-keys.ts";
import type { RoutableCall } from "./find-deployments.ts";
import { type Route, routeRequest } from "./route-request.ts";
import { peekFreeLimit } from "./take-limits.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Explains how a request would be routed now: its candidates in order, and the deployments left out with the reason. Holds,
 * counts and sends nothing. Rejects with a GatewayError as `consider` does.
 */
export async function explainRoute(deps: GenerationDeps, call: RoutableCall): Promise<Fields> {
  const { principal, request } = call;
  const considered = await consider(deps, call, await findByokKeys(deps, principal));
  const { deployments } = considered;
  const freeLimit = await peekFreeLimit(deps, principal, deployments);
  const route = routeRequest(deps, call, { deployments, freeLimit });
  const promptTokens = estimateTokens(request.promptTextBytes);
  const rejection =
    considered.rejection ??
    (route.candidates.length === 0 ? classifyNoCandidates(route, considered.requestedId) : null);
  return {
    requested_model: considered.requestedId,
    tier: explainTier(deps, call, considered.firstId),
    named_routes: considered.namedRoutes.map(presentStep),
    prompt_tokens: promptTokens,
    candidates: await Promise.all(
      route.candidates.map(async (candidate, at) => ({
        would_be_asked: at < deps.maxAttempts,
        ...describeCandidate(deps, candidate, { warm: route.warm, promptTokens }),
        upstream_format: at < deps.maxAttempts ? await chooseFormat(deps, call, candidate) : null,
      })),
    ),
    left_out: [...route.skipped.map(describeSkipped), ...considered.filteredOut.map(describeFilteredOut)],
    warm_until: route.warm === null ? null : new Date(route.warm.until).toISOString(),
    warnings: considered.warnings,
    error: rejection === null ? null : { type: rejection.code, message: rejection.message },
  };
}

function describeCandidate(
  { health, clock }: GenerationDeps,
  candidate: Candidate,
  { warm, promptTokens }: Pick<Route, "warm"> & { readonly promptTokens: number },
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
    is_byok: key.byokId !== null,
    reason: why,
    // US dollars for an answer of typical length.
    estimated_cost: estimateCost(endpoint, promptTokens, warmTokens, now),
    health: { circuit: state, success, latency_ms: ttftMs, tokens_per_second: tokensPerS },
  };
}

function describeSkipped({ deployment, key, why, waitMs, until }: SkippedCandidate): Fields {
  return {
    provider: deployment.provider.record.slug,
    model: deployment.model.id,
    ...(key === null ? {} : { is_byok: key.byokId !== null }),
    reason: why,
    ...(waitMs === null ? {} : { retry_after: Math.ceil(waitMs / 1000) }),
    ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
  };
}

function describeFilteredOut({ deployment, why, about }: FilteredOut): Fields {
  return {
    provider: deployment.provider.record.slug,
    model: deployment.model.id,
    reason: why,
    ...(about === null ? {} : { about }),
  };
}
