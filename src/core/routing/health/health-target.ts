import type { Deployment } from "../../deployments/served-models.ts";
import type { ProviderKey, ServedProvider } from "../../deployments/served-provider.ts";
import type { HealthTarget } from "./health.ts";

/**
 * Returns the name under which the health of a provider is recorded for a key: usually the provider's slug. A BYOK key with an address of
 * its own (an Azure resource) has its own health, because its outcomes are independent of those of other addresses.
 */
export function healthScopeOf({ record }: ServedProvider, { byokId, label }: ProviderKey): string {
  return byokId === null || record.baseUrl !== null ? record.slug : `${record.slug} ${label}`;
}

/** Returns the health target of attempts at a deployment with a key. */
export function healthTargetOf({
  provider,
  model,
  key,
}: Pick<Deployment, "provider" | "model"> & { readonly key: ProviderKey }): HealthTarget {
  return { provider: healthScopeOf(provider, key), model: model.id, keyLabel: key.label };
}
