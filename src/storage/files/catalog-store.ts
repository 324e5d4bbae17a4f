import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type CatalogStore, NO_REFRESH, type RefreshState } from "../../core/catalog/catalog-store.ts";
import { formatImportedCatalog } from "../../core/catalog/format-catalog.ts";
import { parseImportedCatalog, priceTermsSchema } from "../../core/catalog/validate-catalog.ts";
import { writeFileAtomically } from "./write-file-atomically.ts";

export const CATALOG_FILE = "catalog.json";
const REFRESH_FILE = "catalog-refresh.json";

const heldChangeSchema = z.object({
  id: z.string(),
  model: z.string(),
  provider: z.string(),
  name: z.string(),
  before: priceTermsSchema,
  after: priceTermsSchema,
  jumps: z.array(
    z.object({
      kind: z.string(),
      before: z.string().nullable(),
      after: z.string().nullable(),
      minPromptTokens: z.int().optional(),
      from: z.string().optional(),
    }),
  ),
  seenAt: z.number(),
});

const refreshStateSchema = z.object({
  attemptedAt: z.number().nullable(),
  refreshedAt: z.number().nullable(),
  problem: z.string().nullable(),
  difference: z.array(z.string()),
  waiting: z.array(heldChangeSchema),
  rejected: z.array(heldChangeSchema),
});

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
    readRefreshState: async () => parseRefreshState(readIfExists(refreshFile)),
    writeRefreshState: async (state) =>
      writeFileAtomically(refreshFile, `${JSON.stringify(state, null, 2)}\n`),
  };
}

function parseRefreshState(text: string | Error | null): RefreshState {
  if (typeof text !== "string") return NO_REFRESH;
  try {
    const parsed = refreshStateSchema.safeParse(JSON.parse(text));
    return parsed.success ? (parsed.data as RefreshState) : NO_REFRESH;
  } catch {
    return NO_REFRESH;
  }
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
