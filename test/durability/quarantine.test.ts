import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { USAGE_FRAME } from "../../src/core/usage/journal/journal-entry.ts";
import { openFileJournal } from "../../src/storage/journal/file-journal.ts";
import { openGatewayDatabase } from "../support/databases/gateway-database.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { eventually } from "../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { prepareData } from "../support/gateway/prepared-data.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage, withStoresOf } from "../support/money.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { documentOf, startVendor, USAGE, type Vendor } from "../support/vendors/vendor.ts";

const messages = [{ role: "user", content: "Hello!" }];
const DOLLAR = 1_000_000_000;
/** The cost of an answer with the vendor's usual token usage. Nanodollars. */
const COST = USAGE.prompt_tokens * 1_000 + USAGE.completion_tokens * 10_000;
const REASON = "this record is poison";

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
let elsewhere: Database;

function yamlFor(baseUrl: string): string {
  const prices = 'prices: {prompt: "0.000001", completion: "0.00001"}';
  return `
providers:
  mine: {base_url: "${baseUrl}", api_keys: [k], models: [{id: acme/good, ${prices}}, {id: acme/poison, ${prices}}]}`;
}

beforeEach(async () => {
  vendor = startVendor((call) => call.respond(200, documentOf("Alpha")));
  clock = createTestClock();
  gateway = await startTestGateway({ clock, yaml: yamlFor(vendor.baseUrl) });
  elsewhere = openGatewayDatabase(gateway.dataDir);
});
afterEach(async () => {
  elsewhere.close();
  await gateway.stop();
  vendor.stop();
});

/** Makes the store reject ended records of one model. */
function poisonStore(): void {
  elsewhere.exec(`CREATE TRIGGER poison BEFORE UPDATE ON generations
    WHEN NEW.record LIKE '%acme/poison%' AND NEW.outcome <> 'open'
    BEGIN SELECT RAISE(ABORT, '${REASON}'); END`);
  elsewhere.exec(`CREATE TRIGGER poison_new BEFORE INSERT ON generations
    WHEN NEW.record LIKE '%acme/poison%' AND NEW.outcome <> 'open'
    BEGIN SELECT RAISE(ABORT, '${REASON}'); END`);
}

async function letStoreBeTried(): Promise<void> {
  clock.advance(1_100);
  await turnEventLoop();
}

async function ask(key: string, model: string): Promise<string> {
  const response = await postChat(gateway, { model, messages }, { authorization: `Bearer ${key}` });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return response.headers.get("x-gateway-generation-id") as string;
}

async function addAccount(id: string): Promise<string> {
  const key = await addAccountWithKey(gateway, { id });
  await manage(gateway, `/accounts/${id}/credits`, { amount: 1 });
  return key;
}

const quarantinedLines = () =>
  gateway.log.filter(({ level, event }) => level === "error" && event.includes("quarantined"));

describe("a record that the store rejects", () => {
  test("only the rejected record is quarantined: its group is saved, the gateway stays ready, and the ledger check names it", async () => {
    poisonStore();
    const key = await addAccount("user_mixed");
    const ids: string[] = [];
    for (const model of ["acme/good", "acme/poison", "acme/good", "acme/good"])
      ids.push(await ask(key, model));
    await letStoreBeTried();
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    // Its cost is not charged, neither in memory nor in the store.
    expect(await balanceOf(gateway, "user_mixed")).toMatchObject({ balance: DOLLAR - 3 * COST, held: 0 });
    const [good, poison] = [ids.filter((_, at) => at !== 1), ids[1] as string];
    await withStoresOf(gateway, async ({ usage }) => {
      for (const id of good) expect(await usage.findUsage(id)).toMatchObject({ outcome: "completed" });
    });
    expect(await findLedgerProblems(gateway)).toEqual([
      {
        of: "quarantined",
        id: poison,
        difference_nanodollars: COST,
        reason: expect.stringContaining(REASON),
      },
    ]);
    expect(quarantinedLines().map(({ fields }) => fields)).toEqual([
      {
        generation_id: poison,
        account_id: "user_mixed",
        cost_nanodollars: COST,
        detail: expect.stringContaining(REASON),
      },
    ]);
    expect(elsewhere.query("SELECT count(*) AS n FROM generations WHERE outcome = 'open'").get()).toEqual({
      n: 0,
    });
  });

  test("later requests are admitted, also of the same account", async () => {
    poisonStore();
    const key = await addAccount("user_later");
    await ask(key, "acme/poison");
    await letStoreBeTried();
    for (let i = 0; i < 3; i++) await ask(key, "acme/good");
    await letStoreBeTried();
    expect((await balanceOf(gateway, "user_later")).balance).toBe(DOLLAR - 3 * COST);
  });

  test("nothing is quarantined while the store is unavailable", async () => {
    const key = await addAccount("user_away");
    elsewhere.exec("ALTER TABLE generations RENAME TO generations_away");
    await ask(key, "acme/poison");
    await letStoreBeTried();
    expect(await (await fetch(`${gateway.url}/readyz`)).json()).toMatchObject({ status: "degraded" });
    elsewhere.exec("ALTER TABLE generations_away RENAME TO generations");
    await letStoreBeTried();
    await eventually(
      "the store is written again",
      async () => !(await (await fetch(`${gateway.url}/readyz`)).text()).includes("degraded"),
    );
    expect(await findLedgerProblems(gateway)).toEqual([]);
    expect((await balanceOf(gateway, "user_away")).balance).toBe(DOLLAR - COST);
  });
});

