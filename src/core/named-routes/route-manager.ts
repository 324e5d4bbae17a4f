import { fail, GatewayError } from "../../base/failures/errors.ts";
import type { Clock } from "../../base/time/clock.ts";
import { compareText } from "../catalog/records/format-catalog.ts";
import type { NamedRouteStore, StoredRoute } from "./named-route-store.ts";
import { createNamedRoutes, type NamedRoutes, replacesModel } from "./named-routes.ts";
import { resolveName } from "./resolve-names.ts";
import type { NamedRoute, RouteDefinition } from "./route-records.ts";
import { findNameFault, MAX_DEFINITION_CHARS, MAX_ROUTES } from "./route-schema.ts";

/** A named route of the operator, in the configuration. */
export interface ConfiguredRoute {
  readonly name: string;
  readonly definition: RouteDefinition;
  /** Whether it is stored, so that it can be changed. */
  readonly isStored: boolean;
  /** The configuration file and the line of the route, if it is written there. */
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

/** The named routes of the operator, which are settings of the configuration. Their versions are revisions of the stored configuration. */
export interface OperatorRoutes {
  /** Returns the routes of the configuration in force. */
  list(): readonly ConfiguredRoute[];
  /** Returns the revision in which each stored route was changed last; null where it is not kept. */
  findVersions(names: readonly string[]): Promise<readonly (RouteVersion | null)[]>;
  /** Returns the kept versions of a stored route, the latest first. */
  listVersions(name: string): Promise<readonly StoredRoute[]>;
  /** Returns a route as a revision has it; null if that is not kept, or has no such route. */
  findVersion(name: string, revision: number): Promise<RouteDefinition | null>;
  /**
   * Stores a route. `by` is the id of the credential.
   * @throws GatewayError `conflict` if the configuration file defines it.
   */
  put(name: string, definition: RouteDefinition, by: string): Promise<void>;
  /** Removes a stored route. */
  remove(name: string, by: string): Promise<void>;
}

/** When a stored route was changed. */
export type RouteVersion = Pick<StoredRoute, "version" | "updatedAt">;

/** The dependencies of a manager of named routes. */
interface RouteManagerParts {
  /** Stores the routes of accounts. */
  readonly store: NamedRouteStore;
  readonly clock: Clock;
  readonly operator: OperatorRoutes;
  /** Called after a route of an account has changed. */
  readonly onChanged?: (accountId: string) => void;
}

/** Lists named routes, and changes those that are stored. */
export class NamedRouteManager {
  constructor(private readonly parts: RouteManagerParts) {}

  /** Returns the routes of an account, or of the operator if `accountId` is null, by name. */
  async list(accountId: string | null): Promise<readonly ListedRoute[]> {
    if (accountId === null) return this.listOfOperator();
    const stored = await this.parts.store.listNamedRoutes(accountId);
    return stored.map((route): ListedRoute => ({ route, source: "database", file: null, line: null }));
  }

  private async listOfOperator(): Promise<readonly ListedRoute[]> {
    const { operator } = this.parts;
    const configured = operator.list();
    const stored = configured.filter(({ isStored }) => isStored).map(({ name }) => name);
    const versions = await operator.findVersions(stored);
    return configured
      .map(({ name, definition, isStored, file, line }): ListedRoute => {
        const version = isStored ? (versions[stored.indexOf(name)] ?? null) : null;
        const route = { ...ofConfig(name, definition), ...(version ?? {}) };
        return { route, source: isStored ? "database" : "file", file, line };
      })
      .sort((a, b) => compareText(a.route.name, b.route.name));
  }

  /** Returns the kept versions of a stored route, the latest first; none if it is not stored. */
  listVersions({ accountId, name }: RouteAddress): Promise<readonly StoredRoute[]> {
    const { store, operator } = this.parts;
    return accountId === null ? operator.listVersions(name) : store.listNamedRouteVersions(accountId, name);
  }

  /**
   * Stores a definition as the next version of a route. Every gateway uses it within a second. `by` is the id of the credential. Returns
   * the previous definition or null.
   * @throws GatewayError `conflict` if a configuration file defines the route; `invalid_request` if it is too large, if there are too
   * many, if an account's route would replace a model, or if routes would form a circle or a chain that is too long.
   */
  async put(
    { accountId, name }: RouteAddress,
    definition: RouteDefinition,
    by: string,
  ): Promise<RouteDefinition | null> {
    const { store, clock, operator, onChanged } = this.parts;
    checkDefinition(definition, { accountId, name });
    const listed = await this.list(accountId);
    const inFile = listed.find(({ route, source }) => route.name === name && source === "file");
    if (inFile !== undefined) return rejectConfigured(inFile);
    const own = listed.map(({ route }) => route);
    const before = own.find((route) => route.name === name) ?? null;
    if (before === null && own.length >= MAX_ROUTES)
      fail("invalid_request", `There are already ${MAX_ROUTES} named routes. Delete one first.`);
    const after: NamedRoute = { name, accountId, definition, version: null, updatedAt: null };
    const shared = accountId === null ? null : (await this.list(null)).map(({ route }) => route);
    requireSoundChains(after, own, shared);
    if (accountId === null) await operator.put(name, definition, by);
    else {
      await store.putNamedRoute({ accountId, name, definition, updatedAt: clock.now() });
      onChanged?.(accountId);
    }
    return before?.definition ?? null;
  }

  /**
   * Stores an earlier version of a route again, as its next version. Returns the definitions after and before.
   * @throws GatewayError `not_found` if that version is not kept, and as `put`.
   */
  async restore(address: RouteAddress, version: number, by: string) {
    const after = await this.findVersion(address, version);
    if (after === null) return fail("not_found", `There is no version ${version} of ${quote(address.name)}.`);
    return { after, before: await this.put(address, after, by) };
  }

  private async findVersion(address: RouteAddress, version: number): Promise<RouteDefinition | null> {
    if (address.accountId === null) return this.parts.operator.findVersion(address.name, version);
    const found = (await this.listVersions(address)).find((one) => one.version === version);
    return found?.definition ?? null;
  }

  /**
   * Deletes a stored route. Returns what it stood for.
   * @throws GatewayError `not_found` if there is no such route; `conflict` if the configuration file defines it.
   */
  async remove(address: RouteAddress, by: string): Promise<RouteDefinition> {
    const { accountId, name } = address;
    const { store, operator, onChanged } = this.parts;
    const found = (await this.list(accountId)).find(({ route }) => route.name === name);
    if (found === undefined) return fail("not_found", `There is no named route ${quote(name)}.`);
    if (found.source === "file") return rejectConfigured(found);
    if (accountId === null) await operator.remove(name, by);
    else {
      await store.deleteNamedRoute(accountId, name);
      onChanged?.(accountId);
    }
    return found.route.definition;
  }
}

function rejectConfigured({ route, file, line }: ListedRoute): never {
  const place = file === null ? "the configuration" : `${file}:${line}`;
  return fail(
    "conflict",
    `${quote(route.name)} is defined in ${place}, which takes precedence. Change it there.`,
  );
}

/** Returns a route of the operator as the configuration has it. */
export function ofConfig(name: string, definition: RouteDefinition): NamedRoute {
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
