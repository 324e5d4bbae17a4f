import { nameCase, resolveTier } from "../routing/resolve-tier.ts";
import type { GenerationDeps } from "./call.ts";
import type { RoutableCall } from "./find-deployments.ts";
import { describeFacts } from "./find-tier-deployments.ts";
import { resolveRequest } from "./resolve-request.ts";

/** How a tier chooses for a request. */
export interface TierExplanation {
  readonly id: string;
  /** The case that applies, as `resolves_to` of the tier names it. */
  readonly when: string;
  /** In order of preference, whether or not they are served. */
  readonly models: readonly string[];
}

/**
 * Explains how the tier that a request names, or that a named route leads to first, chooses; null if it is a model. Call it after
 * `explainRoute`, which reads the balance.
 */
export async function explainTier(deps: GenerationDeps, call: RoutableCall): Promise<TierExplanation | null> {
  const { tiers } = deps.serving();
  const { names } = await resolveRequest(deps, call);
  const tier = tiers.find(names[0]?.id ?? "");
  if (tier === undefined) return null;
  const facts = describeFacts(deps, call);
  const { models } = resolveTier(tier.rule, facts, tiers);
  return { id: tier.id, when: nameCase(tier.rule, facts), models };
}
