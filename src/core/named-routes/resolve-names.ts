import { GatewayError } from "../../base/failures/errors.ts";
import type { ProviderSort } from "../../wire/conversation/preferences.ts";
import type { RouteStep } from "../usage/records/route-step.ts";
import { drawTargets, rankTargets } from "./draw-targets.ts";
import type { NamedRoutes, RouteMatch } from "./named-routes.ts";
import type { GroupDefinition, NamedRoute } from "./route-records.ts";
import { splitSortSuffix } from "./sort-suffix.ts";

/** The maximum number of steps from a name to a model or tier. */
const MAX_STEPS = 5;
/** The maximum number of models and tiers that one name leads to. Further ones are left out. */
const MAX_NAMES = 50;

/** A model or tier that a name leads to. */
export interface ResolvedName {
  /** The id of a model or tier, as the request or route spells it. The model may not exist. */
  readonly id: string;
  /** How the name led there; empty for an id of the catalog. */
  readonly steps: readonly RouteStep[];
  /** The slug of the only provider that may answer; null: any. */
  readonly provider: string | null;
  /** How its providers are sorted, if a suffix of the name decides that. Null: the request decides. */
  readonly sort: ProviderSort | null;
  /** Whether it is one of several targets of a group, and may be left out if it cannot be used. */
  readonly isOptional: boolean;
  /** The model that gets copies of the requests; null for none. */
  readonly shadow: ShadowRoute | null;
}

/** A model that gets copies of a share of requests. */
export interface ShadowRoute {
  readonly model: string;
  readonly share: number;
}

/** The sources for resolving names. */
export interface NameSources {
  readonly catalog: {
    find(id: string): unknown;
    /** Returns the model that a provider serves under an id, or under its own name. */
    findAt(provider: string, name: string): { readonly id: string } | undefined;
  };
  readonly tiers: { find(id: string): unknown };
  /** The named routes of the operator. */
  readonly namedRoutes: NamedRoutes;
}

/** The dependencies of resolving a name. */
interface Resolving {
  readonly sources: NameSources;
  /** The named routes of the caller's account, which take precedence over those of the operator; null if there are none. */
  readonly own: NamedRoutes | null;
  /** The request for which groups draw a target; null: their targets by weight. */
  readonly draw: DrawKeys | null;
}

/** The keys by which groups draw their targets for a request. */
export interface DrawKeys {
  /** Returns the session key. */
  readonly session: () => string;
  /** Returns a random key. */
  readonly request: () => string;
}

/** Whether a name is the id of a model or tier, and no named route is used in its place. */
export function isPlainName(name: string, sources: NameSources): boolean {
  return sources.namedRoutes.matchReplacing(name) === undefined && isKnownName(name, sources);
}

/** Whether the catalog has a model or tier with this id. */
function isKnownName(name: string, { catalog, tiers }: NameSources): boolean {
  return catalog.find(name) !== undefined || tiers.find(name) !== undefined;
}

/**
 * Resolves a name to models and tiers in order of preference, at least one.
 * @throws GatewayError `invalid_model` if routes form a circle, or a chain of more than `MAX_STEPS` steps.
 */
export function resolveName(name: string, resolving: Resolving): readonly ResolvedName[] {
  const found: ResolvedName[] = [];
  follow({ name, steps: [], provider: null, sort: null, isOptional: false, shadow: null }, resolving, found);
  return found;
}

/** A name to resolve, and how it was reached. */
interface Place extends Omit<ResolvedName, "id"> {
  readonly name: string;
}

