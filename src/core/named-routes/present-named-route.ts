import { GatewayError } from "../../base/errors.ts";
import { type PublicModel, presentModel } from "../catalog/present-model.ts";
import { presentTier, type TierView } from "../catalog/present-tier.ts";
import type { Tiers } from "../catalog/tiers.ts";
import type { NamedRoutes } from "./named-routes.ts";
import { isPlainName, type NameSources, type ResolvedName, resolveName } from "./resolve-names.ts";
import type { ListedRoute } from "./route-manager.ts";
import type { NamedRoute } from "./route-records.ts";

/** A named route in the response of `GET /models`. */
export interface PublicNamedRoute extends PublicModel {
  /** The id of the model or tier that the route leads to. */
  readonly alias_of: string;
}

/** What named routes are presented with. */
export interface RouteView {
  readonly sources: Omit<NameSources, "tiers"> & { readonly tiers: Pick<Tiers, "find"> };
  /** The named routes of the caller's account; null if it has none. */
  readonly own: NamedRoutes | null;
  /** The models that are available. */
  readonly models: TierView;
  /** For prices, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Presents a named route to clients with the prices and capabilities of the first model or tier that it leads to. Returns null if
 * none is available, or if a model is used in place of the route.
 */
export function presentNamedRoute(route: NamedRoute, view: RouteView): PublicNamedRoute | null {
  for (const { id } of resolveOrNone(route.name, view)) {
    if (isPlainName(route.name, view.sources)) return null;
    const found = presentTarget(id, view);
    if (found === null) continue;
    const { description = found.description } = route.definition;
    return { ...found, id: route.name, description, alias_of: found.id };
  }
  return null;
}

function presentTarget(id: string, { sources, models, at }: RouteView): PublicModel | null {
  const tier = sources.tiers.find(id);
  if (tier !== undefined) return presentTier(tier, models, at);
  const viewed = models.find(id) ?? models.find(id.toLowerCase());
  return viewed === null ? null : presentModel(viewed.model, viewed.endpoints, at);
}

function resolveOrNone(
  name: string,
  { sources, own }: Pick<RouteView, "sources" | "own">,
): readonly ResolvedName[] {
  try {
    return resolveName(name, sources, own);
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}

/** Presents a named route, and where it is defined, to those who manage it. */
export function presentListedRoute({ route, source, file, line }: ListedRoute) {
  const { name, accountId, definition, version, updatedAt } = route;
  const updated_at = updatedAt === null ? null : new Date(updatedAt).toISOString();
  return { name, account_id: accountId, definition, source, file, line, version, updated_at };
}

/** Presents where a named route leads. */
export function presentTargets({ name }: NamedRoute, { sources, own }: Pick<RouteView, "sources" | "own">) {
  const ids = [...new Set(resolveOrNone(name, { sources, own }).map(({ id }) => id))];
  const isKnown = (id: string) =>
    sources.tiers.find(id) !== undefined || sources.catalog.find(id) !== undefined;
  return {
    is_used: !isPlainName(name, sources),
    resolves_to: ids.filter(isKnown),
    unknown_models: ids.filter((id) => !isKnown(id)),
  };
}
