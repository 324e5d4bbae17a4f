import type { NamedRoute } from "./route-records.ts";

/** The named routes of the operator, or of one account. Immutable; a change creates another one. */
export interface NamedRoutes {
  /** By name. */
  readonly list: readonly NamedRoute[];
  /** Returns the route with this name, ignoring case. The `*` of a name is compared as a character. */
  find(name: string): NamedRoute | undefined;
  /** Returns the route for a name that a client may send: the route with the name, or that with the longest pattern that it matches. */
  match(name: string): RouteMatch | undefined;
  /** Returns the same, among the routes that are used in place of a model of the catalog. */
  matchReplacing(name: string): RouteMatch | undefined;
}

/** A named route, and what the `*` of its name stands for; null if its name has none. */
export interface RouteMatch {
  readonly route: NamedRoute;
  readonly rest: string | null;
}

/** Indexes named routes. If several have the same name, the last one replaces the others. */
export function createNamedRoutes(routes: readonly NamedRoute[]): NamedRoutes {
  const byName = new Map(routes.map((route) => [route.name, route]));
  const list = [...byName.values()];
  const all = new RouteIndex(list);
  const replacing = new RouteIndex(list.filter(replacesModel));
  return {
    list,
    find: (name) => byName.get(name.toLowerCase()),
    match: (name) => all.match(name),
    // Called for every request.
    matchReplacing: (name) => (replacing.isEmpty ? undefined : replacing.match(name)),
  };
}

/** A route whose name has a `*`, with what stands before and after it. */
interface Pattern {
  readonly route: NamedRoute;
  readonly start: string;
  readonly end: string;
}

class RouteIndex {
  readonly isEmpty: boolean;
  private readonly exact: ReadonlyMap<string, NamedRoute>;
  /** The longest name first: it is the most specific. */
  private readonly patterns: readonly Pattern[];

  constructor(routes: readonly NamedRoute[]) {
    this.isEmpty = routes.length === 0;
    this.exact = new Map(routes.filter(({ name }) => !isPattern(name)).map((route) => [route.name, route]));
    this.patterns = routes
      .filter(({ name }) => isPattern(name))
      .map((route) => {
        const [start = "", end = ""] = route.name.split("*");
        return { route, start, end };
      })
      .sort((a, b) => b.route.name.length - a.route.name.length);
  }

  match(name: string): RouteMatch | undefined {
    const lower = name.toLowerCase();
    const route = this.exact.get(lower);
    if (route !== undefined) return { route, rest: null };
    const found = this.patterns.find(
      ({ start, end }) =>
        lower.length >= start.length + end.length && lower.startsWith(start) && lower.endsWith(end),
    );
    if (found === undefined) return undefined;
    // Providers may distinguish the letter case of their names.
    return { route: found.route, rest: name.slice(found.start.length, name.length - found.end.length) };
  }
}

/** Whether the name of a route stands for many names. */
export function isPattern(name: string): boolean {
  return name.includes("*");
}

/** Whether a route replaces a model of the catalog. Routes of accounts never do. */
export function replacesModel({ accountId, definition }: NamedRoute): boolean {
  return accountId === null && definition.kind !== "preset" && definition.replaces_model === true;
}
