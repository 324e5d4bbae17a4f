import type { StoredRoute } from "../../core/named-routes/named-route-store.ts";
import type { ConfiguredRoute, OperatorRoutes } from "../../core/named-routes/route-manager.ts";
import type { RouteDefinition } from "../../core/named-routes/route-records.ts";
import { MAX_VERSIONS } from "../../core/named-routes/route-schema.ts";
import type { ConfigManager } from "../../core/stored-config/config-manager.ts";
import { type ConfigValue, MAX_REVISIONS } from "../../core/stored-config/config-store.ts";
import { keyOf } from "../config/setting-paths.ts";

const WRITE = { from: null, secrets: [], dryRun: false, isInConsole: false } as const;

/** Creates the port to the operator's named routes over the stored configuration. `list` returns those of the configuration in force. */
export function createOperatorRoutes(
  stored: ConfigManager,
  list: () => readonly ConfiguredRoute[],
): OperatorRoutes {
  return {
    list,
    async findVersions(names) {
      const changes = await stored.findChanges(names.map(pathOf));
      return changes.map((head) => head && { version: head.revision, updatedAt: head.changedAt });
    },
    async listVersions(name) {
      const key = keyOf(pathOf(name));
      const heads = (await stored.listRevisions(null, MAX_REVISIONS))
        .filter(({ changed }) => changed.some((path) => keyOf(path) === key))
        .slice(0, MAX_VERSIONS);
      const versions: StoredRoute[] = [];
      for (const { revision, changedAt } of heads) {
        const definition = await findIn(stored, revision, name);
        if (definition !== null)
          versions.push({ name, accountId: null, definition, version: revision, updatedAt: changedAt });
      }
      return versions;
    },
    findVersion: (name, revision) => findIn(stored, revision, name),
    async put(name, definition, by) {
      const value = definition as unknown as ConfigValue;
      await stored.write({ ...WRITE, change: [{ path: pathOf(name), value }], by });
    },
    async remove(name, by) {
      await stored.write({ ...WRITE, change: [{ path: pathOf(name) }], by });
    },
  };
}

async function findIn(
  stored: Pick<ConfigManager, "findRevision">,
  revision: number,
  name: string,
): Promise<RouteDefinition | null> {
  const found = await stored.findRevision(revision);
  const routes = (found?.document["named_routes"] ?? {}) as Readonly<Record<string, RouteDefinition>>;
  return Object.hasOwn(routes, name) ? (routes[name] ?? null) : null;
}

/** Returns the setting of a route. */
function pathOf(name: string): readonly string[] {
  return ["named_routes", name];
}
