import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { CatalogStore } from "../core/catalog/catalog-store.ts";
import type { CatalogData, ModelRecord, ProviderRecord } from "../core/catalog/records.ts";
import {
  belongsInFile,
  type Checked,
  findModelProblems,
  type ImportedCatalog,
  parseModels,
  parseProviders,
} from "../core/catalog/validate-catalog.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "./shipped-files.ts";

/** A catalog and where its models come from. */
export interface LoadedCatalog {
  readonly data: CatalogData;
  readonly origin: "shipped" | "imported";
  /** Why the imported catalog is not used, if there is one. */
  readonly problems: readonly string[];
}

const originSchema = z.strictObject({ source: z.string().min(1) });

/**
 * Loads the catalog: the shipped providers, with the imported models if there are valid ones, else with the shipped models.
 * @throws Error only if the shipped catalog is damaged.
 */
export async function loadCatalog(
  store: CatalogStore,
  directory = SHIPPED_CATALOG_DIRECTORY,
): Promise<LoadedCatalog> {
  const shipped = directory === SHIPPED_CATALOG_DIRECTORY ? ownCatalog : createLoader(directory);
  const providers = shipped.providers();
  const stored = await store.readCatalog();
  const problems = stored === null ? [] : findProblems(stored, store.location, providers);
  if (stored !== null && stored.value !== null && problems.length === 0)
    return { data: { ...stored.value, providers }, origin: "imported", problems };
  const notice = `${store.location} is not used; using the shipped catalog`;
  return {
    data: shipped.catalog(),
    origin: "shipped",
    problems: problems.length === 0 ? [] : [...problems, notice],
  };
}

/** A catalog directory whose files are read when they are first needed, and once. */
interface CatalogLoader {
  /** @throws Error if the rows are damaged. */
  providers(): readonly ProviderRecord[];
  /** @throws Error if the catalog is damaged. */
  catalog(): CatalogData;
}

function createLoader(directory: string): CatalogLoader {
  let providers: readonly ProviderRecord[] | null = null;
  let catalog: CatalogData | null = null;
  const loader = {
    providers() {
      providers ??= loadProviders(directory);
      return providers;
    },
    catalog() {
      catalog ??= loadShipped(directory, loader.providers());
      return catalog;
    },
  };
  return loader;
}

/** The files of the program do not change while it runs: a reload of the configuration need not parse them again. */
const ownCatalog = createLoader(SHIPPED_CATALOG_DIRECTORY);

/**
 * Loads a catalog directory.
 * @throws Error if it is damaged.
 */
export function loadShippedCatalog(directory = SHIPPED_CATALOG_DIRECTORY): CatalogData {
  return loadShipped(directory, loadProviders(directory));
}

/**
 * Loads the provider rows of a catalog directory.
 * @throws Error if they are damaged.
 */
export function loadProviders(directory: string): ProviderRecord[] {
  const file = join(directory, "providers.json");
  return orThrow(parseProviders(file, readFileSync(file, "utf8")));
}

function findProblems(
  { value, problems }: Checked<ImportedCatalog>,
  location: string,
  providers: readonly ProviderRecord[],
): readonly string[] {
  if (value === null) return problems;
  return findModelProblems(value.models, providers).map((problem) => `${location}: ${problem}`);
}

function loadShipped(directory: string, providers: readonly ProviderRecord[]): CatalogData {
  const models = loadModels(join(directory, "models"));
  const problems = findModelProblems(models, providers);
  if (problems.length > 0) throw new Error(`the catalog in ${directory} is damaged:\n${problems.join("\n")}`);
  const origin = originSchema.parse(JSON.parse(readFileSync(join(directory, "origin.json"), "utf8")));
  return { source: origin.source, providers, models };
}

function loadModels(directory: string): ModelRecord[] {
  const models: ModelRecord[] = [];
  for (const name of readdirSync(directory).sort()) {
    if (!name.endsWith(".json")) continue;
    const file = `${directory}/${name}`;
    for (const model of orThrow(parseModels(file, readFileSync(file, "utf8")))) {
      if (!belongsInFile(model, file)) throw new Error(`${file}: ${model.id} belongs in another file`);
      models.push(model);
    }
  }
  return models;
}

function orThrow<T>(checked: Checked<T>): T {
  if (checked.value === null) throw new Error(checked.problems.join("\n"));
  return checked.value;
}
