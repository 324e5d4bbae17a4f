import { statSync } from "node:fs";
import { join } from "node:path";
import type { Serving } from "../core/generation/call.ts";
import type { Log } from "../core/ports/log.ts";
import { buildServing, type ServingSources } from "./build-serving.ts";
import { loadCatalog, OVERRIDE_FILE } from "./load-catalog.ts";

/** What is served now; `refresh` looks whether an import has brought a new catalog. */
export interface ServingSource {
  current(): Serving;
  /** What the operator should know. */
  readonly notices: readonly string[];
  /** Takes a new catalog up; a damaged one changes nothing and is told to the log. */
  refresh(): void;
}

/**
 * Loads the catalog and joins it with the operator's keys.
 * @throws ConfigError
 */
export function openServing(sources: ServingSources, log: Log): ServingSource {
  const dataDirectory = sources.config.data_dir;
  const file = join(dataDirectory, OVERRIDE_FILE);
  let seen = stampOf(file);
  const first = loadCatalog({ dataDirectory });
  for (const problem of first.problems) log.warn("the imported catalog is not used", { detail: problem });
  const built = buildServing(first.data, sources);
  let serving: Serving = built;
  return {
    current: () => serving,
    notices: built.notices,
    refresh() {
      const stamp = stampOf(file);
      if (stamp === seen) return;
      seen = stamp;
      try {
        const loaded = loadCatalog({ dataDirectory });
        if (loaded.problems.length > 0) {
          log.warn("the imported catalog is not used; the one before stays", {
            detail: loaded.problems.join("; "),
          });
          return;
        }
        serving = buildServing(loaded.data, sources);
        log.info("catalog refreshed", { source: loaded.data.source, models: loaded.data.models.length });
      } catch (error) {
        log.warn("the catalog could not be refreshed; the one before stays", { detail: String(error) });
      }
    },
  };
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
