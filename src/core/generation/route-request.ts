import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { estimateTokens, type TokenUsage } from "../../wire/conversation/usage.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";
import type { Deployment } from "../deployments/served-models.ts";
import type { LimitVerdict } from "../limits/rate-limiter.ts";
import type { CacheAffinity } from "../routing/affinity.ts";
import { type Candidate, type Plan, planRoute } from "../routing/plan.ts";
import { sessionKeyOf } from "../routing/session-key.ts";
import type { GenerationDeps } from "./call.ts";
import { leaveOutFree } from "./free-models.ts";

/** A plan, and what it was based on. */
export interface Route extends Plan {
  /** The conversation's session key; null if there was no choice. */
  readonly session: string | null;
  /** Where the conversation's prompt cache is warm; null if nowhere. */
  readonly warm: CacheAffinity | null;
  /** The account's limit on free models, if deployments were left out because of it. */
  readonly freeLimit: LimitVerdict | null;
}

/** Plans an admitted request by current health, prices and prompt caches. Calls no provider. */
export function routeRequest(
  deps: Pick<GenerationDeps, "health" | "affinity" | "clock">,
  principal: InferencePrincipal,
  request: InferenceRequest,
  admitted: {
    readonly deployments: readonly (readonly Deployment[])[];
    readonly freeLimit: LimitVerdict | null;
  },
): Route {
  const { health, affinity, clock } = deps;
  const now = clock.now();
  const allowed = leaveOutFree(admitted.deployments, admitted.freeLimit);
  const { deployments, freeLimit } = allowed;
  const isChoice = hasChoice(deployments);
  const session = isChoice ? sessionKeyOf(request, principal) : null;
  const warm = session === null ? null : affinity.recall(session, now);
  const plan = planRoute({
    deployments,
    preferences: request.preferences,
    promptTokens: estimateTokens(request.promptTextBytes),
    isFim: request.action === "fim",
    formatOfTools: isChoice ? request.formatOfTools() : null,
    health,
    warm,
    session,
    now,
  });
  const skipped = allowed.skipped.length === 0 ? plan.skipped : [...allowed.skipped, ...plan.skipped];
  return { candidates: plan.candidates, skipped, session, warm, freeLimit };
}

/** Whether there is more than one candidate. Session keys cost time, and most requests have only one. */
function hasChoice([first, second]: readonly (readonly Deployment[])[]): boolean {
  return second !== undefined || (first?.length ?? 0) > 1 || (first?.[0]?.keys.length ?? 0) > 1;
}

/** How long a prompt stays in a vendor's cache, unless the catalog says otherwise. Milliseconds. */
const CACHE_MS = 300_000;

/** How long a prompt stays cached if the client asked for an hour. Milliseconds. */
const LONG_CACHE_MS = 3_600_000;

/** Records that a candidate answered a conversation, so that its next turn finds the prompt cached there. */
export function recordAffinity(
  { affinity, clock }: Pick<GenerationDeps, "affinity" | "clock">,
  session: string | null,
  { provider, model, key }: Candidate,
  { promptTokens, cacheWrite1hTokens }: TokenUsage,
): void {
  if (session === null) return;
  const { slug, promptCacheSeconds } = provider.record;
  const usualMs = promptCacheSeconds === undefined ? CACHE_MS : promptCacheSeconds * 1_000;
  const lifeMs = cacheWrite1hTokens > 0 ? LONG_CACHE_MS : usualMs;
  affinity.remember(session, {
    provider: slug,
    modelId: model.id,
    keyLabel: key.label,
    tokens: promptTokens,
    until: clock.now() + lifeMs,
  });
}
