import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import type { Tariffs } from "../../catalog/prices/pricing-rules.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import type { GenerationDeps } from "../call/call.ts";

/**
 * Returns the tariffs that apply to a caller's account now; null for list prices. Anonymous callers have none, because they can use only
 * free models.
 */
export function tariffsOf(
  principal: InferencePrincipal,
  { settings: { pricing }, clock }: Pick<GenerationDeps, "settings" | "clock">,
): Tariffs | null {
  if (!pricing.areInForce || principal.kind === "anonymous") return null;
  const { id: accountId, plan } = principal.account;
  return pricing.tariffsFor({ accountId, plan }, clock.now());
}

/**
 * Returns the deployments of a request with the prices that its account pays: the list price, unless a pricing rule of the operator sets
 * another one (docs/pricing.md). `tariffs` is null for list prices.
 */
export function applyTariffs(
  deployments: readonly (readonly Deployment[])[],
  tariffs: Tariffs | null,
): readonly (readonly Deployment[])[] {
  if (tariffs === null) return deployments;
  return deployments.map((group) => group.map((deployment) => applyTariff(deployment, tariffs)));
}

function applyTariff(deployment: Deployment, tariffs: Tariffs): Deployment {
  const { endpoint, model, keys, served } = deployment;
  const isByok = keys.some(({ byokId }) => byokId !== null);
  const tariff = tariffs.find({ endpoint, modelId: model.id, isByok });
  if (tariff === null) return deployment;
  const { charged } = tariff;
  return isByok
    ? { ...deployment, tariff }
    : { ...deployment, endpoint: charged, served: served.pricedAs(charged), tariff };
}
