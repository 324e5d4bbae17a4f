import type { FormatName } from "../../wire/canonical/parts.ts";
import type { InferenceAction } from "../../wire/dialects/inference-request.ts";
import { actionOf } from "../catalog/action-of.ts";
import type { ModelEndpoint, ModelRecord, ProviderRecord } from "../catalog/records.ts";
import type { Transport } from "../ports/transport.ts";
import type { UpstreamAddress } from "../ports/upstream-address.ts";

/** A credential for a provider. The secret goes into requests to it and nowhere else. */
export interface ProviderKey {
  /** Tells keys apart in memory: `openai#0`. */
  readonly label: string;
  /** Null: a host that wants none. */
  readonly secret: string | null;
}

/** A provider that can be called: its facts, where it is, and with what. */
export interface ServedProvider {
  readonly record: ProviderRecord;
  /** Where requests go, and how they prove who sends them. */
  readonly address: UpstreamAddress;
  /** At least one. */
  readonly keys: readonly ProviderKey[];
  /** Headers it wants on every request, besides what proves who sends it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly transport: Transport;
}

/** A provider that could answer for a model. */
export interface Offer {
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
  readonly provider: ServedProvider;
}

/** What this gateway can serve: the catalog's models, as far as there are keys for them. */
export interface Roster {
  /** Offers for a model, cheapest first; empty when nobody here serves it. */
  offersFor(modelId: string): readonly Offer[];
  /** Models that someone here serves, in the catalog's order. */
  readonly models: readonly ModelRecord[];
  readonly providers: readonly ServedProvider[];
}

/**
 * Joins models with the providers that hold keys for them. Left out are offers without a price (docs/contract.md,
 * "Models, providers") and those for which the provider has no address.
 */
export function createRoster(models: readonly ModelRecord[], providers: readonly ServedProvider[]): Roster {
  const bySlug = new Map(providers.map((provider) => [provider.record.slug, provider]));
  const offers = new Map<string, readonly Offer[]>();
  for (const model of models) {
    const found = model.endpoints.flatMap((endpoint): Offer[] => {
      const provider = bySlug.get(endpoint.provider);
      if (provider === undefined || endpoint.prices === null) return [];
      return isReachable(provider, endpoint, actionOf(model)) ? [{ model, endpoint, provider }] : [];
    });
    if (found.length > 0) offers.set(model.id, found.toSorted(byPrice));
  }
  return {
    offersFor: (modelId) => offers.get(modelId) ?? [],
    models: models.filter((model) => offers.has(model.id)),
    providers,
  };
}

/** The format that an offer is taken up in. */
export function formatOf({ record }: ServedProvider, endpoint: ModelEndpoint): FormatName {
  return endpoint.format ?? record.format;
}

function isReachable(provider: ServedProvider, endpoint: ModelEndpoint, action: InferenceAction): boolean {
  const format = formatOf(provider, endpoint);
  const call = { format, action, model: endpoint.name, stream: false };
  return provider.address.urlFor(call) !== null;
}

/** The cheapest first. Order only, so floats will do. */
export function byPrice(a: Offer, b: Offer): number {
  return listPrice(a) - listPrice(b) || a.provider.record.slug.localeCompare(b.provider.record.slug);
}

function listPrice({ endpoint }: Offer): number {
  return Number(endpoint.prices?.prompt ?? 0) + Number(endpoint.prices?.completion ?? 0);
}
