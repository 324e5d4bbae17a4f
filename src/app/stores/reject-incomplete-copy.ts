import { COPY_SETTING } from "../../core/storage-copy/tables.ts";
import type { Stores } from "./stores.ts";

/**
 * Returns the stores. Closes them and rejects if they are the target of `gateway storage copy`, and not all rows have been copied.
 */
export async function rejectIncompleteCopy(stores: Stores): Promise<Stores> {
  if ((await stores.settings.findSetting(COPY_SETTING)) === null) return stores;
  await stores.close();
  throw new Error(
    `${stores.location} is an incomplete copy of another store; run \`gateway storage copy\` again to complete it`,
  );
}
