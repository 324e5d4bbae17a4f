import { loadConfig } from "../app/load-config.ts";
import { loadKnownNames } from "../app/load-known-names.ts";
import { openStores, type Stores } from "../app/wire-up.ts";
import { systemClock } from "../base/clock.ts";
import { createSystemRandom } from "../base/random.ts";
import type { KnownNames } from "../core/catalog/known-names.ts";

/**
 * Works on the stores of the configured data directory and prints what comes of it. A gateway may be running there. `known`
 * loads the models and providers that are known there, which takes a moment.
 */
export async function withStores(
  work: (stores: Stores, known: () => KnownNames) => Promise<string>,
): Promise<void> {
  const config = loadConfig(process.env);
  const stores = openStores(config.data_dir, systemClock, createSystemRandom());
  try {
    console.log(await work(stores, () => loadKnownNames(config, process.env, systemClock)));
  } finally {
    stores.close();
  }
}
