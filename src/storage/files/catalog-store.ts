import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { formatImportedCatalog } from "../../core/catalog/records/format-catalog.ts";
import type { CatalogStore } from "../../core/catalog/refresh/catalog-store.ts";
import { parseRefreshState } from "../../core/catalog/refresh/parse-refresh-state.ts";
import { parseImportedCatalog } from "../../core/catalog/served/validate-catalog.ts";
import { writeFileAtomically } from "./write-file-atomically.ts";

export const CATALOG_FILE = "catalog.json";
const REFRESH_FILE = "catalog-refresh.json";

/** Creates a `CatalogStore` over two JSON files of a data directory. */
export function createFileCatalogStore(dataDirectory: string): CatalogStore {
  const catalogFile = join(dataDirectory, CATALOG_FILE);
  const refreshFile = join(dataDirectory, REFRESH_FILE);
  return {
    location: catalogFile,
    readVersion: async () => stampOf(catalogFile),
    async readCatalog() {
      const text = readIfExists(catalogFile);
      if (text === null) return null;
      return typeof text === "string"
        ? parseImportedCatalog(catalogFile, text)
        : { value: null, problems: [`${catalogFile} cannot be read: ${text.message}`] };
    },
    writeCatalog: async ({ source, models }) =>
      writeFileAtomically(catalogFile, formatImportedCatalog(source, models)),
    async readRefreshState() {
      const text = readIfExists(refreshFile);
      return parseRefreshState(typeof text === "string" ? text : null);
    },
    writeRefreshState: async (state) =>
      writeFileAtomically(refreshFile, `${JSON.stringify(state, null, 2)}\n`),
  };
}

function readIfExists(file: string): string | Error | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : (error as Error);
  }
}

/** Changes when a file is written, created or removed, and when reading it begins or ceases to fail. */
function stampOf(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat === undefined ? "" : `${stat.mtimeMs}/${stat.size}/${stat.ino}`;
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
  }
}
