import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RefreshReport, Verdict } from "../core/catalog/catalog-keeper.ts";
import { diffCatalogs, isEmptyDiff, presentDiff } from "../core/catalog/diff-catalog.ts";
import { formatOverride } from "../core/catalog/format-catalog.ts";
import { importModelsDev } from "../core/catalog/import-models-dev.ts";
import { parseImportRules } from "../core/catalog/import-rules.ts";
import { type HeldChange, mergeRefresh, withTerms } from "../core/catalog/merge-refresh.ts";
import type { ModelRecord } from "../core/catalog/records.ts";
import { findModelProblems } from "../core/catalog/validate-catalog.ts";
import { findImportFault } from "./check-import.ts";
import { createFetchSource } from "./fetch-source.ts";
import { loadCatalog, OVERRIDE_FILE, SHIPPED_CATALOG_DIRECTORY } from "./load-catalog.ts";
import { labelSource, readSource } from "./read-source.ts";
import { type RefreshState, readRefreshState, writeRefreshState } from "./refresh-state.ts";
import { writeWhole } from "./write-whole.ts";

/** What a refresh takes; plain data, so that another thread can do it. */
export interface RefreshJob {
  readonly dataDirectory: string;
  /** Address or file. */
  readonly source: string;
  /** A plain decimal; prices that change by more wait. */
  readonly factor: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Say what would change and write nothing. */
  readonly dryRun: boolean;
  /** Largest source. Bytes; the usual bound when left out. */
  readonly maxBytes?: number;
}

/** Lines of a difference that are kept and shown. */
const KEPT_LINES = 500;
const REASON_CHARS = 2_000;

/**
 * Reads the source, checks it, joins it with the catalog of the data directory and writes that anew, with what waits beside
 * it. Every way in which this can fail leaves the catalog as it was. The caller holds the lock of the directory's refreshes.
 */
export async function refreshCatalog(job: RefreshJob): Promise<RefreshReport> {
  const state = readRefreshState(job.dataDirectory);
  try {
    const bounds = job.maxBytes === undefined ? {} : { bytes: job.maxBytes };
    const source = await readSource(job.source, createFetchSource(bounds));
    if ("refused" in source) return refuse(job, state, source.refused);
    return takeOver(job, state, source.text);
  } catch (error) {
    return refuse(job, state, `cannot be taken over: ${(error as Error).message}`);
  }
}

function refuse(job: RefreshJob, state: RefreshState, reason: string): RefreshReport {
  const problem = `${job.source} ${reason}`.slice(0, REASON_CHARS);
  if (!job.dryRun) writeRefreshState(job.dataDirectory, { ...state, attemptedAt: job.now, problem });
  return { ok: false, written: false, problem, lines: [], added: 0, changed: 0, waiting: [] };
}

function takeOver(job: RefreshJob, state: RefreshState, text: string): RefreshReport {
  const rules = parseImportRules(readFileSync(join(SHIPPED_CATALOG_DIRECTORY, "import-rules.json"), "utf8"));
  const imported = importModelsDev(text, rules);
  if ("refused" in imported) return refuse(job, state, imported.refused);
  const { data } = loadCatalog({ dataDirectory: job.dataDirectory });
  const listed = data.models.filter(({ endpoints }) =>
    endpoints.some(({ missingSince }) => missingSince === undefined),
  );
  const fault = findImportFault(imported.models, listed, data.providers);
  if (fault !== null) return refuse(job, state, fault);
  const { models, waiting, rejected } = mergeRefresh(data.models, imported.models, { ...job, ...state });
  const problems = findModelProblems(models, data.providers);
  if (problems.length > 0) return refuse(job, state, `does not fit the catalog: ${problems.join("; ")}`);
  const diff = diffCatalogs(data.models, models);
  const written = !job.dryRun && !isEmptyDiff(diff);
  const lines = bound(presentDiff(diff));
  if (written) writeModels(job, models);
  if (!job.dryRun) {
    const { now } = job;
    const difference = isEmptyDiff(diff) ? state.difference : lines;
    const kept = { attemptedAt: now, refreshedAt: now, problem: null, difference, waiting, rejected };
    writeRefreshState(job.dataDirectory, kept);
  }
  const { added, changed } = diff;
  return { ok: true, written, problem: null, lines, added: added.length, changed: changed.length, waiting };
}

function bound(lines: readonly string[]): string[] {
  if (lines.length <= KEPT_LINES) return [...lines];
  return [...lines.slice(0, KEPT_LINES), `and ${lines.length - KEPT_LINES} more`];
}

function writeModels(
  { dataDirectory, source, now }: Pick<RefreshJob, "dataDirectory" | "source" | "now">,
  models: readonly ModelRecord[],
): void {
  writeWhole(join(dataDirectory, OVERRIDE_FILE), formatOverride(labelSource(source, now), models));
}

/**
 * Decides on one change that waits or was rejected, or on all that wait. Null where there is no such change. The caller holds
 * the lock of the directory's refreshes.
 */
export function decideHeld(
  dataDirectory: string,
  id: string | "all",
  verdict: Verdict,
): readonly HeldChange[] | null {
  const state = readRefreshState(dataDirectory);
  const all = id === "all" ? state.waiting : [...state.waiting, ...state.rejected];
  const decided = id === "all" ? all : all.filter((change) => change.id === id);
  if (decided.length === 0) return id === "all" ? [] : null;
  if (verdict === "approve") putInForce(dataDirectory, decided);
  const isLeft = (change: HeldChange) => !decided.includes(change);
  const rejected = state.rejected.filter(isLeft);
  writeRefreshState(dataDirectory, {
    ...state,
    waiting: state.waiting.filter(isLeft),
    rejected: verdict === "reject" ? [...rejected, ...decided] : rejected,
  });
  return decided;
}

/** Before the change is off the list: broken off in between, it can be approved again. */
function putInForce(dataDirectory: string, changes: readonly HeldChange[]): void {
  const { data } = loadCatalog({ dataDirectory });
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
  writeWhole(join(dataDirectory, OVERRIDE_FILE), formatOverride(data.source, models));
}
