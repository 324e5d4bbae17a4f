import type { StoreHealth } from "../../base/failures/store-health.ts";
import { followChanges } from "../accounts/stores/follow-changes.ts";
import { memoize } from "../accounts/stores/memoize.ts";
import type { NamedRouteStore } from "./named-route-store.ts";
import { createNamedRoutes, type NamedRoutes } from "./named-routes.ts";

/** Caches the named routes of accounts in memory. */
export interface AccountRoutes {
  /**
   * Returns the named routes of an account. Rejects with a `StoreError` if they are not in memory while the store is unavailable.
   */
  of(accountId: string): Promise<NamedRoutes | null>;
  /** Reads routes again if a process has changed any of them since the last call. */
  refresh(): Promise<void>;
  /** Reads an account's routes again. Call it after this process has changed one of them. */
  changed(accountId: string): void;
}

/** Returns a cache over a store. */
export function createAccountRoutes(
  store: Pick<NamedRouteStore, "listNamedRoutes" | "namedRouteRevision" | "listChangedRoutes">,
  health: StoreHealth,
): AccountRoutes {
  // An account without routes has an empty list, which is a value like others: it is used while the store is unavailable.
  const known = memoize(
    async (accountId) => createNamedRoutes(await store.listNamedRoutes(accountId)),
    health,
  );
  return {
    of: known.get,
    refresh: followChanges({
      readRevision: () => store.namedRouteRevision(),
      listChanged: store.listChangedRoutes?.bind(store),
      caches: [known],
    }),
    changed: known.forget,
  };
}
