import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../../app/config-schema.ts";
import { openStores } from "../../app/open-stores.ts";
import type { Stores } from "../../app/stores.ts";
import { systemClock } from "../../base/clock.ts";
import { createSystemRandom } from "../../base/random.ts";
import { confirm } from "../render/confirm.ts";
import { tell } from "../render/print.ts";

/**
 * Opens the configured stores for a command. On a terminal it says which data directory is used, and asks before it creates one: usually
 * the command runs in a wrong folder then. Without a terminal it creates one and says so on standard error.
 * @throws Error if the answer is no.
 */
export async function openCommandStores(config: Config): Promise<Stores> {
  if (config.database.url === undefined) await announceDataDirectory(resolve(config.data_dir));
  return openStores(config, { clock: systemClock, random: createSystemRandom() });
}

/** Says on standard error which PostgreSQL database a command has checked. */
export function tellDatabase({ location, schema }: Pick<Stores, "location" | "schema">): void {
  if (schema !== null) tell(`Database: ${location}, schema ${schema}`);
}

async function announceDataDirectory(folder: string): Promise<void> {
  if (hasData(folder)) {
    // Scripts that read the output need no such line.
    if (process.stdout.isTTY && process.stderr.isTTY) tell(`Data directory: ${folder}`);
    return;
  }
  const hint =
    "If yours is elsewhere, set GATEWAY_DATA_DIR, or run the command in the folder of gateway.yaml.";
  tell(`There is no data in ${folder}. ${hint}`);
  if (process.stdin.isTTY && !(await confirm("Create a new data directory there?")))
    throw new Error("Nothing was created.");
  tell(`Creating a new data directory: ${folder}`);
}

function hasData(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).includes("gateway.db");
}
