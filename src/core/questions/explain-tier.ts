import type { Serving } from "../generation/call/call.ts";
import { describeFacts, type TierCall } from "../generation/prepare/find-tier-deployments.ts";
import type { Ledger } from "../ledger/credits/ledger.ts";
import { nameCase, resolveTier } from "../routing/plan/resolve-tier.ts";

/** How a tier chooses for a request. */
interface TierExplanation {
  readonly id: string;
  /** The case that applies, as `resolves_to` of the tier names it. */
  readonly when: string;
  /** In order of preference, whether or not they are served. */
  readonly models: readonly string[];
}

/** Explains how a tier chooses for a request; null if `id` is a model. Call it when the balance is cached (`nameDeployments`). */
export function explainTier(
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
