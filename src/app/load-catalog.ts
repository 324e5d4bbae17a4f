import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { CatalogData, ModelRecord, ProviderRecord } from "../core/catalog/records.ts";
import {
  belongsInFile,
  type Checked,
  findModelProblems,
  parseModels,
  parseOverride,
  parseProviders,
} from "../core/catalog/validate-catalog.ts";

/** The catalog that ships with the program. */
export const SHIPPED_CATALOG_DIRECTORY = join(import.meta.dir, "..", "..", "catalog");

/** File of the data directory that an import writes and that then replaces the shipped models. */
export const OVERRIDE_FILE = "catalog.json";

/** A catalog and where it comes from. */
export interface LoadedCatalog {
  readonly data: CatalogData;
  readonly origin: "shipped" | "data directory";
  /** Why the data directory's catalog was not used, where there is one. */
  readonly problems: readonly string[];
}

const originSchema = z.strictObject({ source: z.string().min(1) });

/**
 * Loads the catalog: providers as shipped, models from the data directory's `catalog.json` where there is a sound
 * one, else as shipped. Throws only when the shipped catalog is damaged.
 */
export function loadCatalog(options: {
  readonly dataDirectory?: string;
  readonly catalogDirectory?: string;
}): LoadedCatalog {
  const directory = options.catalogDirectory ?? SHIPPED_CATALOG_DIRECTORY;
  const providers = loadProviders(directory);
  const override =
    options.dataDirectory === undefined
      ? null
      : readOverride(join(options.dataDirectory, OVERRIDE_FILE), providers);
  if (override !== null && "data" in override)
    return { data: override.data, origin: "data directory", problems: [] };
  return { data: loadShipped(directory, providers), origin: "shipped", problems: override?.problems ?? [] };
}

/** The provider rows of a catalog directory. Throws when they are damaged. */
export function loadProviders(directory: string): ProviderRecord[] {
  const file = join(directory, "providers.json");
  return orThrow(parseProviders(file, readFileSync(file, "utf8")));
}

function loadShipped(directory: string, providers: ProviderRecord[]): CatalogData {
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

function readOverride(
  file: string,
  providers: ProviderRecord[],
): { data: CatalogData } | { problems: string[] } | null {
  const text = readIfThere(file);
  if (text === null) return null;
  if (typeof text !== "string")
    return { problems: [`${file} cannot be read: ${text.message}; using the shipped catalog`] };
  const { value, problems } = parseOverride(file, text);
  const found =
    value === null
      ? problems
      : findModelProblems(value.models, providers).map((problem) => `${file}: ${problem}`);
  if (value === null || found.length > 0)
    return { problems: [...found, `${file} is not used; using the shipped catalog`] };
  return { data: { source: value.source, providers, models: value.models } };
}

function readIfThere(file: string): string | Error | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : (error as Error);
  }
}

function orThrow<T>(checked: Checked<T>): T {
  if (checked.value === null) throw new Error(checked.problems.join("\n"));
  return checked.value;
}
