/** The worker that checks the ledger of a data directory: reading all transfers would block the event loop for seconds. */
import { systemClock } from "../base/clock.ts";
import { createSystemRandom } from "../base/random.ts";
import { checkLedger } from "../core/ledger/check-ledger.ts";
import { openSqliteStores } from "./open-sqlite-stores.ts";

/** The result: how many inconsistencies there are, or why it is not known. */
export type LedgerCheckAnswer = { readonly differences: number } | { readonly problem: string };

declare const self: Worker;

self.onmessage = async ({ data: dataDir }: MessageEvent<string>) => {
  self.postMessage(await check(dataDir));
};

async function check(dataDir: string): Promise<LedgerCheckAnswer> {
  try {
    const platform = { clock: systemClock, random: createSystemRandom() };
    const stores = openSqliteStores({ data_dir: dataDir }, platform);
    try {
      const { ledger, usage } = stores;
      return { differences: (await checkLedger(ledger, usage, stores.listDamagedLines())).length };
    } finally {
      await stores.close();
    }
  } catch (error) {
    return { problem: String(error) };
  }
}
