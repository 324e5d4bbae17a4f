import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { type ConfigOrigins, originsOf } from "./config-origins.ts";
import type { Config } from "./config-schema.ts";

/** Files and folders that a data directory has after its first start, on each database. */
const SIGNS = ["gateway.db", "lock.db", "process-0"];

/** Returns whether a folder is a data directory in which a gateway has started, or its tables were created. */
export function hasData(folder: string): boolean {
  return SIGNS.some((name) => existsSync(join(folder, name)));
}

/**
 * Returns the data directory of a configuration. If `data_dir` in the file is relative, it is relative to that file, so that commands in
 * other folders find the same directory. A relative value from the environment, and the default, are relative to the working directory.
 */
export function locateDataDir(
  dataDir: string,
  { source: { file, written }, variableAt }: ConfigOrigins,
): string {
  const isOfFile = written["data_dir"] !== undefined && !variableAt.has("data_dir");
  const folder = dirname(resolve(file));
  if (!isOfFile || isAbsolute(dataDir) || folder === process.cwd()) return dataDir;
  return join(folder, dataDir);
}

/**
 * Returns the folder to which a relative `data_dir` of the file led up to version 0.2, if that folder has data and the present one has
 * none; null otherwise.
 */
export function findFormerDataDir(config: Config): string | null {
  const written = originsOf(config)?.source.written["data_dir"];
  if (typeof written !== "string" || hasData(config.data_dir)) return null;
  const former = resolve(written);
  return former !== resolve(config.data_dir) && hasData(former) ? former : null;
}

/**
 * Rejects a data directory that was resolved differently up to version 0.2 and still has its data at the old location. Otherwise the
 * gateway would start with an empty database.
 * @throws Error that says what to do.
 */
export function rejectFormerDataDir(config: Config): void {
  const former = findFormerDataDir(config);
  if (former !== null) throw new Error(explainFormer(config, former));
}

/** Says where the data is, and what to do. */
export function explainFormer({ data_dir }: Config, former: string): string {
  return `The data is in ${former}, and data_dir is ${data_dir}: a relative data_dir is relative to its configuration file. Set data_dir: ${former}, or move the folder.`;
}
