import { loadConfig } from "../app/load-config.ts";
import { openStores, type Stores } from "../app/wire-up.ts";
import { systemClock } from "../base/clock.ts";
import { createSystemRandom } from "../base/random.ts";

/** Works on the stores of the configured data directory and prints what comes of it. A gateway may be running there. */
export async function withStores(work: (stores: Stores) => Promise<string>): Promise<void> {
  const config = loadConfig(process.env);
  const stores = openStores(config.data_dir, systemClock, createSystemRandom());
  try {
    console.log(await work(stores));
  } finally {
    stores.close();
  }
}
