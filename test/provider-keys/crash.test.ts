import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Stores } from "../../src/app/stores/stores.ts";
import { USAGE_FRAME } from "../../src/core/usage/journal/journal-entry.ts";
import { recoverUsage } from "../../src/core/usage/journal/recover-usage.ts";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { openFileJournal } from "../../src/storage/journal/file-journal.ts";
import { NO_TOKENS } from "../../src/wire/conversation/usage.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

let dir: string;
let stores: Stores;

beforeEach(async () => {
  dir = makeTempFolder("gateway-byok-crash-");
  stores = await openTestStores(dir);
});
afterEach(async () => {
  await stores.close();
  rmSync(dir, { recursive: true, force: true });
});

test.each([
  [true, 0],
  [false, 30_000],
])(
  "a generation that a crash interrupted, with isByok %p, costs its account %i nanodollars",
  async (isByok, paid) => {
    const record = {
      ...NO_TOKENS,
      id: "gen_1",
      accountId: "user_1",
      model: "acme/model",
      outcome: "open",
      promptTokens: 10,
      completionTokens: 20,
      prices: { prompt: "0.000001", completion: "0.000001" },
      createdAt: 1,
      firstTokenAt: 2,
      isByok,
    } as UsageRecord;
    const before = openFileJournal(join(dir, "journal"));
    before.append(JSON.stringify(record), USAGE_FRAME);
    before.close();
    const journal = openFileJournal(join(dir, "journal"));
    await recoverUsage({ journal, store: stores.usage, gatewayId: "gateway_a", now: 3 });
    journal.close();
    expect(await stores.usage.findUsage("gen_1")).toMatchObject({
      outcome: "interrupted",
      isByok,
      costNanodollars: paid,
      upstreamCostNanodollars: 30_000,
    });
    expect((await stores.ledger.findBalance("user_1")).balance).toBe(paid === 0 ? 0 : -paid);
  },
);
