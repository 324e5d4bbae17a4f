import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatModels, groupByAuthor } from "../../core/catalog/records/format-catalog.ts";
import type { ModelRecord, ProviderRecord } from "../../core/catalog/records/records.ts";
import type { CatalogStore } from "../../core/catalog/refresh/catalog-store.ts";
import { findModelProblems, type ImportedCatalog } from "../../core/catalog/served/validate-catalog.ts";
import { writeFileAtomically } from "../../storage/files/write-file-atomically.ts";
import { loadShippedCatalog } from "./load-catalog.ts";

/** Where an import writes to. */
export interface ImportTarget {
  /** Names the target in messages. */
  readonly location: string;
  /** Returns the valid models that the target holds; null without any. */
  readModels(providers: readonly ProviderRecord[]): Promise<readonly ModelRecord[] | null>;
  /** Replaces the models atomically. */
  write(catalog: ImportedCatalog): Promise<void>;
}

/** An import for the gateways that share a store. */
export function createStoreTarget(store: CatalogStore): ImportTarget {
  return {
    location: store.location,
    async readModels(providers) {
      const models = (await store.readCatalog())?.value?.models ?? null;
      return models === null || findModelProblems(models, providers).length > 0 ? null : models;
    },
    write: (catalog) => store.writeCatalog(catalog),
  };
}

/** An import into the models of a catalog directory, which the project ships. */
export function createDirectoryTarget(directory: string): ImportTarget {
  return {
    location: directory,
    readModels: async () => (isCatalogDirectory(directory) ? loadShippedCatalog(directory).models : []),
    async write({ source, models }) {
      replaceModels(join(directory, "models"), models);
      writeFileAtomically(join(directory, "origin.json"), `${JSON.stringify({ source }, null, 2)}\n`);
    },
  };
}

function isCatalogDirectory(directory: string): boolean {
  return statSync(join(directory, "origin.json"), { throwIfNoEntry: false }) !== undefined;
}

/** Completes the new files in a folder of their own before it replaces the old one. */
function replaceModels(directory: string, models: readonly ModelRecord[]): void {
  const fresh = `${directory}.${process.pid}.tmp`;
  const old = `${directory}.${process.pid}.old`;
  try {
    mkdirSync(fresh, { recursive: true });
    for (const [author, group] of groupByAuthor(models))
      writeFileSync(join(fresh, `${author}.json`), formatModels(group), { flush: true });
    swapIn(fresh, directory, old);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  rmSync(old, { recursive: true, force: true });
}

function swapIn(fresh: string, directory: string, old: string): void {
  const exists = statSync(directory, { throwIfNoEntry: false }) !== undefined;
  if (exists) renameSync(directory, old);
  try {
    renameSync(fresh, directory);
  } catch (error) {
    if (exists) renameSync(old, directory);
    throw error;
  }
}
