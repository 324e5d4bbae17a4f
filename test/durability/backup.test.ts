import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { BackupManifest } from "../../src/app/backup/manifest.ts";
import { postRawChat } from "../support/clients/raw-client.ts";
import { eventually } from "../support/eventually.ts";
import {
  AS_SHIPPED,
  fetchGeneration,
  type GatewayProcess,
  makeSite,
  postChatTo,
  type Site,
} from "../support/gateway/gateway-process.ts";
import { IS_LONG_RUN, RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { healthy, opening, startVendor, type Vendor } from "../support/vendors/vendor.ts";

/** Clients that send one request after the other: several hundred requests a second on one core. */
const CLIENTS = 8;
/** Requests that are answered before the backup begins. Several groups of records. */
const BEFORE = 300;
/** The cost of one answer. Nanodollars. */
const COST = 20_000;
const messages = [{ role: "user", content: "Hello!" }];

interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const configOf = ({ baseUrl }: Vendor): string => `
providers:
  vendor-a:
    base_url: "${baseUrl}"
    api_keys: ["sk-vendor-a-0123456789abcdef"]
    models: [{id: acme/model, prices: {prompt: "0.000001", completion: "0.000002"}}]
`;

async function runCommand(args: readonly string[], { configFile, dataDir }: Site): Promise<CommandResult> {
  const child = Bun.spawn([...AS_SHIPPED, ...args], {
    env: {
      PATH: process.env["PATH"] ?? "",
      GATEWAY_CONFIG: configFile,
      GATEWAY_DATA_DIR: dataDir,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

describe.skipIf(!IS_LONG_RUN)("a backup that is made while a gateway answers requests", () => {
  const folder = makeTempFolder("gateway-backup-");
  const backup = join(folder, "backup");
  let vendor: Vendor;
  let sites: readonly Site[];
  let first: GatewayProcess;
  let second: GatewayProcess;
  /** The ids of generations whose answers clients had completely before the backup began, and of all. */
  let before: readonly string[];
  const answered: string[] = [];
  /** A stream that was open during the whole backup. */
  let openId: string;
  let created: CommandResult;
  let verified: CommandResult;
  let restored: CommandResult;
  let ledger: CommandResult;

  async function sendUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const response = await postChatTo(first, { model: "acme/model", messages });
      expect(response.status).toBe(200);
      await response.text();
      answered.push(response.headers.get("x-gateway-generation-id") as string);
    }
  }

  async function openStream(): Promise<string> {
    const answer = healthy("Alpha");
    vendor.perform(async (call) => {
      if (!JSON.stringify(call.body).includes("stay open")) return answer(call);
      await call.begin();
      await call.events(...opening("Alpha"));
      await call.gate();
    });
    const client = await postRawChat(first, {
      model: "acme/model",
      stream: true,
      messages: [{ role: "user", content: "stay open" }],
    });
    await client.waitForText("Alpha");
    return /x-gateway-generation-id: (gen_\w+)/i.exec(client.received)?.[1] as string;
  }

  beforeAll(async () => {
    vendor = startVendor(healthy("Alpha"));
    const [from, to] = [makeSite(configOf(vendor)), makeSite(configOf(vendor))];
    sites = [from, to];
    first = await from.start();
    openId = await openStream();
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, () => sendUntil(() => isOver));
    await eventually("answers", () => answered.length >= BEFORE);
    before = [...answered];
    created = await runCommand(["backup", "create", backup, "--json"], from);
    isOver = true;
    await Promise.all(clients);
    verified = await runCommand(["backup", "verify", backup], from);
    restored = await runCommand(["backup", "restore", backup], to);
    second = await to.start(first.key);
    ledger = await runCommand(["ledger", "check"], to);
  }, 60_000);

  afterAll(async () => {
    await first.kill();
    await second.kill();
    vendor.stop();
    for (const site of sites) site.remove();
  });

  test("create, verify and restore end with exit code 0", () => {
    expect([created.exitCode, created.stderr]).toEqual([0, ""]);
    expect([verified.exitCode, verified.stderr]).toEqual([0, ""]);
    expect([restored.exitCode, restored.stderr]).toEqual([0, ""]);
    expect(verified.stdout).toContain("0 failures, 0 warnings.");
  });

  test("the backup has every record that was settled before it began, with its charge", () => {
    const database = new Database(join(backup, "gateway.db"), { readonly: true });
    const find = database.query<{ outcome: string; amount: number }, [string]>(
      `SELECT outcome, transfers.amount FROM generations
       JOIN transfers ON transfers.id = generations.id WHERE generations.id = ?`,
    );
    const lost = before.filter((id) => {
      const found = find.get(id);
      return found?.outcome !== "completed" || found.amount !== COST;
    });
    database.close();
    expect([before.length >= BEFORE, lost]).toEqual([true, []]);
  });

  test("requests were answered while the backup was made, and it has none twice", () => {
    expect(answered.length).toBeGreaterThan(before.length);
    const { data } = JSON.parse(created.stdout) as { data: BackupManifest };
    const { generations = 0, transfers = 0 } = data.rows;
    // The open stream, and requests that wait for their answers, have records and no transfers yet.
    expect(generations - transfers).toBeWithin(1, CLIENTS + 2);
    expect(generations).toBeLessThanOrEqual(answered.length + 1);
  });

  test("the gateway on the restored data answers for the records, and its ledger is consistent", async () => {
    for (const id of [before[0], before.at(-1)] as string[])
      expect(await fetchGeneration(second, id)).toMatchObject({
        outcome: "completed",
        total_cost_nanodollars: COST,
      });
    expect([ledger.exitCode, ledger.stdout]).toEqual([0, expect.stringContaining("All balances match")]);
  });

  test("a generation that was open during the backup is interrupted by the first start on the restored data", async () => {
    expect(await fetchGeneration(first, openId)).toMatchObject({ outcome: "open" });
    expect(await fetchGeneration(second, openId)).toMatchObject({ outcome: "interrupted" });
  });

  test("keys are valid at the restored gateway, which is another gateway than the first", async () => {
    expect((await postChatTo(second, { model: "acme/model", messages })).status).toBe(200);
    await first.kill();
    await second.kill();
    const ids = sites.map(({ dataDir }) => {
      const lock = new Database(join(dataDir, "lock.db"), { readonly: true });
      const row = lock.query<{ id: string }, []>("SELECT id FROM gateway").get();
      lock.close();
      return row?.id;
    });
    expect(new Set(ids).size).toBe(2);
  });
});

describe.skipIf(!RUNS_SLOW_TESTS)("a backup of the data of a gateway that was killed", () => {
  test("it has the records that only the journal has, and the data directory stays as it was", async () => {
    const vendor = startVendor(healthy("Alpha"));
    const site = makeSite(configOf(vendor));
    const gateway = await site.start();
    const response = await postChatTo(gateway, { model: "acme/model", messages });
    const id = response.headers.get("x-gateway-generation-id") as string;
    await gateway.kill();
    const journal = site.journalFiles();
    const backup = join(site.dataDir, "..", "backup");
    expect(await runCommand(["backup", "create", backup], site)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await runCommand(["backup", "verify", backup], site)).toMatchObject({ exitCode: 0 });
    const database = new Database(join(backup, "gateway.db"), { readonly: true });
    const found = database.query("SELECT outcome, cost FROM generations WHERE id = ?").get(id);
    database.close();
    expect(found).toEqual({ outcome: "completed", cost: COST });
    expect([journal.length, site.journalFiles()]).toEqual([1, journal]);
    vendor.stop();
    site.remove();
  });
});