describe("a journal with records that the store rejects", () => {
  /** Writes records as an earlier version did, which accepted all counts of vendors. */
  async function writeJournal(dataDir: string, records: readonly object[]): Promise<void> {
    const journal = openFileJournal(join(dataDir, "journal"));
    for (const record of records) journal.append(JSON.stringify(record), USAGE_FRAME);
    journal.close();
  }

  /** Starts on a data directory whose journal has these records between two valid ones. */
  async function startWith(records: (sound: Record<string, unknown>) => readonly object[]) {
    const data = await prepareData([{ overdraft: 0 }]);
    const key = data.keys[0]?.[0] ?? "";
    await ask(gateway.key, "acme/good");
    await letStoreBeTried();
    const row = elsewhere.query("SELECT record FROM generations").get() as { record: string };
    const sound = { ...JSON.parse(row.record), accountId: null, keyId: null };
    await writeJournal(data.dataDir, [
      { ...sound, id: "gen_sound_1" },
      ...records(sound),
      { ...sound, id: "gen_sound_2" },
    ]);
    return startTestGateway({ dataDir: data.dataDir, key, yaml: yamlFor(vendor.baseUrl) });
  }

  test.each<[string, Record<string, unknown>]>([
    ["ended with 1e19 tokens", { promptTokens: 1e19, costNanodollars: 1e22, accountId: "user_x" }],
    ["ended with a cost of 9e15 tokens", { promptTokens: 9e15, costNanodollars: 9e18, accountId: "user_x" }],
    ["searched 1e30 times", { searches: 1e30, costNanodollars: 1e37, accountId: "user_x" }],
    [
      "was open with 1e19 tokens",
      { outcome: "open", promptTokens: 1e19, completionTokens: 1e19, finishedAt: null },
    ],
    ["was open with half a token", { outcome: "open", promptTokens: 1.5, firstTokenAt: 1, finishedAt: null }],
    ["lacks fields", { createdAt: undefined }],
    ["has text instead of a number", { createdAt: "yesterday" }],
  ])("the gateway starts and quarantines a record that %s", async (_name, wrong) => {
    const second = await startWith((sound) => [{ ...sound, ...wrong, id: "gen_wrong" }]);
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
    const trouble = (await findLedgerProblems(second)) as { of: string; id: string; reason: string }[];
    expect(trouble).toMatchObject([{ of: "quarantined", id: "gen_wrong", reason: expect.any(String) }]);
    expect(second.log.filter(({ event }) => event.includes("quarantined"))).toHaveLength(1);
    await withStoresOf(second, async ({ usage }) => {
      for (const id of ["gen_sound_1", "gen_sound_2"])
        expect(await usage.findUsage(id)).toMatchObject({ id, outcome: "completed" });
      expect(await usage.findOpenUsage()).toEqual([]);
    });
    await second.stop({ keepData: true });
    // A quarantined record is not saved again.
    const third = await startTestGateway({
      dataDir: second.dataDir,
      key: second.key,
      yaml: yamlFor(vendor.baseUrl),
    });
    expect(third.log.filter(({ event }) => event.includes("quarantined"))).toEqual([]);
    await third.stop();
  });
});
