import { estimateTokens, type TokenUsage } from "../../../wire/conversation/usage.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import type { LimitVerdict } from "../../limits/rate-limiter.ts";
import type { CacheAffinity } from "../../routing/affinity/affinity.ts";
import { cacheLifeMs } from "../../routing/affinity/cache-memory.ts";
import { sessionKeyOf } from "../../routing/affinity/session-key.ts";
import { type Candidate, type Plan, planRoute } from "../../routing/plan/plan.ts";
import { type AllowedDeployments, removeFreeModels } from "../admit/free-models.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import { describeLosses, NO_LOSSES } from "./lost-parameters.ts";

/** A plan with the facts that it is based on. */
export interface Route extends Plan {
  /** The conversation's session key; null if there was no choice. */
  readonly session: string | null;
  /** The deployment whose prompt cache contains the conversation; null for none. */
  readonly warm: CacheAffinity | null;
  /** The account's limit on free models, if deployments were left out because of it. */
  readonly freeLimit: LimitVerdict | null;
}

/** The deployments that may answer a request. */
interface AdmittedDeployments {
  /** By model, the requested one first, then its fallbacks. */
  readonly deployments: readonly (readonly Deployment[])[];
  /** The account's limit on free models; null if none applies. */
  readonly freeLimit: LimitVerdict | null;
  /** Models whose own limits are used up, with the milliseconds until they may be called again; absent or null for none. */
  readonly limitedModels?: ReadonlyMap<string, number> | null;
}

/** Plans an admitted request by current health, prices and prompt caches. Calls no provider. */
export function routeRequest(
  deps: Pick<GenerationDeps, "routing" | "clock">,
  { principal, request }: Pick<GenerationCall, "principal" | "request">,
  admitted: AdmittedDeployments,
): Route {
  const {
    routing: { health, drains, affinity },
    clock,
  } = deps;
  const now = clock.now();
  const allowed = removeLimitedModels(
    removeFreeModels(admitted.deployments, admitted.freeLimit),
    admitted.limitedModels ?? null,
  );
  const { deployments, freeLimit } = allowed;
  const isChoice = hasChoice(deployments);
  const session = isChoice ? sessionKeyOf(request, principal) : null;
  const warm = session === null ? null : affinity.recall(session, now);
  const plan = planRoute({
    deployments,
    preferences: request.preferences,
    promptTokens: estimateTokens(request.prompt.textBytes),
    isFim: request.action === "fim",
    formatOfTools: isChoice ? request.demands.formatOfTools() : null,
    ...(deployments.some((ofModel) => ofModel.length > 1) ? describeLosses(request) : NO_LOSSES),
    health,
    drains,
    warm,
    isBound: warm !== null && request.prompt.bindsReasoning?.() === true,
    session,
    now,
  });
  const skipped = allowed.skipped.length === 0 ? plan.skipped : [...allowed.skipped, ...plan.skipped];
  return { candidates: plan.candidates, skipped, session, warm, freeLimit };
}

/** Removes the deployments of models whose own limits are used up. */
function removeLimitedModels(
  allowed: AllowedDeployments,
  limited: ReadonlyMap<string, number> | null,
): AllowedDeployments {
  if (limited === null) return allowed;
  const isLimited = ([first]: readonly Deployment[]) => first !== undefined && limited.has(first.model.id);
  const removed = allowed.deployments.filter(isLimited).flat();
  const skipped = removed.map((deployment) => ({
    deployment,
    key: null,
    why: "model_limit" as const,
    waitMs: limited.get(deployment.model.id) ?? null,
  }));
  return {
    ...allowed,
    deployments: allowed.deployments.filter((ofModel) => !isLimited(ofModel)),
    skipped: [...allowed.skipped, ...skipped],
  };
}

/** Returns whether there is more than one candidate. Session keys cost time, and most requests have only one. */
function hasChoice([first, second]: readonly (readonly Deployment[])[]): boolean {
  return second !== undefined || (first?.length ?? 0) > 1 || (first?.[0]?.keys.length ?? 0) > 1;
}

/** How long a prompt stays cached if the client asked for an hour. Milliseconds. */
const LONG_CACHE_MS = 3_600_000;

/** Records that a candidate answered a conversation, so that its next turn is sent to the same prompt cache. */
export function recordAffinity(
  { routing: { affinity }, clock }: Pick<GenerationDeps, "routing" | "clock">,
  { provider, model, key }: Candidate,
  { session, usage }: { readonly session: string; readonly usage: TokenUsage },
): void {
  const lifeMs = usage.cacheWrite1hTokens > 0 ? LONG_CACHE_MS : cacheLifeMs(provider.record);
  affinity.remember(session, {
    provider: provider.record.slug,
    modelId: model.id,
    keyLabel: key.label,
    tokens: usage.promptTokens,
    until: clock.now() + lifeMs,
  });
}
