import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import type { PricingRules, Tariffs } from "../../catalog/prices/pricing-rules.ts";
import type { Deployment } from "../../deployments/served-models.ts";

/** The operator's pricing rules, and the time at which they are applied, milliseconds since the epoch. */
export interface Pricing {
  readonly pricing: PricingRules;
  readonly now: number;
}

/** Returns what a caller's account pays; null for list prices. Anonymous callers can use free models only. */
export function tariffsOf(principal: InferencePrincipal, { pricing, now }: Pricing): Tariffs | null {
  if (principal.kind === "anonymous") return null;
  const { id: accountId, plan } = principal.account;
  return pricing.tariffsFor({ accountId, plan }, now);
}

/**
 * Returns the deployments of a request with what its account pays for them: the list price, unless a pricing rule of the operator
 * sets another (docs/pricing.md). `tariffs` are null for list prices.
 */
export function applyTariffs(
  deployments: readonly (readonly Deployment[])[],
  tariffs: Tariffs | null,
): readonly (readonly Deployment[])[] {
  if (tariffs === null) return deployments;
  return deployments.map((group) => group.map((deployment) => applyTariff(deployment, tariffs)));
}

function applyTariff(deployment: Deployment, tariffs: Tariffs): Deployment {
  const { endpoint, model, keys } = deployment;
  const isByok = keys.some(({ byokId }) => byokId !== null);
  const tariff = tariffs.find({ endpoint, modelId: model.id, isByok });
  if (tariff === null) return deployment;
  return { ...deployment, endpoint: isByok ? endpoint : tariff.charged, tariff };
}
