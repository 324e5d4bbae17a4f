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

/** A plan, and what it knew of the conversation. */
export interface Route extends Plan {
  /** The conversation's; null where there was nothing to choose between. */
  readonly session: string | null;
  /** Where the conversation's prompt cache was warm. */
  readonly warm: CacheAffinity | null;
  /** The account's limit on free models, where it left something out. */
  readonly freeLimit: LimitVerdict | null;
}

/** Plans who answers a request that was let in: health, prices and prompt caches as they are now. Nobody is called. */
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
  const {
    deployments,
    skipped: setAside,
    freeLimit,
  } = leaveOutFree(admitted.deployments, admitted.freeLimit);
  const isOpen = hasChoice(deployments);
  const session = isOpen ? sessionKeyOf(request, principal) : null;
  const warm = session === null ? null : affinity.recall(session, now);
  const plan = planRoute({
    deployments,
    preferences: request.preferences,
    promptTokens: estimateTokens(request.promptTextBytes),
    isFim: request.action === "fim",
    formatOfTools: isOpen ? request.formatOfTools() : null,
    health,
    warm,
    session,
    now,
  });
  const left = setAside.length === 0 ? plan.skipped : [...setAside, ...plan.skipped];
  return { candidates: plan.candidates, skipped: left, session, warm, freeLimit };
}

/** Telling conversations apart costs something, and most requests have one way to go. */
function hasChoice([first, second]: readonly (readonly Deployment[])[]): boolean {
  return second !== undefined || (first?.length ?? 0) > 1 || (first?.[0]?.keys.length ?? 0) > 1;
}

/** How long a prompt stays in a vendor's cache where its row does not say. Milliseconds. */
const CACHE_MS = 300_000;

/** What a prompt stays for whose client asked for an hour. */
const LONG_CACHE_MS = 3_600_000;

/** Remembers that a conversation was answered here, with a prompt as large as its usage says. */
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
