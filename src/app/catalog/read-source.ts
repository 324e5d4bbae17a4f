import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { dateOf } from "../../base/time/time.ts";
import { type FetchedSource, type FetchSource, SOURCE_BYTES } from "./fetch-source.ts";

/** The public list of models that the catalog is refreshed from by default. */
export const DEFAULT_CATALOG_SOURCE = "https://models.dev/api.json";

/** Reads the text of a source: a URL or a file path. Never throws. */
export async function readSource(source: string, fetchSource: FetchSource): Promise<FetchedSource> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) return fetchSource(source);
  try {
    if (statSync(source).size > SOURCE_BYTES) return { refused: `is larger than ${SOURCE_BYTES} bytes` };
    return { text: readFileSync(source, "utf8") };
  } catch (error) {
    return { refused: `cannot be read: ${(error as Error).message}` };
  }
}

/** Returns the name of the sources in the catalog: their URLs or file names, and the date. */
export function labelSources(sources: readonly (string | null | undefined)[], now: number): string {
  const names = sources.flatMap((source) =>
    source == null ? [] : [source.includes("://") ? source : basename(source)],
  );
  return `${names.join(" and ")}, ${dateOf(now)}`;
}
