import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The checkout that this bench belongs to. */
export const ROOT = join(import.meta.dir, "../..");

/** Results, logs, data folders and installed programs; not in version control. */
export const OUT = join(ROOT, "bench/out");

const dataDirs = new Set<string>();

/** Creates a data folder on the repository's disk: the journal would cost less in a memory file system. It is removed with the bench. */
export function makeDataDir(): string {
  mkdirSync(OUT, { recursive: true });
  const dataDir = mkdtempSync(join(OUT, "data-"));
  dataDirs.add(dataDir);
  return dataDir;
}

/** Removes a data folder. */
export function removeDataDir(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true });
  dataDirs.delete(dataDir);
}

/** Removes the data of targets that were not stopped properly. */
export function removeDataDirs(): void {
  for (const dataDir of dataDirs) removeDataDir(dataDir);
}

/** Keeps a result in the folder of results, and returns its path. */
export async function keepResult(name: string, content: object): Promise<string> {
  mkdirSync(OUT, { recursive: true });
  const file = join(OUT, name);
  await Bun.write(file, `${JSON.stringify(content, null, 2)}\n`);
  return file;
}
