import { GatewayError } from "../../base/errors.ts";
import type { ProviderSort } from "../../wire/conversation/preferences.ts";
import type { RouteStep } from "../usage/route-step.ts";
import type { NamedRoutes } from "./named-routes.ts";
import type { NamedRoute } from "./route-records.ts";
import { splitSortSuffix } from "./sort-suffix.ts";

/** The most steps from a name to a model or tier. */
export const MAX_STEPS = 5;

/** A model or tier that a name leads to. */
export interface ResolvedName {
  /** The id of a model or tier, as it is written in the request or route. There may be no such model. */
  readonly id: string;
  /** How the name led there; empty for an id of the catalog. */
  readonly steps: readonly RouteStep[];
  /** How its providers are sorted, if a suffix of the name says so. Null: as the request says. */
  readonly sort: ProviderSort | null;
}

/** What names are resolved with. */
export interface NameSources {
  readonly catalog: { find(id: string): unknown };
  readonly tiers: { find(id: string): unknown };
  /** The named routes of the operator. */
  readonly namedRoutes: NamedRoutes;
}

/** Whether a name is the id of a model or tier, and no named route is used in its place. */
export function isPlainName(name: string, sources: NameSources): boolean {
  return sources.namedRoutes.findReplacing(name) === undefined && isKnownName(name, sources);
}

/** Whether the catalog has a model or tier with this id. */
function isKnownName(name: string, { catalog, tiers }: NameSources): boolean {
  return catalog.find(name) !== undefined || tiers.find(name) !== undefined;
}

/**
 * Resolves a name to models and tiers in order of preference, at least one. `own` are the named routes of the caller's account,
 * which precede those of the operator. Pure.
 * @throws GatewayError `invalid_model` if routes lead in a circle, or over more than `MAX_STEPS` steps.
 */
export function resolveName(
  name: string,
  sources: NameSources,
  own: NamedRoutes | null,
): readonly ResolvedName[] {
  return follow({ name, steps: [], sort: null }, { sources, own });
}

interface Following {
  readonly sources: NameSources;
  readonly own: NamedRoutes | null;
}

/** A name that is to be resolved, and the steps that led to it. */
interface Place {
  readonly name: string;
  readonly steps: readonly RouteStep[];
  /** Of a suffix on the way. */
  readonly sort: ProviderSort | null;
}

function follow(place: Place, following: Following): readonly ResolvedName[] {
  const { name, steps, sort } = place;
  const route = findRoute(place, following);
  if (route === null) {
    const split = isKnownName(name, following.sources) ? null : splitSortSuffix(name);
    if (split === null) return [{ id: name, steps, sort }];
    // What the client wrote precedes what routes say.
    return follow({ name: split.name, steps, sort: sort ?? split.sort }, following);
  }
  if (steps.length === MAX_STEPS) rejectChain(place, `are more than ${MAX_STEPS} steps`);
  const { target } = route.definition;
  return follow({ ...place, name: target, steps: [...steps, stepOf(route, target)] }, following);
}

function stepOf(route: NamedRoute, to: string): RouteStep {
  const { name, definition, version } = route;
  return { name, kind: definition.kind, version, scope: scopeOf(route), to };
}

/**
 * Returns the route that a name stands for here; null if it is the id of a model or tier, or unknown. A route that is used in place
 * of a model may lead to that model, and one of an account to one of the operator with the same name.
 */
function findRoute(place: Place, { sources, own }: Following): NamedRoute | null {
  const { name, steps } = place;
  const { namedRoutes } = sources;
  const isKnown = isKnownName(name, sources);
  const found = isKnown ? [namedRoutes.findReplacing(name)] : [own?.find(name), namedRoutes.find(name)];
  const routes = found.filter((route) => route !== undefined);
  const next = routes.find((route) => !steps.some((step) => isStepOf(step, route)));
  if (next !== undefined) return next;
  return isKnown || routes.length === 0 ? null : rejectChain(place, "lead in a circle");
}

function isStepOf({ name, scope }: RouteStep, route: NamedRoute): boolean {
  return name === route.name && scope === scopeOf(route);
}

function scopeOf({ accountId }: NamedRoute): RouteStep["scope"] {
  return accountId === null ? "gateway" : "account";
}

function rejectChain({ name, steps }: Place, fault: string): never {
  const first = steps[0]?.name ?? name;
  const way = [...steps.map((step) => step.name), name].join(" → ");
  throw new GatewayError({
    code: "invalid_model",
    message: `The named routes of ${JSON.stringify(first.slice(0, 100))} ${fault}: ${way}. Their owner must change one of them.`,
    metadata: { model: first },
  });
}
