import { join } from "node:path";
import { AREAS } from "./areas.ts";
import { type Entry, formatEntry } from "./entry.ts";

const FOLDER = join(import.meta.dir, "../../docs/surface");

/** Returns the file of an area. */
export function surfaceFile(name: string, folder = FOLDER): string {
  return join(folder, `${name}.txt`);
}

/** Returns the text of the file with these entries. */
export function renderSurface(entries: Iterable<Entry>): string {
  const lines = new Set([...entries].map(formatEntry));
  return `${[...lines].sort().join("\n")}\n`;
}

/** Lists what the code promises: the text of each file of docs/surface that is listed from declarations, by its area. */
export async function listSurface(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const { name, list } of AREAS) files.set(name, renderSurface(await list()));
  return files;
}
