import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { dateOf } from "../base/time.ts";
import type { FetchedSource, FetchSource } from "./fetch-source.ts";

/** The public list of models the catalog is kept from. */
export const DEFAULT_CATALOG_SOURCE = "https://models.dev/api.json";

/** A source's text: fetched from an address, or read from a file. Never throws. */
export async function readSource(source: string, fetchSource: FetchSource): Promise<FetchedSource> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) return fetchSource(source);
  try {
    return { text: readFileSync(source, "utf8") };
  } catch (error) {
    return { refused: `cannot be read: ${(error as Error).message}` };
  }
}

/** What a source is called in the catalog: its address or file name, and the day. */
export function labelSource(source: string, now: number): string {
  return `${source.includes("://") ? source : basename(source)}, ${dateOf(now)}`;
}
