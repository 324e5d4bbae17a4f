import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dateOf } from "../../base/time/time.ts";
import type { RefreshReport, Verdict } from "../../core/catalog/refresh/catalog-manager.ts";
import type { CatalogStore, RefreshState } from "../../core/catalog/refresh/catalog-store.ts";
import { diffCatalogs, isEmptyDiff, presentDiff } from "../../core/catalog/refresh/diff-catalog.ts";
import { type ImportSources, importModels } from "../../core/catalog/refresh/import-models-dev.ts";
import { parseImportRules } from "../../core/catalog/refresh/import-rules.ts";
import { type HeldChange, mergeRefresh, withTerms } from "../../core/catalog/refresh/merge-refresh.ts";
import { findModelProblems } from "../../core/catalog/served/validate-catalog.ts";
import { findImportFault } from "./check-import.ts";
import { createFetchSource } from "./fetch-source.ts";
import { loadCatalog, loadShippedCatalog } from "./load-catalog.ts";
import { labelSources, readSource } from "./read-source.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "./shipped-files.ts";

/** The parameters of a refresh: plain data, so that they can be passed to another thread. */
export interface RefreshJob {
  /** URL or file path. */
  readonly source: string;
  /** URL or file path of a price map; null without one. */
  readonly priceMap?: string | null;
  /** A plain decimal; price changes by more than this factor are held. */
  readonly factor: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Reports what would change and writes nothing. */
  readonly dryRun: boolean;
  /** Upper bound of the source's size in bytes. Defaults to that of `createFetchSource`. */
  readonly maxBytes?: number;
}

/** Lines of a difference that are stored and shown. */
const MAX_DIFF_LINES = 500;
const MAX_PROBLEM_CHARS = 2_000;

/**
 * Reads and checks the source, merges it with the stored catalog, and stores the result with the held changes. If any step fails, the
 * stored catalog is unchanged. The caller must hold the refresh lock.
 */
export async function refreshCatalog(store: CatalogStore, job: RefreshJob): Promise<RefreshReport> {
  const state = await store.readRefreshState();
  const refresh = { store, job, state };
  try {
    const bounds = job.maxBytes === undefined ? {} : { bytes: job.maxBytes };
    const source = await readSource(job.source, createFetchSource(bounds));
    if ("refused" in source) return await reject(refresh, source.refused);
    if (job.priceMap == null) return await mergeSource(refresh, { list: source.text });
    const map = await readSource(job.priceMap, createFetchSource(bounds));
    if ("refused" in map)
      return await reject(refresh, `with the price map ${job.priceMap} that ${map.refused}`);
    const priceMap = { text: map.text, today: dateOf(job.now) };
    return await mergeSource(refresh, { list: source.text, priceMap });
  } catch (error) {
    return await reject(refresh, `cannot be merged: ${(error as Error).message}`);
  }
}

interface Refresh {
  readonly store: CatalogStore;
  readonly job: RefreshJob;
  /** The state before the refresh. */
  readonly state: RefreshState;
}

async function reject({ store, job, state }: Refresh, reason: string): Promise<RefreshReport> {
  const problem = `${job.source} ${reason}`.slice(0, MAX_PROBLEM_CHARS);
  if (!job.dryRun) await store.writeRefreshState({ ...state, attemptedAt: job.now, problem });
  return { ok: false, written: false, problem, lines: [], added: 0, changed: 0, waiting: [] };
}

async function mergeSource(refresh: Refresh, texts: ImportSources): Promise<RefreshReport> {
  const { store, job, state } = refresh;
  const rules = parseImportRules(readFileSync(join(SHIPPED_CATALOG_DIRECTORY, "import-rules.json"), "utf8"));
  const { data } = await loadCatalog(store);
  const hasPriceMap = texts.priceMap !== undefined;
  // models.dev does not say what models take: without a price map the facts that ship with the program apply.
  const known = hasPriceMap ? [] : loadShippedCatalog().models;
  const imported = importModels({ ...texts, known }, rules);
  if ("rejected" in imported) return reject(refresh, imported.rejected);
  const listed = data.models.filter(({ endpoints }) =>
    endpoints.some(({ missingSince }) => missingSince === undefined),
  );
  const fault = findImportFault(imported.models, listed, data.providers);
  if (fault !== null) return reject(refresh, fault);
  const { models, waiting, rejected } = mergeRefresh(data.models, imported.models, {
    ...job,
    ...state,
    hasPriceMap,
  });
  const problems = findModelProblems(models, data.providers);
  if (problems.length > 0) return reject(refresh, `does not fit the catalog: ${problems.join("; ")}`);
  const diff = diffCatalogs(data.models, models);
  const isEmpty = isEmptyDiff(diff);
  const lines = truncateLines(presentDiff(diff));
  const written = !job.dryRun && !isEmpty;
  if (written)
    await store.writeCatalog({ source: labelSources([job.source, job.priceMap], job.now), models });
  if (!job.dryRun)
    await store.writeRefreshState({
      attemptedAt: job.now,
      refreshedAt: job.now,
      problem: null,
      difference: isEmpty ? state.difference : lines,
      waiting,
      rejected,
    });
  const { added, changed } = diff;
  return { ok: true, written, problem: null, lines, added: added.length, changed: changed.length, waiting };
}

function truncateLines(lines: readonly string[]): string[] {
  if (lines.length <= MAX_DIFF_LINES) return [...lines];
  return [...lines.slice(0, MAX_DIFF_LINES), `and ${lines.length - MAX_DIFF_LINES} more`];
}

/**
 * Approves or rejects one held change, or all of them. Returns the changes decided on; null if there is no change with this id. The caller
 * must hold the refresh lock.
 */
export async function decideHeld(
  store: CatalogStore,
  id: string | "all",
  verdict: Verdict,
): Promise<readonly HeldChange[] | null> {
  const state = await store.readRefreshState();
  const all = id === "all" ? state.waiting : [...state.waiting, ...state.rejected];
  const decided = id === "all" ? all : all.filter((change) => change.id === id);
  if (decided.length === 0) return id === "all" ? [] : null;
  // The prices come first: after a crash in between the change is still listed and can be approved again.
  if (verdict === "approve") await applyChanges(store, decided);
  const isLeft = (change: HeldChange) => !decided.includes(change);
  const rejected = state.rejected.filter(isLeft);
  await store.writeRefreshState({
    ...state,
    waiting: state.waiting.filter(isLeft),
    rejected: verdict === "reject" ? [...rejected, ...decided] : rejected,
  });
  return decided;
}

async function applyChanges(store: CatalogStore, changes: readonly HeldChange[]): Promise<void> {
  const { data } = await loadCatalog(store);
  const models = data.models.map((model) => {
    const own = changes.filter((change) => change.model === model.id);
    if (own.length === 0) return model;
    const endpoints = model.endpoints.map((endpoint) => {
      const change = own.find(
        ({ provider, name }) => provider === endpoint.provider && name === endpoint.name,
      );
      return change === undefined ? endpoint : withTerms(endpoint, change.after);
    });
    return { ...model, endpoints };
  });
  await store.writeCatalog({ source: data.source, models });
}
