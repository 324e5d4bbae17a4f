import { fail, GatewayError } from "../../base/failures/errors.ts";
import type { Clock } from "../../base/time/clock.ts";
import { compareText } from "../catalog/records/format-catalog.ts";
import type { NamedRouteStore, StoredRoute } from "./named-route-store.ts";
import { createNamedRoutes, type NamedRoutes, replacesModel } from "./named-routes.ts";
import { resolveName } from "./resolve-names.ts";
import type { NamedRoute, RouteDefinition } from "./route-records.ts";
import { findNameFault, MAX_DEFINITION_CHARS, MAX_ROUTES } from "./route-schema.ts";

/** A named route of the configuration file. It precedes a stored one of the operator with its name, and is changed only there. */
export interface ConfiguredRoute {
  readonly name: string;
  readonly definition: RouteDefinition;
  readonly file: string | null;
  readonly line: number | null;
}

/** A named route, and where it is defined. */
export interface ListedRoute {
  readonly route: NamedRoute;
  readonly source: "database" | "file";
  /** The configuration file and the line of the route, if the source is the file. */
  readonly file: string | null;
  readonly line: number | null;
}

/** Names a route: its owner (null: the operator) and its name. */
export interface RouteAddress {
  readonly accountId: string | null;
  readonly name: string;
}

/** The dependencies of a manager of named routes. */
interface RouteManagerParts {
  readonly store: NamedRouteStore;
  readonly clock: Clock;
  /** Returns the routes of the configuration in force, which a reload replaces. */
  readonly configured: () => readonly ConfiguredRoute[];
  /** Called after a stored route has changed. */
  readonly onChanged?: (accountId: string | null) => Promise<void>;
}

/** Lists named routes, and changes those in the store. */
export class NamedRouteManager {
  constructor(private readonly parts: RouteManagerParts) {}

  /** Returns the routes of an account, or of the operator if `accountId` is null, by name. */
  async list(accountId: string | null): Promise<readonly ListedRoute[]> {
    const stored = await this.parts.store.listNamedRoutes(accountId);
    const listed = stored.map(
      (route): ListedRoute => ({ route, source: "database", file: null, line: null }),
    );
    if (accountId !== null) return listed;
    const byName = new Map(listed.map((one) => [one.route.name, one]));
    for (const { name, definition, file, line } of this.parts.configured())
      byName.set(name, { route: fromFile(name, definition), source: "file", file, line });
    return [...byName.values()].sort((a, b) => compareText(a.route.name, b.route.name));
  }

  /** Returns the kept versions of a stored route, the latest first; none if it is not stored. */
  listVersions({ accountId, name }: RouteAddress): Promise<readonly StoredRoute[]> {
    return this.parts.store.listNamedRouteVersions(accountId, name);
  }

  /**
   * Stores a definition as the next version of a route. Every gateway uses it within a second. Returns the route, and the previous
   * definition or null.
   * @throws GatewayError `conflict` if the configuration file defines the route; `invalid_request` if it is too large, if there are too
   * many, if an account's route would replace a model, or if routes would form a circle or a chain that is too long.
   */
  async put(
    { accountId, name }: RouteAddress,
    definition: RouteDefinition,
  ): Promise<{ readonly route: StoredRoute; readonly before: RouteDefinition | null }> {
    const { store, clock, onChanged } = this.parts;
    if (accountId === null) this.rejectConfigured(name);
    checkDefinition(definition, { accountId, name });
    const own = (await this.list(accountId)).map(({ route }) => route);
    const before = own.find((route) => route.name === name) ?? null;
    if (before === null && own.length >= MAX_ROUTES)
      fail("invalid_request", `There are already ${MAX_ROUTES} named routes. Delete one first.`);
    const after: NamedRoute = { name, accountId, definition, version: null, updatedAt: null };
    const shared = accountId === null ? null : (await this.list(null)).map(({ route }) => route);
    requireSoundChains(after, own, shared);
    const route = await store.putNamedRoute({ accountId, name, definition, updatedAt: clock.now() });
    await onChanged?.(accountId);
    return { route, before: before?.definition ?? null };
  }

