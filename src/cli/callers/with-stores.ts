import type { Config } from "../../app/config/config-schema.ts";
import { loadConfig } from "../../app/config/load-config.ts";
import type { Stores } from "../../app/stores/stores.ts";
import { print } from "../render/print.ts";
import { openCommandStores } from "./command-stores.ts";

/** Opens the configured stores, runs a command on them, and prints what it returns, if that is not empty. A gateway may be running on the same stores. */
export async function withStores(run: (stores: Stores, config: Config) => Promise<string>): Promise<void> {
  const config = loadConfig(process.env);
  const stores = await openCommandStores(config);
  try {
    const output = await run(stores, config);
    print(output);
  } finally {
    await stores.close();
  }
}
