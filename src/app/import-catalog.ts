import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { diffCatalogs, isEmptyDiff, presentDiff } from "../core/catalog/diff-catalog.ts";
import { formatModels, formatOverride, groupByAuthor } from "../core/catalog/format-catalog.ts";
import { type Imported, importModelsDev } from "../core/catalog/import-models-dev.ts";
import { parseImportRules } from "../core/catalog/import-rules.ts";
import type { ModelRecord, ProviderRecord } from "../core/catalog/records.ts";
import { findModelProblems, parseOverride } from "../core/catalog/validate-catalog.ts";
import { countPriced, findImportFault } from "./check-import.ts";
import { createFetchSource, type FetchSource } from "./fetch-source.ts";
import { loadCatalog, loadProviders, SHIPPED_CATALOG_DIRECTORY } from "./load-catalog.ts";
import { DEFAULT_CATALOG_SOURCE, labelSource, readSource } from "./read-source.ts";
import { writeWhole } from "./write-whole.ts";

export interface ImportCatalogOptions {
  /** Address or file path of a list in the shape of models.dev. Default: the public one. */
  readonly source?: string;
  /** What the source is called in the catalog. Default: its address or file name, and the day. */
  readonly label?: string;
  /**
   * Where the result goes: a catalog directory (its `models/` is replaced), or a `.json` file, which is what the
   * data directory's override is.
   */
  readonly target: string;
  /** Say what would change and write nothing. */
  readonly dryRun?: boolean;
  readonly fetchSource?: FetchSource;
  /** Where the provider rows and the import rules stand. Default: the shipped catalog. */
  readonly catalogDirectory?: string;
  readonly clock?: Clock;
}

/** What came of an import; `lines` is what to print. A failed import has changed nothing. */
export interface ImportOutcome {
  readonly ok: boolean;
  readonly written: boolean;
  readonly lines: readonly string[];
}

/**
 * Reads a source, turns it into models by the reviewed rules, holds them against what is there, and writes them.
 * Provider rows are reviewed by hand and never written. Every way this can fail leaves the target as it was.
 */
export async function importCatalog(options: ImportCatalogOptions): Promise<ImportOutcome> {
  const source = options.source ?? DEFAULT_CATALOG_SOURCE;
  const directory = options.catalogDirectory ?? SHIPPED_CATALOG_DIRECTORY;
  try {
    const text = await readSource(source, options.fetchSource ?? createFetchSource());
    if ("refused" in text) return refuse(source, text.refused);
    const rules = parseImportRules(readFileSync(join(directory, "import-rules.json"), "utf8"));
    const imported = importModelsDev(text.text, rules);
    if ("refused" in imported) return refuse(source, imported.refused);
    const providers = loadProviders(directory);
    const before = readTarget(options.target, directory, providers);
    const fault = findImportFault(imported.models, before.models, providers);
    if (fault !== null) return refuse(source, fault);
    return finish(
      options,
      imported,
      before,
      options.label ?? labelSource(source, (options.clock ?? systemClock).now()),
    );
  } catch (error) {
    return refuse(source, (error as Error).message);
  }
}

function refuse(source: string, reason: string): ImportOutcome {
  return { ok: false, written: false, lines: [`${source} ${reason}`, "nothing was changed"] };
}

/** The models the import is held against. */
interface Before {
  readonly models: readonly ModelRecord[];
  /** They stand in the target itself; else they are the shipped ones. */
  readonly inTarget: boolean;
}

function readTarget(target: string, directory: string, providers: readonly ProviderRecord[]): Before {
  if (!isFileTarget(target)) {
    if (!isCatalogDirectory(target)) return { models: [], inTarget: false };
    return { models: loadCatalog({ catalogDirectory: target }).data.models, inTarget: true };
  }
  const override = readOverride(target);
  if (override !== null && findModelProblems(override, providers).length === 0) {
    return { models: override, inTarget: true };
  }
  return { models: loadCatalog({ catalogDirectory: directory }).data.models, inTarget: false };
}

function readOverride(file: string): readonly ModelRecord[] | null {
  try {
    return parseOverride(file, readFileSync(file, "utf8")).value?.models ?? null;
  } catch {
    return null;
  }
}

function isFileTarget(target: string): boolean {
  return target.endsWith(".json");
}

function isCatalogDirectory(target: string): boolean {
  return statSync(join(target, "origin.json"), { throwIfNoEntry: false }) !== undefined;
}

function finish(
  options: ImportCatalogOptions,
  imported: Extract<Imported, { models: unknown }>,
  before: Before,
  label: string,
): ImportOutcome {
  const { models } = imported;
  const diff = diffCatalogs(before.models, models);
  const lines = [
    `${models.length} models, ${countPriced(models)} with a price`,
    ...Object.entries(imported.leftOut).map(([reason, count]) => `left out: ${count}, ${reason}`),
    ...imported.problems.map((problem) => `note: ${problem}`),
    ...presentDiff(diff),
  ];
  if (options.dryRun === true)
    return { ok: true, written: false, lines: [...lines, "dry run: nothing was changed"] };
  if (isEmptyDiff(diff) && before.inTarget)
    return { ok: true, written: false, lines: [...lines, "nothing to change"] };
  writeTarget(options.target, label, models);
  return { ok: true, written: true, lines: [...lines, `written to ${options.target}`] };
}

function writeTarget(target: string, label: string, models: readonly ModelRecord[]): void {
  if (isFileTarget(target)) {
    writeWhole(target, formatOverride(label, models));
    return;
  }
  replaceModels(join(target, "models"), models);
  writeWhole(join(target, "origin.json"), `${JSON.stringify({ source: label }, null, 2)}\n`);
}

/** The new files are complete in a folder beside it before the old folder makes room. */
function replaceModels(directory: string, models: readonly ModelRecord[]): void {
  const fresh = `${directory}.${process.pid}.tmp`;
  const old = `${directory}.${process.pid}.old`;
  try {
    mkdirSync(fresh, { recursive: true });
    for (const [author, group] of groupByAuthor(models)) {
      writeFileSync(join(fresh, `${author}.json`), formatModels(group), { flush: true });
    }
    swapIn(fresh, directory, old);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  rmSync(old, { recursive: true, force: true });
}

function swapIn(fresh: string, directory: string, old: string): void {
  const there = statSync(directory, { throwIfNoEntry: false }) !== undefined;
  if (there) renameSync(directory, old);
  try {
    renameSync(fresh, directory);
  } catch (error) {
    if (there) renameSync(old, directory);
    throw error;
  }
}
