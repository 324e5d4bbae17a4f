import type { GenerationDeps } from "../generation/call/call.ts";
import { describeFacts, type TierCall } from "../generation/prepare/find-tier-deployments.ts";
import { nameCase, resolveTier } from "../routing/plan/resolve-tier.ts";

/** How a tier chooses for a request. */
interface TierExplanation {
  readonly id: string;
  /** The case that applies, as `resolves_to` of the tier names it. */
  readonly when: string;
  /** In order of preference, including models that are not served. */
  readonly models: readonly string[];
}

/** Explains how a tier chooses for a request; null if `id` is a model. Call it when the balance is cached (`cacheBalance`). */
export function explainTier(deps: GenerationDeps, call: TierCall, id: string): TierExplanation | null {
  const { tiers } = deps.serving();
  const tier = tiers.find(id);
  if (tier === undefined) return null;
  const facts = describeFacts(deps, call);
  const { models } = resolveTier(tier.rule, facts, tiers);
  return { id: tier.id, when: nameCase(tier.rule, facts), models };
}
