import type { ProviderRecord } from "./records.ts";

/** A provider in the answer to `GET /providers` (docs/api/models.md). Unknown is null. */
export interface PublicProvider {
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

/** A provider as clients see it; `modelCount` is how many models it serves here, `byokEnabled` whether it takes accounts' own keys. */
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
