import { createNamedRoutes, type NamedRoutes } from "../../core/named-routes/named-routes.ts";
import { type ConfiguredRoute, fromFile } from "../../core/named-routes/route-manager.ts";
import type { NamedRoute } from "../../core/named-routes/route-records.ts";
import { originsOf } from "../config/config-origins.ts";
import type { Config } from "../config/config-schema.ts";

/** Loads the named routes of the operator: the stored ones, and those of the configuration, which take precedence. */
export function loadNamedRoutes(config: Config, stored: readonly NamedRoute[]): NamedRoutes {
  const configured = Object.entries(config.named_routes ?? {}).map(([name, definition]) =>
    fromFile(name, definition),
  );
  return createNamedRoutes([...stored, ...configured]);
}

/** Lists the named routes of the configuration with their lines. */
export function listConfiguredRoutes(config: Config): readonly ConfiguredRoute[] {
  const origins = originsOf(config);
  return Object.entries(config.named_routes ?? {}).map(([name, definition]) => ({
    name,
    definition,
    file: origins?.placeOf(["named_routes", name])?.file ?? null,
    line: origins?.placeOf(["named_routes", name])?.line ?? null,
  }));
}
