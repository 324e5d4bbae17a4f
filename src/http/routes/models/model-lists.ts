import { nextTurn } from "../../../base/time/next-turn.ts";
import { type EffectivePolicy, policyWithin } from "../../../core/accounts/records/merge-policies.ts";
import { presentModel } from "../../../core/catalog/present/present-model.ts";
import type { Tariffs } from "../../../core/catalog/prices/pricing-rules.ts";
import type { ModelEndpoint, ModelRecord } from "../../../core/catalog/records/records.ts";
import { presentTier, type TierView } from "../../../core/catalog/tiers/present-tier.ts";
import type { TierRecord } from "../../../core/catalog/tiers/tier-records.ts";
import type { Deployment } from "../../../core/deployments/served-models.ts";
import type { Serving } from "../../../core/generation/call/call.ts";
import { findForbidding } from "../../../core/generation/prepare/find-tier-deployments.ts";
import type { NamedRoutes } from "../../../core/named-routes/named-routes.ts";
import { presentNamedRoute, type RouteView } from "../../../core/named-routes/present-named-route.ts";
import { createPolicyFilter } from "../../../core/routing/plan/select-deployments.ts";
import { type PreparedList, prepareTexts } from "../../context/prepared-response.ts";
import { viewCatalog, viewServed } from "../routing/tier-views.ts";

/** The facts about an account on which a list depends. */
interface AccountView {
  /** The prices that it pays; null for list prices. */
  readonly tariffs: Tariffs | null;
  /** The named routes of the account; null if it has none. */
  readonly own: NamedRoutes | null;
}

const ANY_ACCOUNT: AccountView = { tariffs: null, own: null };

/** The responses of `GET models`. Each is rendered once per day for the served models, because prices may change with the day. */
interface ModelLists {
  /** The whole catalog. */
  all(): Promise<PreparedList>;
  /** The served models that a policy allows, with an account's prices. */
  allowed(policy: EffectivePolicy, account: AccountView): Promise<PreparedList>;
  /** Renders the whole catalog and the list for a policy before the first request. */
  prepare(policy: EffectivePolicy): Promise<void>;
}

/** The total size of cached lists by policy. The least recently used are evicted. */
const MAX_CACHE_BYTES = 64 * 1024 * 1024;
/** The number of models that are rendered in one turn of the event loop: about a millisecond. */
const SLICE = 100;

/** Returns the lists for the served models at a time in milliseconds since the epoch. */
export function createModelLists(serving: Serving, now: number): ModelLists {
  const { catalog, servedModels, tiers } = serving;
  const servedTexts = new Map<ModelRecord, string | null>();
  const policies = createListCache();
  let whole: Promise<PreparedList> | null = null;
  let prepared: Promise<void> | null = null;

  const textFor =
    (isAllowed: (deployment: Deployment) => boolean, tariffs: Tariffs | null) => (model: ModelRecord) => {
      const deployments = servedModels.deploymentsOf(model.id);
      const allowed = deployments.filter(isAllowed);
      const make = () => renderModel(model, priceEndpoints(allowed, tariffs), now);
      const isCommon = tariffs === null && allowed.length === deployments.length;
      return isCommon ? memoize(servedTexts, model, make) : make();
    };
  // A route that replaces a model is listed in its place.
  const isListed = ({ id }: ModelRecord) => serving.namedRoutes.matchReplacing(id)?.rest !== null;
  const inAll = { sources: serving, at: now };
  const self: ModelLists = {
    all() {
      const models = viewCatalog(serving);
      whole ??= makeList(
        [
          ...renderTiers(tiers.list, () => models, now),
          ...renderRoutes({ ...inAll, own: null }, () => ({ ...inAll, own: null, models })),
        ],
        catalog.models.filter(isListed),
        (model) => renderModel(model, model.endpoints, now),
      );
      return whole;
    },
    allowed: (policy, { tariffs, own }) =>
      policies.find(`${tariffs?.id ?? ""} ${JSON.stringify(policy)} ${describeVersions(own)}`, () => {
        const isAllowed = createPolicyFilter(policy);
        const isNamed = (name: string) => findForbidding(policy, name) === undefined;
        const allowed = tiers.list.filter(({ id }) => isNamed(id));
        const filterFor = createFilterFor(policy, isAllowed);
        const routeView = (name: string | null): RouteView => {
          const within = filterFor(name);
          const find = priceViewed(serving, { isAllowed: within, tariffs });
          return { ...inAll, own, models: { ...viewServed(serving, within), find } };
        };
        const first = [
          ...renderTiers(allowed, (id) => viewServed(serving, filterFor(id)), now),
          ...renderRoutes({ ...inAll, own }, routeView, isNamed),
        ];
        return makeList(first, servedModels.models.filter(isListed), textFor(isAllowed, tariffs));
      }),
    prepare(policy) {
      prepared ??= Promise.all([self.allowed(policy, ANY_ACCOUNT), self.all()]).then(() => {});
      return prepared;
    },
  };
  return self;
}

