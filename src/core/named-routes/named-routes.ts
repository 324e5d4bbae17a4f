import type { NamedRoute } from "./route-records.ts";

/** The named routes of the operator, or of one account. Immutable; a change creates another one. */
export interface NamedRoutes {
  /** By name. */
  readonly list: readonly NamedRoute[];
  /** Returns the route with this name, ignoring case. */
  find(name: string): NamedRoute | undefined;
  /** Returns the route with this name if it is used in place of a model of the catalog. */
  findReplacing(name: string): NamedRoute | undefined;
}

/** Indexes named routes. If several have the same name, the last one replaces the others. */
export function createNamedRoutes(routes: readonly NamedRoute[]): NamedRoutes {
  const byName = new Map(routes.map((route) => [route.name, route]));
  const list = [...byName.values()];
  const replacing = new Map(list.filter(replacesModel).map((route) => [route.name, route]));
  return {
    list,
    find: (name) => byName.get(name.toLowerCase()),
    // Called for every request.
    findReplacing: (name) => (replacing.size === 0 ? undefined : replacing.get(name.toLowerCase())),
  };
}

/** Whether a route replaces a model of the catalog. Routes of accounts never do. */
export function replacesModel({ accountId, definition }: NamedRoute): boolean {
  return accountId === null && definition.kind !== "preset" && definition.replaces_model === true;
}
