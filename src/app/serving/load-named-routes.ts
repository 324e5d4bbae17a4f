import { createNamedRoutes, type NamedRoutes } from "../../core/named-routes/named-routes.ts";
import { type ConfiguredRoute, ofConfig } from "../../core/named-routes/route-manager.ts";
import { originsOf } from "../config/config-origins.ts";
import type { Config } from "../config/config-schema.ts";

/** Loads the named routes of the operator. */
export function loadNamedRoutes(config: Config): NamedRoutes {
  const revision = originsOf(config)?.stored?.revision ?? null;
  return createNamedRoutes(
    listConfiguredRoutes(config).map(({ name, definition, isStored }) => ({
      ...ofConfig(name, definition),
      // Records of requests name the revision, in which the definition can be looked up.
      version: isStored ? revision : null,
    })),
  );
}

/** Lists the named routes of the operator, and where each is defined. */
export function listConfiguredRoutes(config: Config): readonly ConfiguredRoute[] {
  const origins = originsOf(config);
  return Object.entries(config.named_routes ?? {}).map(([name, definition]) => {
    const place = origins?.placeOf(["named_routes", name]) ?? null;
    const isStored = origins !== null && place === null;
    return { name, definition, isStored, file: place?.file ?? null, line: place?.line ?? null };
  });
}
