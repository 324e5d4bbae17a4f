import { configSchema } from "../../../src/app/config/config-schema.ts";
import { openStores } from "../../../src/app/stores/open-stores.ts";
import type { Stores } from "../../../src/app/stores/stores.ts";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { copyMigratedDatabase } from "./sqlite-template.ts";
import { databaseVariables } from "./test-databases.ts";

/** Opens the stores of a data directory as a further process would, with the system's clock. */
export async function openTestStores(dataDir: string): Promise<Stores> {
  const { DATABASE_URL: url } = await databaseVariables(dataDir);
  if (url === undefined) copyMigratedDatabase(dataDir);
  const config = configSchema.parse({
    data_dir: dataDir,
    ...(url === undefined ? {} : { database: { url } }),
  });
  return openStores(config, { clock: systemClock, random: createSystemRandom() });
}
