import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../../base/time/clock.ts";
import { dateOf } from "../../base/time/time.ts";
import type { ModelRecord } from "../../core/catalog/records/records.ts";
import { diffCatalogs, isEmptyDiff, presentDiff } from "../../core/catalog/refresh/diff-catalog.ts";
import {
  type Imported,
  type ImportSources,
  importModels,
} from "../../core/catalog/refresh/import-models-dev.ts";
import { parseImportRules } from "../../core/catalog/refresh/import-rules.ts";
import { countPriced, findImportFault } from "./check-import.ts";
import { createFetchSource, type FetchSource } from "./fetch-source.ts";
import type { ImportTarget } from "./import-target.ts";
import { loadProviders, loadShippedCatalog } from "./load-catalog.ts";
import { DEFAULT_CATALOG_SOURCE, labelSources, readSource } from "./read-source.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "./shipped-files.ts";

interface ImportCatalogOptions {
  /** URL or file path of a list in the format of models.dev. Defaults to the public list. */
  readonly source?: string;
  /** URL or file path of a price map of litellm, which completes the list and overrides its prices. */
  readonly priceMap?: string;
  /** The name of the source in the catalog. Defaults to the URLs or file names, and the date. */
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
 * Provider rows are reviewed by hand and never written. If any step fails, the target is unchanged.
 */
export async function importCatalog(options: ImportCatalogOptions): Promise<ImportOutcome> {
  const source = options.source ?? DEFAULT_CATALOG_SOURCE;
  const directory = options.catalogDirectory ?? SHIPPED_CATALOG_DIRECTORY;
  try {
    const texts = await readSources({ ...options, source });
    if ("refused" in texts) return reject(texts.source, texts.refused);
    const rules = parseImportRules(readFileSync(join(directory, "import-rules.json"), "utf8"));
    const known = options.priceMap === undefined ? loadShippedCatalog(directory).models : [];
    const imported = importModels({ ...texts, known }, rules);
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

/** Reads the texts of the sources, or returns why one of them cannot be read. */
async function readSources({
  source,
  priceMap,
  fetchSource = createFetchSource(),
  clock = systemClock,
}: ImportCatalogOptions & { readonly source: string }): Promise<
  ImportSources | { readonly source: string; readonly refused: string }
> {
  const list = await readSource(source, fetchSource);
  if ("refused" in list) return { source, refused: list.refused };
  if (priceMap === undefined) return { list: list.text };
  const map = await readSource(priceMap, fetchSource);
  if ("refused" in map) return { source: priceMap, refused: map.refused };
  return { list: list.text, priceMap: { text: map.text, today: dateOf(clock.now()) } };
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
  {
    target,
    label,
    source = DEFAULT_CATALOG_SOURCE,
    priceMap,
    clock = systemClock,
    dryRun,
  }: ImportCatalogOptions,
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
  await target.write({ source: label ?? labelSources([source, priceMap], clock.now()), models });
  return { ok: true, written: true, lines: [...lines, `written to ${target.location}`] };
}
