import { GatewayError } from "../../base/failures/errors.ts";
import type { PublicModel } from "../catalog/present/model-view.ts";
import { linksOf, presentModel } from "../catalog/present/present-model.ts";
import { presentTier, type TierView } from "../catalog/tiers/present-tier.ts";
import type { Tiers } from "../catalog/tiers/tiers.ts";
import { isPattern, type NamedRoutes } from "./named-routes.ts";
import { isPlainName, type NameSources, type ResolvedName, resolveName } from "./resolve-names.ts";
import type { ListedRoute } from "./route-manager.ts";
import type { NamedRoute, PresetDefinition } from "./route-records.ts";

/** What named routes are presented with. */
export interface RouteView {
  readonly sources: Omit<NameSources, "tiers"> & { readonly tiers: Pick<Tiers, "find"> };
  /** The named routes of the caller's account; null if it has none. */
  readonly own: NamedRoutes | null;
  /** The models that are available. */
  readonly models: TierView;
  /** The time for prices, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Presents a named route to clients with the prices and capabilities of the first model or tier that it leads to, and the smallest context
 * window of all. Returns null if none is available, if a model of the catalog is used instead, and for a pattern, which is not a name.
 */
export function presentNamedRoute(route: NamedRoute, view: RouteView): PublicModel | null {
  const isCallable = !isPlainName(route.name, view.sources) && !isPattern(route.name);
  if (!isCallable || route.definition.kind === "preset") return null;
  const found = resolveOrNone(route.name, view).flatMap((resolved) => {
    const model = presentTarget(resolved, view);
    return model === null ? [] : { model, resolved };
  });
  const [first] = found;
  if (first === undefined) return null;
  const { description = first.model.description } = route.definition;
  const context_length = Math.min(...found.map(({ model }) => model.context_length));
  const shown = { ...first.model, id: route.name, description, context_length, links: linksOf(route.name) };
  if (route.definition.kind === "alias") return { ...shown, alias_of: first.model.id };
  const cases = found.map(({ model, resolved }) => ({ when: describeShare(resolved), models: [model.id] }));
  return { ...shown, owned_by: "gateway", name: route.name, resolves_to: cases };
}

/** Describes the share of requests that a target gets: `weight 90 of 100`. */
function describeShare({ steps }: ResolvedName): string {
  const { to, provider, draw } = steps[0] ?? {};
  const order = draw?.order ?? [];
  const weight = order.find((target) => target.model === to && target.provider === provider)?.weight ?? 0;
  return `weight ${weight} of ${order.reduce((sum, target) => sum + target.weight, 0)}`;
}

function presentTarget(
  { id, provider }: ResolvedName,
  { sources, models, at }: RouteView,
): PublicModel | null {
  const tier = provider === null ? sources.tiers.find(id) : undefined;
  if (tier !== undefined) return presentTier(tier, models, at);
  const viewed = models.find(id) ?? models.find(id.toLowerCase());
  if (viewed === null) return null;
  const endpoints = viewed.endpoints.filter(
    (endpoint) => provider === null || endpoint.provider === provider,
  );
  return endpoints.length === 0 ? null : presentModel(viewed.model, endpoints, at);
}

function resolveOrNone(
  name: string,
  { sources, own }: Pick<RouteView, "sources" | "own">,
): readonly ResolvedName[] {
  try {
    return resolveName(name, { sources, own, draw: null });
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}

/** Presents a named route, and where it is defined, to callers who manage it. */
export function presentListedRoute({ route, source, file, line }: ListedRoute) {
  const { name, accountId, definition, version, updatedAt } = route;
  const updated_at = updatedAt === null ? null : new Date(updatedAt).toISOString();
  return { name, account_id: accountId, definition, source, file, line, version, updated_at };
}

/** Presents where a named route leads. */
export function presentTargets({ name, definition }: NamedRoute, view: Pick<RouteView, "sources" | "own">) {
  const { sources } = view;
  const names = definition.kind === "preset" ? listPresetModels(definition) : [name];
  // Where a pattern leads with the rest of a name is unknown before a request.
  const ids = new Set(
    names.flatMap((one) => resolveOrNone(one, view).map(({ id }) => id)).filter((id) => !isPattern(id)),
  );
  const isKnown = (id: string) =>
    sources.tiers.find(id) !== undefined || sources.catalog.find(id) !== undefined;
  return {
    is_used: !isPlainName(name, sources),
    resolves_to: [...ids].filter(isKnown),
    unknown_models: [...ids].filter((id) => !isKnown(id)),
  };
}

function listPresetModels({ model, models = [] }: PresetDefinition): readonly string[] {
  return model === undefined ? models : [model, ...models];
}
