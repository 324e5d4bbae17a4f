import { loadShippedCatalog } from "../../../src/app/catalog/load-catalog.ts";
import { listProviderFormats } from "../../../src/core/catalog/profile/list-formats.ts";
import { actionOf } from "../../../src/core/catalog/records/action-of.ts";
import type {
  CatalogWithFamilies,
  ModelEndpoint,
  ModelRecord,
  ProviderRecord,
} from "../../../src/core/catalog/records/records.ts";
import { ServedDeployment } from "../../../src/core/deployments/served-deployment.ts";
import type { Deployment } from "../../../src/core/deployments/served-models.ts";
import type { ProviderTarget } from "../../../src/wire/client-apis/request/inference-request.ts";

/** What one or more endpoints of a host take, and one of the models behind them. */
export interface DistinctProfile {
  readonly host: string;
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
  /** How many endpoints have this profile. */
  endpoints: number;
}

/** Lists the distinct profiles of chat models at some hosts: endpoints whose requests differ only by the model's name and limits. */
export function listDistinctProfiles(
  hosts: ReadonlySet<string>,
  catalog: CatalogWithFamilies = loadShippedCatalog(),
): readonly DistinctProfile[] {
  const providers = new Map(catalog.providers.map((provider) => [provider.slug, provider]));
  const found = new Map<string, DistinctProfile>();
  for (const model of catalog.models.filter((one) => actionOf(one) === "chat"))
    for (const endpoint of model.endpoints) {
      const record = providers.get(endpoint.provider);
      if (record === undefined || !hosts.has(record.slug)) continue;
      const targets = listTargets({ model, endpoint }, record, catalog);
      // An endpoint for text completions only.
      if (targets.length === 0) continue;
      const key = describeTargets(record.slug, targets);
      const known = found.get(key);
      if (known === undefined) found.set(key, { host: record.slug, model, endpoint, endpoints: 1 });
      else known.endpoints += 1;
    }
  return [...found.values()];
}

/** Returns the profile of a host that is tried through the front door: of a model with a price and tools, since others are not served or routed to. */
export function pickServed(profiles: readonly DistinctProfile[]): readonly DistinctProfile[] {
  const isUsual = ({ model }: DistinctProfile) =>
    ["tools", "response_format"].every((name) => model.supportedParameters.includes(name));
  const priced = profiles.filter(({ endpoint }) => endpoint.prices !== null);
  return [...priced.filter(isUsual), ...priced].slice(0, 1);
}

/** Returns a text that is the same for endpoints of a host with the same profile. */
export function profileKey(
  { host, model, endpoint }: Omit<DistinctProfile, "endpoints">,
  catalog: CatalogWithFamilies,
): string {
  const record = catalog.providers.find(({ slug }) => slug === host) as ProviderRecord;
  return describeTargets(host, listTargets({ model, endpoint }, record, catalog));
}

/** Returns the targets of an endpoint with a key that may send everything, one for each of its formats. */
export function listTargets(
  { model, endpoint }: Pick<DistinctProfile, "model" | "endpoint">,
  record: ProviderRecord,
  { families }: Pick<CatalogWithFamilies, "families">,
): readonly ProviderTarget[] {
  const provider = {
    record,
    families,
    formats: listProviderFormats(record),
  } as unknown as Deployment["provider"];
  return new ServedDeployment(model, endpoint, provider).targets("chat", true);
}

function describeTargets(host: string, targets: readonly ProviderTarget[]): string {
  const comparable = targets.map((one) => ({
    ...one,
    model: { ...one.model, name: "", maxOutputTokens: null },
  }));
  return `${host} ${JSON.stringify(comparable, (_, value) =>
    value instanceof Set || value instanceof Map ? [...value] : value,
  )}`;
}
