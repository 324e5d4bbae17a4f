import { resolve } from "node:path";
import type { Config } from "../../app/config/config-schema.ts";
import { explainFormer, findFormerDataDir, hasData } from "../../app/config/locate-data-dir.ts";
import { openStores } from "../../app/stores/open-stores.ts";
import type { Stores } from "../../app/stores/stores.ts";
import { createSystemRandom } from "../../base/secrets/random.ts";
import { systemClock } from "../../base/time/clock.ts";
import { tell } from "../render/print.ts";

/**
 * Opens the configured stores for a command. On a terminal, prints which data directory is used.
 * @throws Error if there is no data: the command probably runs in a wrong folder, and must not create a new data directory.
 */
export async function openCommandStores(config: Config): Promise<Stores> {
  if (config.database.url === undefined) requireData(config);
  return openStores(config, { clock: systemClock, random: createSystemRandom() });
}

function requireData(config: Config): void {
  const folder = resolve(config.data_dir);
  if (!hasData(folder)) {
    const former = findFormerDataDir(config);
    throw new Error(former === null ? explainMissing(folder) : explainFormer(config, former));
  }
  // Scripts that read the output need no such line.
  if (process.stdout.isTTY && process.stderr.isTTY) tell(`Data directory: ${folder}`);
}

function explainMissing(folder: string): string {
  return `There is no data in ${folder}. If yours is elsewhere, set GATEWAY_DATA_DIR, or run the command in the folder of gateway.yaml. \`gateway start\` or \`gateway migrate\` creates a new data directory.`;
}
