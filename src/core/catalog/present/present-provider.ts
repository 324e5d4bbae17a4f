import { z } from "zod";
import type { ProviderRecord, Stored } from "../records/records.ts";

/** A provider in the response of `GET /providers` (docs/api/models.md). Unknown facts are null. */
export const Provider = z
  .object({
    slug: z.string(),
    name: z.string(),
    displayName: z.string(),
    privacy_policy_url: z.string().nullable(),
    terms_of_service_url: z.string().nullable(),
    status_page_url: z.string().nullable(),
    headquarters: z.string().nullable(),
    datacenters: z.array(z.string()).nullable(),
    byokEnabled: z.boolean().describe("Whether the provider accepts BYOK keys."),
    models: z.int().describe("Number of models that the provider serves."),
  })
  .meta({ id: "Provider" });

/** Presents a provider to clients. `modelCount` is the number of models it serves here, `byokEnabled` whether accounts can add BYOK keys for it. */
export function presentProvider(
  provider: ProviderRecord,
  modelCount: number,
  byokEnabled: boolean,
): Stored<z.infer<typeof Provider>> {
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
