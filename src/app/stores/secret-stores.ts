import type { Stores } from "./stores.ts";

/** The stores with secrets that the master key encrypts. */
export type SecretStores = Pick<Stores, "config" | "providerKeys" | "promptLog" | "responses">;

/** Returns the ids of the master keys that encrypt at least one secret of the stores. */
export async function listMasterKeysInUse({
  config,
  providerKeys,
  promptLog,
  responses,
}: SecretStores): Promise<readonly string[]> {
  const inUse = [config, providerKeys, promptLog, responses].map((store) => store.listMasterKeysInUse());
  return [...new Set((await Promise.all(inUse)).flat())];
}
