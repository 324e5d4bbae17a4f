/**
 * Validates the catalog, and writes `catalog/digests.json`, so that no start validates it again. Run by `npm run catalog:digests`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DIGESTS_FILE, digestCatalog } from "../src/app/catalog-digests.ts";
import { validateCatalog } from "../src/app/load-catalog.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../src/app/shipped-files.ts";

validateCatalog(SHIPPED_CATALOG_DIRECTORY);
const digests = digestCatalog(SHIPPED_CATALOG_DIRECTORY);
writeFileSync(join(SHIPPED_CATALOG_DIRECTORY, DIGESTS_FILE), `${JSON.stringify(digests, null, 2)}\n`);