interface ListCache {
  find(key: string, make: () => Promise<PreparedList>): Promise<PreparedList>;
}

function createListCache(): ListCache {
  const lists = new Map<string, { readonly list: Promise<PreparedList>; bytes: number }>();
  let total = 0;
  const dropOldest = (): void => {
    for (const [key, { bytes }] of lists) {
      if (total <= MAX_CACHE_BYTES || lists.size === 1) return;
      lists.delete(key);
      total -= bytes;
    }
  };
  return {
    find(key, make) {
      const known = lists.get(key);
      lists.delete(key);
      const entry = known ?? { list: make(), bytes: 0 };
      lists.set(key, entry);
      if (known === undefined)
        void entry.list.then(({ bytes }) => {
          if (lists.get(key) !== entry) return;
          entry.bytes = bytes;
          total += bytes;
          dropOldest();
        });
      return entry.list;
    },
  };
}

type PolicyFilter = (deployment: Deployment) => boolean;

/**
 * Returns a function that finds the deployments allowed within a tier or a named route of the operator: those that `isAllowed` accepts,
 * unless a list of allowed models has its name. Null means another name.
 */
function createFilterFor(
  policy: EffectivePolicy,
  isAllowed: PolicyFilter,
): (name: string | null) => PolicyFilter {
  return (name) => {
    const within = name === null ? policy : policyWithin(policy, name);
    return within === policy ? isAllowed : createPolicyFilter(within);
  };
}

/** Returns the tiers that have at least one model, as JSON texts. */
function renderTiers(tiers: readonly TierRecord[], viewOf: (id: string) => TierView, now: number): string[] {
  return tiers.flatMap((tier) => {
    const record = presentTier(tier, viewOf(tier.id), now);
    return record === null ? [] : JSON.stringify(record);
  });
}

/** Returns the named routes that lead to a model of the list, as JSON texts. Those of an account take precedence over the operator's. */
function renderRoutes(
  { sources, own }: Pick<RouteView, "sources" | "own">,
  viewOf: (name: string | null) => RouteView,
  isAllowed: (name: string) => boolean = () => true,
): string[] {
  const routes = new Map(
    [...sources.namedRoutes.list, ...(own?.list ?? [])].map((route) => [route.name, route]),
  );
  return [...routes.values()].flatMap((route) => {
    const view = viewOf(route.accountId === null ? route.name : null);
    const record = isAllowed(route.name) ? presentNamedRoute(route, view) : null;
    return record === null ? [] : JSON.stringify(record);
  });
}

/** Returns a function that finds an allowed model with the prices of an account, or returns null. */
function priceViewed(
  { servedModels }: Serving,
  {
    isAllowed,
    tariffs,
  }: { readonly isAllowed: (deployment: Deployment) => boolean; readonly tariffs: Tariffs | null },
): TierView["find"] {
  return (id) => {
    const deployments = servedModels.deploymentsOf(id).filter(isAllowed);
    const model = deployments[0]?.model;
    return model === undefined ? null : { model, endpoints: priceEndpoints(deployments, tariffs) };
  };
}

/** Returns a text that differs for different routes of an account. */
function describeVersions(own: NamedRoutes | null): string {
  return (own?.list ?? [])
    .map(({ name, accountId, version, updatedAt }) => `${accountId} ${name} ${version} ${updatedAt}`)
    .join();
}

/** Renders a list in slices, so that requests run in between. `first` is put before the models. */
async function makeList(
  first: readonly string[],
  models: readonly ModelRecord[],
  textOf: (model: ModelRecord) => string | null,
): Promise<PreparedList> {
  const texts = [...first];
  for (let at = 0; at < models.length; at += SLICE) {
    if (at > 0) await nextTurn();
    for (const model of models.slice(at, at + SLICE)) {
      const text = textOf(model);
      if (text !== null) texts.push(text);
    }
  }
  return prepareTexts(texts);
}

function memoize(
  texts: Map<ModelRecord, string | null>,
  model: ModelRecord,
  make: () => string | null,
): string | null {
  const known = texts.get(model);
  if (known !== undefined) return known;
  const text = make();
  texts.set(model, text);
  return text;
}

function renderModel(model: ModelRecord, endpoints: readonly ModelEndpoint[], now: number): string | null {
  const record = presentModel(model, endpoints, now);
  return record === null ? null : JSON.stringify(record);
}

/** Returns the endpoints of deployments with what an account pays with platform keys. */
function priceEndpoints(deployments: readonly Deployment[], tariffs: Tariffs | null): ModelEndpoint[] {
  return deployments.map(
    ({ endpoint, model }) =>
      tariffs?.find({ endpoint, modelId: model.id, isByok: false })?.charged ?? endpoint,
  );
}
