import type { ChangedRows } from "../accounts/stores/follow-changes.ts";
import { parseStored } from "../catalog/records/parse-stored.ts";
import type { NamedRoute, RouteDefinition } from "./route-records.ts";
import { definitionSchema } from "./route-schema.ts";

/** A named route in a store. */
export type StoredRoute = NamedRoute & { readonly version: number; readonly updatedAt: number };

/** Stores the named routes of the operator and of accounts. Several processes may share one. */
export interface NamedRouteStore {
  /** Returns a number that changes with every change of any named route by any process. */
  namedRouteRevision(): Promise<number>;
  /**
   * Returns what has changed since the cursor of an earlier call (`followChanges`): accounts. Absent in a store that
   * does not record it.
   */
  listChangedRoutes?(cursor: string | null): Promise<ChangedRows>;
  /**
   * Returns the latest version of each named route of an account, or of the operator if `accountId` is null, by name. Routes that this
   * version of the program cannot read are left out.
   */
  listNamedRoutes(accountId: string | null): Promise<readonly StoredRoute[]>;
  /** Returns the kept versions of a named route, the latest first. */
  listNamedRouteVersions(accountId: string | null, name: string): Promise<readonly StoredRoute[]>;
  /** Stores a definition as the next version of a named route, and deletes all but the last `MAX_VERSIONS`. Returns what was stored. */
  putNamedRoute(route: Omit<StoredRoute, "version">): Promise<StoredRoute>;
  /** Deletes all versions of a named route. Returns false if there was none. */
  deleteNamedRoute(accountId: string | null, name: string): Promise<boolean>;
}

/** A row of the table of named routes. Routes of the operator have an empty `account_id`. */
export interface NamedRouteRow {
  readonly account_id: string;
  readonly name: string;
  readonly version: number | string;
  /** JSON. */
  readonly definition: string;
  readonly created_at: number | string;
}

/** Parses a row. Returns null for a definition that this version cannot read, such as one of a later version. */
export function parseNamedRoute(row: NamedRouteRow): StoredRoute | null {
  const definition = parseStored<RouteDefinition>(definitionSchema, JSON.parse(row.definition));
  if (definition === null) return null;
  return {
    accountId: row.account_id === "" ? null : row.account_id,
    name: row.name,
    version: Number(row.version),
    definition,
    updatedAt: Number(row.created_at),
  };
}