  /**
   * Stores an earlier version of a route again, as its next version.
   * @throws GatewayError `not_found` if that version is not kept, and as `put`.
   */
  async restore(address: RouteAddress, version: number) {
    const found = (await this.listVersions(address)).find((one) => one.version === version);
    if (found === undefined)
      return fail("not_found", `There is no version ${version} of ${quote(address.name)}.`);
    return this.put(address, found.definition);
  }

  /**
   * Deletes a stored route with all its versions. Returns what it stood for.
   * @throws GatewayError `not_found` if there is no such route; `conflict` if the configuration file defines it.
   */
  async remove({ accountId, name }: RouteAddress): Promise<RouteDefinition> {
    const { store, onChanged } = this.parts;
    if (accountId === null) this.rejectConfigured(name);
    const found = (await store.listNamedRoutes(accountId)).find((route) => route.name === name);
    if (found === undefined) return fail("not_found", `There is no named route ${quote(name)}.`);
    await store.deleteNamedRoute(accountId, name);
    await onChanged?.(accountId);
    return found.definition;
  }

  private rejectConfigured(name: string): void {
    const found = this.parts.configured().find((route) => route.name === name);
    if (found === undefined) return;
    const place = found.file === null ? "the configuration" : `${found.file}:${found.line}`;
    fail("conflict", `${quote(name)} is defined in ${place}, which takes precedence. Change it there.`);
  }
}

/** Returns a route of the configuration file. */
export function fromFile(name: string, definition: RouteDefinition): NamedRoute {
  return { name, definition, accountId: null, version: null, updatedAt: null };
}

function checkDefinition(definition: RouteDefinition, { accountId, name }: RouteAddress): void {
  const fault = findNameFault(name, definition.kind);
  if (fault !== null) fail("invalid_request", `name: ${fault}.`, { metadata: { field: "name" } });
  if (accountId === null && definition.kind === "preset")
    fail("invalid_request", "account_id: a preset belongs to an account. Name one.", {
      metadata: { field: "account_id" },
    });
  if (JSON.stringify(definition).length > MAX_DEFINITION_CHARS)
    fail("invalid_request", `The named route must have at most ${MAX_DEFINITION_CHARS} characters as JSON.`);
  if (accountId !== null && definition.kind === "group" && definition.targets.some(({ shadow }) => shadow))
    fail("invalid_request", "shadow: only a route of the operator, who pays, may have one. Omit it.", {
      metadata: { field: "shadow" },
    });
  if (accountId !== null && definition.kind !== "preset" && definition.replaces_model === true)
    fail("invalid_request", "replaces_model: only a route of the operator may replace a model. Omit it.", {
      metadata: { field: "replaces_model" },
    });
}

/** Rejects a change that makes a route of the same owner form a circle or a chain that is too long. */
function requireSoundChains(
  changed: NamedRoute,
  own: readonly NamedRoute[],
  shared: readonly NamedRoute[] | null,
): void {
  const faultsOf = createChainCheck(own, shared);
  const faultsAfter = createChainCheck([...own, changed], shared);
  for (const { name } of [changed, ...own]) {
    const fault = faultsAfter(name);
    if (fault === null || (name !== changed.name && faultsOf(name) !== null)) continue;
    fail("invalid_request", fault);
  }
}

/** Returns a function that returns why a name cannot be resolved; null if it can. */
function createChainCheck(
  own: readonly NamedRoute[],
  shared: readonly NamedRoute[] | null,
): (name: string) => string | null {
  const routes = createNamedRoutes(own);
  const [ofOperator, ofAccount]: [NamedRoutes, NamedRoutes | null] =
    shared === null ? [routes, null] : [createNamedRoutes(shared), routes];
  // Models that routes replace count as existing, because a route may lead to the model that it replaces.
  const replaced = new Set(ofOperator.list.filter(replacesModel).map(({ name }) => name));
  const isModel = (id: string) => (replaced.has(id.toLowerCase()) ? {} : undefined);
  const sources = {
    catalog: { find: isModel, findAt: () => undefined },
    tiers: { find: () => undefined },
    namedRoutes: ofOperator,
  };
  return (name) => {
    try {
      resolveName(name, { sources, own: ofAccount, draw: null });
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return error.message;
      throw error;
    }
  };
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}
