import type { ProviderRecord } from "../records/records.ts";

/** A provider in the response of `GET /providers` (docs/api/models.md). Unknown facts are null. */
interface PublicProvider {
  readonly slug: string;
  readonly name: string;
  readonly displayName: string;
  readonly privacy_policy_url: string | null;
  readonly terms_of_service_url: string | null;
  readonly status_page_url: string | null;
  readonly headquarters: string | null;
  readonly datacenters: readonly string[] | null;
  readonly byokEnabled: boolean;
  readonly models: number;
}

/** Presents a provider to clients. `modelCount` is the number of models it serves here, `byokEnabled` whether accounts can add BYOK keys for it. */
export function presentProvider(
  provider: ProviderRecord,
  modelCount: number,
  byokEnabled: boolean,
): PublicProvider {
  return {
    slug: provider.slug,
    name: provider.name,
    displayName: provider.name,
    privacy_policy_url: provider.privacyPolicyUrl,
    terms_of_service_url: provider.termsOfServiceUrl,
    status_page_url: provider.statusPageUrl,
    headquarters: provider.headquarters,
    datacenters: provider.datacenters,
    byokEnabled,
    models: modelCount,
  };
}
