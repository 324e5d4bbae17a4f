import { join } from "node:path";
import { DIGESTS_FILE, digestCatalog } from "../../src/app/catalog/catalog-digests.ts";
import { validateCatalog } from "../../src/app/catalog/load-catalog.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../../src/app/catalog/shipped-files.ts";

/**
 * Validates the shipped catalog, and returns `catalog/digests.json` by its path, so that no start validates the catalog again.
 * @throws Error if the catalog is invalid.
 */
export function renderCatalogDigests(): ReadonlyMap<string, string> {
  validateCatalog(SHIPPED_CATALOG_DIRECTORY);
  const digests = digestCatalog(SHIPPED_CATALOG_DIRECTORY);
  return new Map([[join(SHIPPED_CATALOG_DIRECTORY, DIGESTS_FILE), `${JSON.stringify(digests, null, 2)}\n`]]);
}
