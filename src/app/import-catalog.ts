import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { diffCatalogs, isEmptyDiff, presentDiff } from "../core/catalog/diff-catalog.ts";
import { type Imported, importModelsDev } from "../core/catalog/import-models-dev.ts";
import { parseImportRules } from "../core/catalog/import-rules.ts";
import type { ModelRecord } from "../core/catalog/records.ts";
import { countPriced, findImportFault } from "./check-import.ts";
import { createFetchSource, type FetchSource } from "./fetch-source.ts";
import type { ImportTarget } from "./import-target.ts";
import { loadProviders, loadShippedCatalog } from "./load-catalog.ts";
import { DEFAULT_CATALOG_SOURCE, labelSource, readSource } from "./read-source.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "./shipped-files.ts";

export interface ImportCatalogOptions {
  /** URL or file path of a list in the format of models.dev. Defaults to the public list. */
  readonly source?: string;
  /** The name of the source in the catalog. Defaults to its URL or file name, and the date. */
  readonly label?: string;
  readonly target: ImportTarget;
  /** Reports what would change and writes nothing. */
  readonly dryRun?: boolean;
  readonly fetchSource?: FetchSource;
  /** The directory of the provider rows and the import rules. Defaults to the shipped catalog. */
  readonly catalogDirectory?: string;
  readonly clock?: Clock;
}

/** The outcome of an import. A failed import has changed nothing. */
export interface ImportOutcome {
  readonly ok: boolean;
  readonly written: boolean;
  /** The lines to print. */
  readonly lines: readonly string[];
}

/**
 * Reads a source, converts it into models by the reviewed import rules, compares them with the target's models, and replaces those.
 * Provider rows are reviewed by hand and never written. A failure at any step leaves the target as it was.
 */
export async function importCatalog(options: ImportCatalogOptions): Promise<ImportOutcome> {
  const source = options.source ?? DEFAULT_CATALOG_SOURCE;
  const directory = options.catalogDirectory ?? SHIPPED_CATALOG_DIRECTORY;
  try {
    const text = await readSource(source, options.fetchSource ?? createFetchSource());
    if ("refused" in text) return reject(source, text.refused);
    const rules = parseImportRules(readFileSync(join(directory, "import-rules.json"), "utf8"));
    const imported = importModelsDev(text.text, rules);
    if ("rejected" in imported) return reject(source, imported.rejected);
    const providers = loadProviders(directory);
    const current = await options.target.readModels(providers);
    const before = current ?? loadShippedCatalog(directory).models;
    const fault = findImportFault(imported.models, before, providers);
    if (fault !== null) return reject(source, fault);
    return await writeModels(options, imported, { models: before, inTarget: current !== null });
  } catch (error) {
    return reject(source, (error as Error).message);
  }
}

function reject(source: string, reason: string): ImportOutcome {
  return { ok: false, written: false, lines: [`${source} ${reason}`, "nothing was changed"] };
}

/** The models that an import is compared with. */
interface Before {
  readonly models: readonly ModelRecord[];
  /** Whether they are the target's; otherwise they are the shipped ones. */
  readonly inTarget: boolean;
}

async function writeModels(
  { target, label, source = DEFAULT_CATALOG_SOURCE, clock = systemClock, dryRun }: ImportCatalogOptions,
  { models, omitted, problems }: Extract<Imported, { models: unknown }>,
  before: Before,
): Promise<ImportOutcome> {
  const diff = diffCatalogs(before.models, models);
  const lines = [
    `${models.length} models, ${countPriced(models)} with a price`,
    ...Object.entries(omitted).map(([reason, count]) => `left out: ${count}, ${reason}`),
    ...problems.map((problem) => `note: ${problem}`),
    ...presentDiff(diff),
  ];
  if (dryRun === true) return { ok: true, written: false, lines: [...lines, "dry run: nothing was changed"] };
  if (isEmptyDiff(diff) && before.inTarget)
    return { ok: true, written: false, lines: [...lines, "nothing to change"] };
  await target.write({ source: label ?? labelSource(source, clock.now()), models });
  return { ok: true, written: true, lines: [...lines, `written to ${target.location}`] };
}
