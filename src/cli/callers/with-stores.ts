import type { Config } from "../../app/config-schema.ts";
import { loadConfig } from "../../app/load-config.ts";
import { loadKnownNames } from "../../app/load-known-names.ts";
import type { Stores } from "../../app/stores.ts";
import type { KnownNames } from "../../core/catalog/known-names.ts";
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

/** The stores, and the names of models and providers that commands may store in them. */
export interface NamedStores {
  readonly stores: Stores;
  readonly known: () => KnownNames;
}

/** Like `withStores`, for commands that check names of models and providers against the catalog. */
export function withNames(run: (named: NamedStores) => Promise<string>): Promise<void> {
  return withStores(async (stores, config) => {
    const known = await loadKnownNames(config, process.env, stores);
    return run({ stores, known: () => known });
  });
}
