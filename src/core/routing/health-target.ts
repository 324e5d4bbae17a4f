import type { Deployment, ProviderKey, ServedProvider } from "../deployments/served-models.ts";
import type { HealthTarget } from "./health.ts";

/**
 * Under what name a provider's health is kept, as one key meets it: its slug. An account's own key at an address of the
 * account's own (a resource at Azure) meets another place than everybody else does, and says nothing of theirs.
 */
export function healthScopeOf({ record }: ServedProvider, { byokId, label }: ProviderKey): string {
  return byokId === null || record.baseUrl !== null ? record.slug : `${record.slug} ${label}`;
}

/** Where an attempt goes that takes an deployment up with a key. */
export function healthTargetOf({
  provider,
  model,
  key,
}: Pick<Deployment, "provider" | "model"> & { readonly key: ProviderKey }): HealthTarget {
  return { provider: healthScopeOf(provider, key), model: model.id, keyLabel: key.label };
}
