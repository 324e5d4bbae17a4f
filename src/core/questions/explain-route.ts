import type { Failure } from "../../base/failures/errors.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import { presentTakes } from "../catalog/present/present-takes.ts";
import { consider } from "../generation/admit/admit.ts";
import { namesFreeModel } from "../generation/admit/free-models.ts";
import { peekFreeLimit } from "../generation/admit/take-limits.ts";
import { previewEncoding } from "../generation/attempt/encode-for-candidate.ts";
import type { GenerationDeps, Serving } from "../generation/call/call.ts";
import type { RoutableCall } from "../generation/prepare/find-deployments.ts";
import { describeFacts, type TierCall } from "../generation/prepare/find-tier-deployments.ts";
import { prepare } from "../generation/prepare/prepare.ts";
import { classifyNoCandidates } from "../generation/route/classify-no-candidates.ts";
import { type Route, routeRequest } from "../generation/route/route-request.ts";
import type { Ledger } from "../ledger/credits/ledger.ts";
import { healthTargetOf } from "../routing/health/health-target.ts";
import { estimateCost } from "../routing/plan/estimate-cost.ts";
import type { Candidate, SkippedCandidate } from "../routing/plan/plan.ts";
import { nameCase, resolveTier } from "../routing/plan/resolve-tier.ts";
import type { FilteredOut } from "../routing/plan/select-deployments.ts";
import { presentStep } from "../usage/records/route-step.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Explains how a request would be routed now: its candidates in order, and the deployments left out with the reason. Holds,
 * counts and sends nothing. Rejects with a GatewayError as `prepare` does.
 */
export async function explainRoute(deps: GenerationDeps, call: RoutableCall): Promise<Fields> {
  const { principal, request } = call;
  const considered = consider(call, await prepare(deps, call));
  const { deployments } = considered;
  const freeLimit = namesFreeModel(deployments) ? await peekFreeLimit(deps, principal) : null;
  const route = routeRequest(deps, call, { deployments, freeLimit });
  const promptTokens = estimateTokens(request.prompt.textBytes);
  const rejection =
    considered.rejection ??
    (route.candidates.length === 0 ? classifyNoCandidates(route, considered.requestedId) : null);
  return {
    requested_model: considered.requestedId,
    tier: explainTier(considered.serving, deps.ledger, { call, id: considered.firstId }),
    named_routes: considered.namedRoutes.map(presentStep),
    prompt_tokens: promptTokens,
    candidates: await describeAll(
      { deps, call, zeroRetention: considered.zeroRetention },
      { ...route, promptTokens },
    ),
    left_out: [...route.skipped.map(describeSkipped), ...considered.filteredOut.map(describeFilteredOut)],
    warm_until: route.warm === null ? null : new Date(route.warm.until).toISOString(),
    warnings: considered.warnings,
    error: describeRejection(rejection),
  };
}

/** The maximum number of candidates for which a short request is encoded to show what would be changed. */
const MAX_PREVIEWS = 24;

/** Above this number of text bytes, a request is encoded only for candidates that would be tried. */
const SHORT_BYTES = 65_536;

interface ExplainedCall {
  readonly deps: GenerationDeps;
  readonly call: RoutableCall;
  readonly zeroRetention: boolean;
}

type PlannedRoute = Pick<Route, "candidates" | "warm"> & { readonly promptTokens: number };

async function describeAll(explained: ExplainedCall, route: PlannedRoute): Promise<readonly Fields[]> {
  const { deps, call } = explained;
  const isShort = call.request.prompt.textBytes <= SHORT_BYTES;
  const previewed = isShort ? Math.max(deps.settings.maxAttempts, MAX_PREVIEWS) : deps.settings.maxAttempts;
  const all: Fields[] = [];
  // One after another, so that other requests are served in between.
  for (const [at, candidate] of route.candidates.entries()) {
    const preview = at < previewed ? await previewEncoding(explained, candidate) : null;
    const { profile } = candidate.endpoint;
    all.push({
      would_be_asked: at < deps.settings.maxAttempts,
      ...describeCandidate(deps, candidate, route),
      upstream_format: preview?.format ?? null,
      changes: preview?.warnings.map(({ field, message }) => ({ field, message })) ?? null,
      error: describeRejection(preview?.rejection ?? null),
      takes: presentTakes(profile?.listRules(preview?.format ?? profile.chatFormat) ?? []),
    });
  }
  return all;
}

function describeRejection(rejection: Failure | null): Fields | null {
  return rejection === null ? null : { type: rejection.code, message: rejection.message };
}

function describeCandidate(
  { routing: { health }, clock }: GenerationDeps,
  candidate: Candidate,
  { warm, promptTokens }: PlannedRoute,
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

/** How a tier chooses for a request. */
interface TierExplanation {
  readonly id: string;
  /** The case that applies, as `resolves_to` of the tier names it. */
  readonly when: string;
  /** In order of preference, whether or not they are served. */
  readonly models: readonly string[];
}

/** Explains how a tier chooses for a request whose deployments were named, so that the balance is cached; null if `id` is a model. */
function explainTier(
  serving: Serving,
  ledger: Pick<Ledger, "cachedBalanceOf">,
  { call, id }: { readonly call: TierCall; readonly id: string },
): TierExplanation | null {
  const { tiers } = serving;
  const tier = tiers.find(id);
  if (tier === undefined) return null;
  const facts = describeFacts(serving, ledger, call);
  const { models } = resolveTier(tier.rule, facts, tiers);
  return { id: tier.id, when: nameCase(tier.rule, facts), models };
}
