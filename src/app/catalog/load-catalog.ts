import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type {
  CatalogWithFamilies,
  FamilyProfile,
  ModelRecord,
  ProviderRecord,
} from "../../core/catalog/records/records.ts";
import type { CatalogStore } from "../../core/catalog/refresh/catalog-store.ts";
import {
  belongsInFile,
  type Checked,
  findModelProblems,
  type ImportedCatalog,
  parseFamilies,
  parseModels,
  parseProviders,
  readModels,
  readProviders,
} from "../../core/catalog/served/validate-catalog.ts";
import { type CatalogFile, type CatalogPart, type ReadPart, readPart } from "./catalog-digests.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "./shipped-files.ts";

/** A catalog and the source of its models. */
interface LoadedCatalog {
  readonly data: CatalogWithFamilies;
  readonly origin: "shipped" | "imported";
  /** Why the imported catalog is not used, if there is one. */
  readonly problems: readonly string[];
}

const originSchema = z.strictObject({ source: z.string().min(1) });

/**
 * Loads the catalog: the shipped providers with the imported models if there are valid ones, otherwise with the shipped models.
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
    return {
      data: { ...stored.value, providers, families: shipped.families() },
      origin: "imported",
      problems,
    };
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
  /** @throws Error if the rows are damaged. */
  families(): readonly FamilyProfile[];
  /** @throws Error if the catalog is damaged. */
  catalog(): CatalogWithFamilies;
}

function createLoader(directory: string): CatalogLoader {
  let providers: Loaded<ProviderRecord> | null = null;
  let families: readonly FamilyProfile[] | null = null;
  let catalog: CatalogWithFamilies | null = null;
  const loadRows = () => {
    providers ??= load(readPart(directory, "providers.json"), readProviders, validateProviders);
    return providers;
  };
  const loadFamilies = () => {
    families ??= load(readPart(directory, "profiles.json"), readFamilies, validateFamilies).records;
    return families;
  };
  return {
    providers: () => loadRows().records,
    families: loadFamilies,
    catalog() {
      catalog ??= joinCatalog(
        directory,
        loadRows(),
        load(readPart(directory, "models"), readModels, validateModels),
        loadFamilies(),
      );
      return catalog;
    },
  };
}

/** The records of a part of a catalog directory. */
interface Loaded<Row> extends Pick<ReadPart, "isValidated"> {
  readonly records: readonly Row[];
}

/** Validating takes a tenth of the time of a start, so files that the project has validated are only read. */
function load<Row>(
  { files, isValidated }: ReadPart,
  read: (text: string) => readonly Row[],
  validate: (file: CatalogFile) => readonly Row[],
): Loaded<Row> {
  return { records: files.flatMap((file) => (isValidated ? read(file.text) : validate(file))), isValidated };
}

/** The files of the program do not change while it runs: a reload of the configuration need not parse them again. */
const ownCatalog = createLoader(SHIPPED_CATALOG_DIRECTORY);

/**
 * Loads a catalog directory.
 * @throws Error if it is damaged.
 */
export function loadShippedCatalog(directory = SHIPPED_CATALOG_DIRECTORY): CatalogWithFamilies {
  return createLoader(directory).catalog();
}

/**
 * Loads the provider rows of a catalog directory.
 * @throws Error if they are damaged.
 */
export function loadProviders(directory: string): readonly ProviderRecord[] {
  return createLoader(directory).providers();
}

/**
 * Validates a catalog directory, whatever its digests say, and returns it.
 * @throws Error if it is damaged.
 */
export function validateCatalog(directory: string): CatalogWithFamilies {
  const read = (part: CatalogPart) => ({ ...readPart(directory, part), isValidated: false });
  return joinCatalog(
    directory,
    load(read("providers.json"), readProviders, validateProviders),
    load(read("models"), readModels, validateModels),
    load(read("profiles.json"), readFamilies, validateFamilies).records,
  );
}

function findProblems(
  { value, problems }: Checked<ImportedCatalog>,
  location: string,
  providers: readonly ProviderRecord[],
): readonly string[] {
  if (value === null) return problems;
  return findModelProblems(value.models, providers).map((problem) => `${location}: ${problem}`);
}

function joinCatalog(
  directory: string,
  providers: Loaded<ProviderRecord>,
  models: Loaded<ModelRecord>,
  families: readonly FamilyProfile[],
): CatalogWithFamilies {
  // Models name providers, so both must be files that were validated together.
  const isValidated = providers.isValidated && models.isValidated;
  const problems = isValidated ? [] : findModelProblems(models.records, providers.records);
  if (problems.length > 0) throw new Error(`the catalog in ${directory} is damaged:\n${problems.join("\n")}`);
  const origin = originSchema.parse(JSON.parse(readFileSync(join(directory, "origin.json"), "utf8")));
  return { source: origin.source, providers: providers.records, models: models.records, families };
}

function validateProviders({ file, text }: CatalogFile): readonly ProviderRecord[] {
  return requireChecked(parseProviders(file, text));
}

function readFamilies(text: string): readonly FamilyProfile[] {
  return JSON.parse(text) as readonly FamilyProfile[];
}

function validateFamilies({ file, text }: CatalogFile): readonly FamilyProfile[] {
  return requireChecked(parseFamilies(file, text));
}

function validateModels({ file, text }: CatalogFile): readonly ModelRecord[] {
  const models = requireChecked(parseModels(file, text));
  const stray = models.find((model) => !belongsInFile(model, file));
  if (stray !== undefined) throw new Error(`${file}: ${stray.id} belongs in another file`);
  return models;
}

function requireChecked<T>(checked: Checked<T>): T {
  if (checked.value === null) throw new Error(checked.problems.join("\n"));
  return checked.value;
}
