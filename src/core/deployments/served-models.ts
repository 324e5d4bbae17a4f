import { dateOf } from "../../base/time/time.ts";
import type {
  InferenceAction,
  ParameterOverrides,
} from "../../wire/client-apis/request/inference-request.ts";
import type { ProviderSort } from "../../wire/conversation/preferences.ts";
import { isConversationFormat } from "../../wire/conversation/traits/format-name.ts";
import { findPriceRow, type PriceRow } from "../catalog/prices/price-row.ts";
import type { Tariff } from "../catalog/prices/pricing-rules.ts";
import { actionOf } from "../catalog/records/action-of.ts";
import { isExpired } from "../catalog/records/expiry.ts";
import type { ModelEndpoint, ModelRecord } from "../catalog/records/records.ts";
import { ServedDeployment } from "./served-deployment.ts";
import { formatsOf, type ProviderKey, type ServedProvider } from "./served-provider.ts";
import { upstreamActionOf } from "./upstream-address.ts";

/** A model endpoint that this gateway can call. */
export interface Deployment {
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
  readonly provider: ServedProvider;
  /** The values that depend on model, endpoint and provider. */
  readonly served: ServedDeployment;
  /** The keys to call it with, in the order in which they are tried: either platform keys or BYOK keys. */
  readonly keys: readonly ProviderKey[];
  /**
   * Why none of the account's BYOK keys for this provider can be used: they cannot be decrypted (`sealed`), or the provider
   * cannot be called with them (`unfit`). `keys` is then empty, and the deployment is filtered out.
   */
  readonly unusableKey?: "sealed" | "unfit";
  /** True if the endpoint has no format for conversations, so that it serves only text completions. */
  readonly onlyCompletes?: true;
  /** The parameter overrides of the requested tier; absent if there are none. */
  readonly overrides?: ParameterOverrides;
  /** The tier and the named routes of the operator that led to it, if lists of allowed models apply. */
  readonly choices?: readonly string[];
  /** True if it answers only if the account's balance does not cover the others. */
  readonly isReserve?: true;
  /**
   * The account's tariff, if a pricing rule of the operator applies. With platform keys, `endpoint` then has the account's prices, and
   * requests are routed by them. With BYOK keys, it has the prices that the provider bills.
   */
  readonly tariff?: Tariff;
  /** How the providers of the model are sorted, if the suffix of the requested name says so and no field of the request does. */
  readonly sort?: ProviderSort;
}

/** The deployments of this gateway by model, for one state of catalog and configuration. */
export interface ServedModels {
  /** Returns a model's deployments with platform keys, the cheapest first; none if the model is not served. */
  deploymentsOf(modelId: string): readonly Deployment[];
  /** Also returns deployments without platform keys at providers that accept BYOK keys. */
  allDeploymentsOf(modelId: string): readonly Deployment[];
  /** The day (UTC), `YYYY-MM-DD`, at which prices and expiry were evaluated. */
  readonly day: string;
  /** Models with platform keys, in the catalog's order. */
  readonly models: readonly ModelRecord[];
  /** Providers with platform keys. */
  readonly providers: readonly ServedProvider[];
  /** Returns a provider, also one without platform keys. */
  provider(slug: string): ServedProvider | undefined;
}

/**
 * Joins models with the providers that can be called. Omits endpoints without a price (docs/api/models.md), endpoints for which the
 * provider has no URL, and endpoints that have expired at `at` (milliseconds since the epoch).
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
      const onlyCompletes = action === "chat" && !canChat(provider, endpoint);
      const keys = findKeys(provider, endpoint, onlyCompletes ? "completions" : action);
      if (keys.length === 0 && provider.readByokKey === null) return [];
      const served = new ServedDeployment(model, endpoint, provider);
      return [{ model, endpoint, provider, served, keys, ...(onlyCompletes ? { onlyCompletes } : {}) }];
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

/** Returns whether a model endpoint is served in a format for conversations. */
function canChat(provider: ServedProvider, endpoint: ModelEndpoint): boolean {
  return formatsOf(provider, endpoint).some(isConversationFormat);
}

/**
 * Returns a function that finds the keys that reach an endpoint. Endpoints with the same provider and formats share one result, because
 * there are thousands of endpoints.
 */
function createKeyFinder() {
  const known = new Map<ServedProvider, Map<string, readonly ProviderKey[]>>();
  return (provider: ServedProvider, endpoint: ModelEndpoint, action: InferenceAction) => {
    const target = { provider, endpoint };
    const byCall = known.get(provider) ?? new Map<string, readonly ProviderKey[]>();
    known.set(provider, byCall);
    const call = `${formatsOf(provider, endpoint).join()} ${action}`;
    const keys = byCall.get(call) ?? provider.keys.filter((key) => isReachable(key, target, action));
    byCall.set(call, keys);
    return keys;
  };
}

/** Returns whether a key has a URL for an action at a model endpoint, in one of the endpoint's formats. */
export function isReachable(
  key: ProviderKey,
  { provider, endpoint }: Pick<Deployment, "provider" | "endpoint">,
  action: InferenceAction,
): boolean {
  return formatsOf(provider, endpoint).some((format) => {
    const call = { format, action: upstreamActionOf(action, format), model: endpoint.name, stream: false };
    return key.address.urlFor(call) !== null;
  });
}

function sortByPrice(deployments: readonly Deployment[], at: number): readonly Deployment[] {
  if (deployments.length < 2) return deployments;
  return deployments
    .map((deployment) => ({
      deployment,
      price: sumPrices(findPriceRow(deployment.endpoint, at)),
    }))
    .sort((a, b) => a.price - b.price || compareSlugs(a.deployment, b.deployment))
    .map(({ deployment }) => deployment);
}

function compareSlugs(a: Deployment, b: Deployment): number {
  return a.provider.record.slug.localeCompare(b.provider.record.slug);
}

/** Sums prompt and completion price. Floating-point numbers suffice for sorting. */
function sumPrices({ prices }: PriceRow): number {
  return Number(prices?.prompt ?? 0) + Number(prices?.completion ?? 0);
}
