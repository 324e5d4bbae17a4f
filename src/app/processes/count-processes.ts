import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Config } from "../config/config-schema.ts";
import type { MasterKeyConfig } from "../stores/open-master-keys.ts";

/** Returns how many gateway processes to run. Only processes that share a database can be several. */
export function countProcesses({ server: { processes }, database }: Config): number {
  if (processes !== "auto") return processes;
  return database.url === undefined ? 1 : availableParallelism();
}

/**
 * Returns the configuration of process `index` of several. Its data directory is a subfolder of the configured one, which contains the
 * generated master keys of all processes.
 */
export function configOfProcess(config: Config, index: number): Config & Pick<MasterKeyConfig, "keys_dir"> {
  return { ...config, data_dir: join(config.data_dir, `process-${index}`), keys_dir: config.data_dir };
}
