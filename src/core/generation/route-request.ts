import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { InferenceRequest } from "../../wire/dialects/inference-request.ts";
import type { Caller } from "../accounts/records.ts";
import type { WarmPlace } from "../routing/affinity.ts";
import { type Candidate, type Plan, planRoute } from "../routing/plan.ts";
import type { Offer } from "../routing/roster.ts";
import { sessionKeyOf } from "../routing/session-key.ts";
import type { GenerationDeps } from "./call.ts";

/** A plan, and what it knew of the conversation. */
export interface Route extends Plan {
  /** The conversation's; null where there was nothing to choose between. */
  readonly session: string | null;
  /** Where the conversation's prompt cache was warm. */
  readonly warm: WarmPlace | null;
}

/** Plans who answers a request that was let in: health, prices and prompt caches as they are now. Nobody is called. */
export function routeRequest(
  { health, affinity, clock }: Pick<GenerationDeps, "health" | "affinity" | "clock">,
  caller: Caller,
  request: InferenceRequest,
  offers: readonly (readonly Offer[])[],
): Route {
  const now = clock.now();
  const session = hasChoice(offers) ? sessionKeyOf(request, caller) : null;
  const warm = session === null ? null : affinity.recall(session, now);
  const plan = planRoute({
    offers,
    preferences: request.preferences,
    promptTokens: estimateTokens(request.promptTextBytes),
    isFim: request.action === "fim",
    health,
    warm,
    session,
    now,
  });
  return { ...plan, session, warm };
}

/** Telling conversations apart costs something, and most requests have one way to go. */
function hasChoice([first, second]: readonly (readonly Offer[])[]): boolean {
  return second !== undefined || (first?.length ?? 0) > 1 || (first?.[0]?.keys.length ?? 0) > 1;
}

/** How long a prompt stays in a vendor's cache where its row does not say. Milliseconds. */
const CACHE_MS = 300_000;

/** Remembers that a conversation was answered here, with a prompt of so many tokens. */
export function rememberPlace(
  { affinity, clock }: Pick<GenerationDeps, "affinity" | "clock">,
  session: string | null,
  { provider, model, key }: Candidate,
  tokens: number,
): void {
  if (session === null) return;
  const { slug, promptCacheSeconds } = provider.record;
  const lifeMs = promptCacheSeconds === undefined ? CACHE_MS : promptCacheSeconds * 1_000;
  affinity.remember(session, {
    provider: slug,
    modelId: model.id,
    keyLabel: key.label,
    tokens,
    until: clock.now() + lifeMs,
  });
}