/** Adds what a place leads to, up to the maximum. */
function follow(place: Place, resolving: Resolving, found: ResolvedName[]): void {
  const { name, steps, provider, sort, isOptional, shadow } = place;
  if (found.length === MAX_NAMES) return;
  if (provider !== null) {
    const id = resolving.sources.catalog.findAt(provider, name)?.id ?? name;
    found.push({ id, steps, provider, sort, isOptional, shadow });
    return;
  }
  const match = findRoute(place, resolving);
  if (match === null) {
    const split = isKnownName(name, resolving.sources) ? null : splitSortSuffix(name);
    if (split === null) found.push({ id: name, steps, provider, sort, isOptional, shadow });
    // What the client wrote takes precedence over the routes.
    else follow({ ...place, name: split.name, sort: sort ?? split.sort }, resolving, found);
    return;
  }
  if (steps.length === MAX_STEPS) rejectChain(place, `are more than ${MAX_STEPS} steps`);
  const isGroup = match.route.definition.kind === "group";
  for (const { target, step, shadow: own = shadow } of listTargets(match, resolving)) {
    const next = {
      name: target,
      steps: [...steps, step],
      provider: step.provider ?? null,
      sort,
      isOptional: isOptional || isGroup,
      shadow: own,
    };
    follow(next, resolving, found);
  }
}

/** A target of a route. */
interface Target {
  readonly target: string;
  readonly step: RouteStep;
  readonly shadow?: ShadowRoute | undefined;
}

/** Lists the targets of a route in the order in which they are used. */
function listTargets({ route, rest }: RouteMatch, { draw }: Resolving): readonly Target[] {
  const { definition } = route;
  const fill = (target: string) => (rest === null ? target : target.replace("*", () => rest));
  switch (definition.kind) {
    case "alias": {
      const target = fill(definition.target);
      return [{ target, step: stepOf(route, target, definition.provider) }];
    }
    case "group": {
      const order = drawOrder(route.name, definition, draw).map((one) => ({
        ...one,
        model: fill(one.model),
      }));
      const drawn = {
        by: stickyOf(definition),
        order: order.map(({ model, provider, weight }) => ({ model, weight, ...pinOf(provider) })),
      };
      return order.map(({ model, provider, shadow }) => ({
        target: model,
        step: { ...stepOf(route, model, provider), draw: drawn },
        shadow,
      }));
    }
    case "preset":
      return [];
  }
}

/** The key of a draw differs between groups, so that their draws are independent. */
function drawOrder(name: string, group: GroupDefinition, draw: DrawKeys | null): GroupDefinition["targets"] {
  if (draw === null) return [...rankTargets(group.targets)];
  const key = stickyOf(group) === "session" ? draw.session() : draw.request();
  return [...drawTargets(`${key} ${name}`, group.targets)];
}

function stickyOf({ sticky = "session" }: GroupDefinition): "session" | "request" {
  return sticky;
}

function stepOf(route: NamedRoute, to: string, provider?: string): RouteStep {
  const { name, definition, version } = route;
  return { name, kind: definition.kind, version, scope: scopeOf(route), to, ...pinOf(provider) };
}

function pinOf(provider: string | undefined): { readonly provider?: string } {
  return provider === undefined ? {} : { provider };
}

/**
 * Returns the route that a name means here; null if it is the id of a model or tier, or unknown. A route that replaces a model may lead to
 * that model, and a route of an account to the operator's route with the same name.
 */
function findRoute(place: Place, { sources, own }: Resolving): RouteMatch | null {
  const { name, steps } = place;
  const { namedRoutes } = sources;
  const isKnown = isKnownName(name, sources);
  const found = isKnown ? [namedRoutes.matchReplacing(name)] : [own?.match(name), namedRoutes.match(name)];
  const matches = found.filter((match) => match !== undefined).filter(isForNames);
  const next = matches.find(({ route }) => !steps.some((step) => isStepOf(step, route)));
  if (next !== undefined) return next;
  // A pattern that matches its own target has the target as its result.
  const isEnd = isKnown || matches.every(({ rest }) => rest !== null);
  return isEnd ? null : rejectChain(place, "lead in a circle");
}

/** Whether names may lead to a route. A preset is applied to a request before its names are resolved. */
function isForNames({ route: { definition } }: RouteMatch): boolean {
  return definition.kind !== "preset";
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
