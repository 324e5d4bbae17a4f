import { dateOf } from "../../base/time.ts";
import type { InferenceAction, ParameterOverrides } from "../../wire/client-apis/inference-request.ts";
import type { FormatName } from "../../wire/conversation/format-name.ts";
import { actionOf } from "../catalog/action-of.ts";
import { isExpired } from "../catalog/expiry.ts";
import { listEndpointFormats } from "../catalog/list-formats.ts";
import { findPriceRow, type PriceRow } from "../catalog/price-row.ts";
import type { ModelEndpoint, ModelRecord, ProviderRecord } from "../catalog/records.ts";
import type { Transport } from "./transport.ts";
import type { UpstreamAddress } from "./upstream-address.ts";

/** A credential for a provider, ready for use. The secret goes into requests to it and nowhere else. */
export interface ProviderKey {
  /** Tells keys apart in memory: `openai#0`. */
  readonly label: string;
  /** Null: a host that wants none. */
  readonly secret: string | null;
  /** The id of the account's own key that it is; null: the gateway's. */
  readonly byokId: string | null;
  /** Where requests with it go, and how they prove who sends them. */
  readonly address: UpstreamAddress;
  /** Headers of every request with it, besides what proves who sends it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A key that an account brings, ready for use, or why its provider cannot be called with it. No secret is in the reason. */
export type ByokKeyReading =
  | { readonly kind: "key"; readonly key: ProviderKey }
  | { readonly kind: "refused"; readonly reason: string };

/** A provider that can be called: its facts, and with what. */
export interface ServedProvider {
  readonly record: ProviderRecord;
  /** The formats that it is spoken to in: all of its row, or those that the operator names. */
  readonly formats: readonly FormatName[];
  /** The gateway's own; none where only accounts' own keys reach it. */
  readonly keys: readonly ProviderKey[];
  readonly transport: Transport;
  /** Makes an account's own key ready; null where it takes none. */
  readonly readByokKey: ((own: ByokSecret) => ByokKeyReading) | null;
}

/** An account's own key, opened. */
export interface ByokSecret {
  readonly id: string;
  readonly label: string;
  readonly secret: string;
}

/** A provider that could answer for a model. */
export interface Deployment {
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
  readonly provider: ServedProvider;
  /** To take it up with, in the order they are tried: all the gateway's, or all the account's own. */
  readonly keys: readonly ProviderKey[];
  /**
   * Why none of the account's own keys for this provider can be used: they cannot be opened (`sealed`), or the provider cannot
   * be called with them (`unfit`). `keys` is empty then, and the deployment is left out before candidates are chosen.
   */
  readonly unusableKey?: "sealed" | "unfit";
  /** What a tier that led here says of reasoning and length in place of the client; absent: nothing. */
  readonly overrides?: ParameterOverrides;
}

/** What this gateway can serve: the catalog's models, as far as there are keys for them. */
export interface ServedModels {
  /** Offers for a model with the gateway's own keys, cheapest first; empty when nobody here serves it. */
  deploymentsOf(modelId: string): readonly Deployment[];
  /** The same, and deployments without keys of providers that take accounts' own. */
  allDeploymentsOf(modelId: string): readonly Deployment[];
  /** The day (UTC), `YYYY-MM-DD`, that its order and its ends are of. */
  readonly day: string;
  /** Models that someone here serves, in the catalog's order. */
  readonly models: readonly ModelRecord[];
  /** Those that the gateway has keys for. */
  readonly providers: readonly ServedProvider[];
  /** Also one that only accounts' own keys reach. */
  provider(slug: string): ServedProvider | undefined;
}

/**
 * Joins models with the providers that can be called. Left out are deployments without a price (docs/api/models.md), those for
 * which the provider has no URL, and those that have expired at `at`, milliseconds since the epoch.
 */
export function createServedModels(
  models: readonly ModelRecord[],
  providers: readonly ServedProvider[],
  at: number,
): ServedModels {
  const day = dateOf(at);
  const bySlug = new Map(providers.map((provider) => [provider.record.slug, provider]));
  const findKeys = createKeyFinder();
  const all = new Map<string, readonly Deployment[]>();
  const deployments = new Map<string, readonly Deployment[]>();
  for (const model of models) {
    if (isExpired(model, day)) continue;
    const action = actionOf(model);
    const found = model.endpoints.flatMap((endpoint): Deployment[] => {
      const provider = bySlug.get(endpoint.provider);
      if (provider === undefined || endpoint.prices === null || isExpired(endpoint, day)) return [];
      const keys = findKeys(provider, endpoint, action);
      return keys.length > 0 || provider.readByokKey !== null ? [{ model, endpoint, provider, keys }] : [];
    });
    const sorted = sortByPrice(found, at);
    const served = sorted.filter(({ keys }) => keys.length > 0);
    if (sorted.length > 0) all.set(model.id, sorted);
    if (served.length > 0) deployments.set(model.id, served);
  }
  return {
    deploymentsOf: (modelId) => deployments.get(modelId) ?? [],
    allDeploymentsOf: (modelId) => all.get(modelId) ?? [],
    day,
    models: models.filter((model) => deployments.has(model.id)),
    providers: providers.filter(({ keys }) => keys.length > 0),
    provider: (slug) => bySlug.get(slug),
  };
}

/** Finds the keys that reach an endpoint; once for all of a provider's in one format, since there are thousands. */
function createKeyFinder() {
  const known = new Map<ServedProvider, Map<string, readonly ProviderKey[]>>();
  return (provider: ServedProvider, endpoint: ModelEndpoint, action: InferenceAction) => {
    const byCall = known.get(provider) ?? new Map<string, readonly ProviderKey[]>();
    known.set(provider, byCall);
    const call = `${formatsOf(provider, endpoint).join()} ${action}`;
    const keys =
      byCall.get(call) ?? provider.keys.filter((key) => isReachable(key, provider, endpoint, action));
    byCall.set(call, keys);
    return keys;
  };
}

/** The formats that an deployment can be taken up in, the preferred one first. */
export function formatsOf({ formats }: ServedProvider, endpoint: ModelEndpoint): readonly FormatName[] {
  return listEndpointFormats(endpoint, formats);
}

/** Whether a key's address has the endpoint that an deployment needs, in one of its formats. */
export function isReachable(
  key: ProviderKey,
  provider: ServedProvider,
  endpoint: ModelEndpoint,
  action: InferenceAction,
): boolean {
  const call = { action, model: endpoint.name, stream: false };
  return formatsOf(provider, endpoint).some((format) => key.address.urlFor({ ...call, format }) !== null);
}

function sortByPrice(deployments: readonly Deployment[], at: number): readonly Deployment[] {
  if (deployments.length < 2) return deployments;
  return deployments
    .map((deployment) => ({
      deployment: deployment,
      price: sumPrices(findPriceRow(deployment.endpoint, at)),
    }))
    .sort((a, b) => a.price - b.price || compareSlugs(a.deployment, b.deployment))
    .map(({ deployment }) => deployment);
}

/** The cheapest first. Order only, so floats will do. */
export function byPrice(a: Deployment, b: Deployment): number {
  return listPrice(a) - listPrice(b) || compareSlugs(a, b);
}

function compareSlugs(a: Deployment, b: Deployment): number {
  return a.provider.record.slug.localeCompare(b.provider.record.slug);
}

function listPrice({ endpoint }: Deployment): number {
  return sumPrices(endpoint);
}

function sumPrices({ prices }: PriceRow): number {
  return Number(prices?.prompt ?? 0) + Number(prices?.completion ?? 0);
}
