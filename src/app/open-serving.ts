import { statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../base/log.ts";
import { dateOf } from "../base/time.ts";
import { findNextTurn } from "../core/catalog/expiry.ts";
import type { CatalogData } from "../core/catalog/records.ts";
import type { Serving } from "../core/generation/call.ts";
import { type BuiltServing, buildServing, type ServingSources } from "./build-serving.ts";
import { checkConfigNames } from "./check-config-names.ts";
import { loadCatalog, OVERRIDE_FILE } from "./load-catalog.ts";
import { ConfigError } from "./load-config.ts";

/** What is served now; `refresh` looks whether a new catalog was written, or a day has come that changes prices or ends a model. */
export interface ServingSource {
  current(): Serving;
  /** What the operator should know. */
  readonly notices: readonly string[];
  /** Takes a new catalog up; a damaged one changes nothing and is told to the log. Never throws. */
  refresh(): Promise<void>;
}

/**
 * Loads the catalog and joins it with the operator's keys.
 * @throws ConfigError, also for an override that cannot be applied and for a policy that names what is not known.
 */
export function openServing(sources: ServingSources, log: Log): ServingSource {
  const dataDirectory = sources.config.data_dir;
  const file = join(dataDirectory, OVERRIDE_FILE);
  let seen = stampOf(file);
  const first = loadCatalog({ dataDirectory });
  for (const problem of first.problems) log.warn("the imported catalog is not used", { detail: problem });
  let data = first.data;
  let serving = buildServing(data, sources);
  const { notices, overrideProblems } = serving;
  if (overrideProblems.length > 0) throw new ConfigError(overrideProblems.join("\n"));
  checkConfigNames(sources.config, serving);
  let nextDay = findNextDay(serving);
  let running: Promise<void> | null = null;

  const swap = (fresh: CatalogData): void => {
    data = fresh;
    serving = buildServing(data, sources);
    nextDay = findNextDay(serving);
    for (const problem of serving.overrideProblems)
      log.warn("an override does not fit the catalog any more and is left out", { detail: problem });
  };
  const takeUp = async (stamp: string): Promise<void> => {
    seen = stamp;
    try {
      const loaded = loadCatalog({ dataDirectory });
      if (loaded.problems.length > 0) {
        log.warn("the imported catalog is not used; the one before stays", {
          detail: loaded.problems.join("; "),
        });
        return;
      }
      // Requests have their turn between reading and joining.
      await new Promise((resolve) => setImmediate(resolve));
      swap(loaded.data);
      log.info("catalog refreshed", { source: data.source, models: data.models.length });
    } catch (error) {
      log.warn("the catalog could not be refreshed; the one before stays", { detail: String(error) });
    }
  };
  return {
    current: () => serving,
    notices,
    async refresh() {
      await running;
      const stamp = stampOf(file);
      if (stamp !== seen) {
        running = takeUp(stamp);
        await running;
        running = null;
      } else if (nextDay !== null && dateOf(sources.clock.now()) >= nextDay) swap(data);
    },
  };
}

function findNextDay({ catalog, servedModels }: BuiltServing): string | null {
  return findNextTurn(catalog.models, servedModels.day);
}

/** Changes when a file is written, made or removed, and when the disk begins or ceases to refuse it. */
function stampOf(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat === undefined ? "" : `${stat.mtimeMs}/${stat.size}/${stat.ino}`;
  } catch (error) {
    // Reading it then fails too, and that is told to the log.
    return `refused: ${(error as NodeJS.ErrnoException).code}`;
  }
}
