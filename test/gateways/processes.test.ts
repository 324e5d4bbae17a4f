import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import type { Postgres } from "../../src/storage/postgres/connection/client.ts";
import { postRawChat, type RawClient } from "../support/clients/raw-client.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import {
  fetchGeneration,
  type GatewayProcess,
  makeSite,
  postChatTo,
  type Site,
} from "../support/gateway/gateway-process.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { scrape } from "../support/servers/scrape.ts";
import { closing, healthy, opening, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const ADMIN_KEY = "management-key-of-the-test-0123456789";
const GENERATION_ID = /x-gateway-generation-id: (gen_\w+)/i;
/** Both must be chosen by the system for a connection within so many, but for one case in 10¹². */
const MANY = 40;
/** The cost of a complete answer of the vendor. Nanodollars. */
const COST = 20_000;
const CREDITS = 5_000_000_000;
const CHAT = { model: "acme/model", messages: [{ role: "user", content: "Hello!" }] };

describe.skipIf(POSTGRES_BIN === null || process.platform !== "linux" || !IS_LONG_RUN)(
  "two processes on one port",
  () => {
    let server: TestPostgres;
    let vendor: Vendor;
    let database: Postgres;
    let site: Site;
    let gateway: GatewayProcess;
    let user: string;
    let key: string;

    beforeAll(async () => {
      server = await startTestPostgres();
      vendor = startVendor();
    });
    afterAll(async () => {
      vendor.stop();
      await server.remove();
    });
    beforeEach(async () => {
      const url = await server.createMigratedDatabase();
      vendor.perform(healthy("Alpha"));
      database = openTestPostgres(url);
      const models = [{ id: CHAT.model, prices: { prompt: "0.000001", completion: "0.000002" } }];
      const providers = { vendor: { base_url: vendor.baseUrl, api_keys: ["sk-vendor-0123456789"], models } };
      const config = {
        admin_key: ADMIN_KEY,
        database: { url },
        server: { processes: 2, drain_notice_ms: 0 },
        providers,
      };
      site = makeSite(JSON.stringify(config));
      gateway = await site.start();
      await eventually("the start of both processes", () => gateway.printed().includes('"processes":2'));
      const tools = createAccountTools({ url: gateway.url, adminKey: ADMIN_KEY });
      user = await tools.user();
      key = await tools.key(user);
      await callAdmin(gateway, ADMIN_KEY, "POST", `/accounts/${user}/credits`, { amount: CREDITS / 1e9 });
    });
    afterEach(async () => {
      // The processes end with their supervisor.
      await gateway.kill();
      await database.close();
      site.remove();
    });

    /** Sends a request over a connection of its own. */
    async function ask(): Promise<number> {
      const response = await postChatTo({ ...gateway, key }, CHAT, { keepalive: false });
      await response.arrayBuffer();
      return response.status;
    }

    /** Returns the indexes of the processes that have logged a request after the first `from` characters. */
    function answeredBy(from: number): readonly string[] {
      const found = gateway
        .printed()
        .slice(from)
        .matchAll(/"message":"request","process":(\d)/g);
      return [...new Set([...found].map(([, index]) => index as string))].sort();
    }

    /** Sends requests until both processes have answered some, and returns how many. Each must be answered. */
    async function askBoth(): Promise<number> {
      const from = gateway.printed().length;
      let sent = 0;
      await eventually("requests at both processes", async () => {
        if (sent < MANY) {
          expect(await ask()).toBe(200);
          sent += 1;
        }
        return answeredBy(from).length === 2;
      });
      return sent;
    }

    /** Begins a stream that waits for its gate after the first words. */
    async function beginStream(): Promise<{ readonly client: RawClient; readonly id: string }> {
      vendor.perform(async (call) => {
        await call.begin();
        await call.events(...opening("Alpha"));
        await call.gate();
        await call.events(...closing());
        await call.end();
      });
      const client = await postRawChat({ ...gateway, key }, { ...CHAT, stream: true });
      await client.waitForText("Alpha");
      return { client, id: GENERATION_ID.exec(client.received)?.[1] as string };
    }

    /** Returns the index of the process that runs a generation. */
    async function findProcess(id: string): Promise<string> {
      const dataDir = await eventually("the record of the running stream", async () => {
        const [row] = await database.run<{ data_dir: string }>(
          "SELECT data_dir FROM gateways WHERE id = (SELECT gateway_id FROM generations WHERE id = $1)",
          [id],
        );
        return row?.data_dir;
      });
      return basename(dataDir).replace("process-", "");
    }

    /** Returns the process ids of the gateway's processes by their indexes. */
    function listProcesses(): ReadonlyMap<string, number> {
      const children = readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, "utf8");
      return new Map(
        children
          .split(" ")
          .filter((pid) => pid !== "")
          .map((pid) => [readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").at(-2) ?? "", Number(pid)]),
      );
    }

    async function readBooks() {
      const [row] = await database.run<Readonly<Record<string, string>>>(
        `SELECT amount, leased, (SELECT sum(amount) FROM charges) AS charged,
         (SELECT count(*) FROM generations WHERE outcome = 'completed') AS completed
       FROM balances WHERE account_id = $1`,
        [user],
      );
      return {
        spent: CREDITS - Number(row?.["amount"]),
        charged: Number(row?.["charged"]),
        leased: Number(row?.["leased"]),
        completed: Number(row?.["completed"]),
      };
    }

    test("are scraped together, whichever of them is asked, each under its number", async () => {
      const sent = await askBoth();
      const scrapes = [];
      for (let asked = 0; asked < 20; asked++)
        scrapes.push(await scrape({ url: gateway.url, adminKey: ADMIN_KEY }));
      for (const { series } of scrapes) {
        const requests = series.filter(({ name }) => name === "gateway_requests_total");
        expect(requests.map(({ labels }) => labels["process"]).sort()).toEqual(["1", "2"]);
        expect(requests.reduce((sum, { value }) => sum + value, 0)).toBe(sent);
        expect(series.filter(({ labels }) => !["1", "2"].includes(labels["process"] ?? ""))).toEqual([]);
      }
      expect(new Set(scrapes[0]?.names).size).toBe(scrapes[0]?.names.length as number);
    });

    /** Writes the configuration file anew with some of its values changed. */
    function rewrite(change: Readonly<Record<string, unknown>>): void {
      const config = JSON.parse(readFileSync(site.configFile, "utf8"));
      writeFileSync(site.configFile, JSON.stringify({ ...config, ...change }));
    }

    test("a reload by request or by signal changes both processes, or none", async () => {
      const begin = gateway.printed().length;
      const countReloads = () =>
        gateway.printed().slice(begin).split("the configuration was reloaded").length - 1;
      rewrite({ policy: { denied_models: [CHAT.model] } });
      const { status, body } = await callAdmin(gateway, ADMIN_KEY, "POST", "/settings/reload", {});
      expect(status).toBe(200);
      expect(body).toMatchObject({ data: { applied: true, changes: [{ name: "policy.denied_models" }] } });
      const statuses = async () => new Set(await Promise.all(Array.from({ length: MANY }, ask)));
      expect(await statuses()).toEqual(new Set([403]));
      rewrite({ policy: { denied_models: [], denied_modles: [] } });
      const from = gateway.printed().length;
      process.kill(gateway.pid, "SIGHUP");
      await eventually("the rejection", () =>
        gateway.printed().slice(from).includes("Did you mean denied_models"),
      );
      const rejected = await callAdmin(gateway, ADMIN_KEY, "POST", "/settings/reload", {});
      expect([rejected.status, rejected.body["error"]]).toMatchObject([
        409,
        {
          message: expect.stringContaining("has a problem and was not reloaded"),
          metadata: { problems: [{ field: "policy.denied_modles", line: 1 }] },
        },
      ]);
      expect(await statuses()).toEqual(new Set([403]));
      rewrite({ policy: { denied_models: [] } });
      process.kill(gateway.pid, "SIGHUP");
      // A log writes its lines in batches: those of the first reload may come after those of the rejection.
      await eventually("the log of two reloads of both", () => countReloads() === 4);
      expect(await statuses()).toEqual(new Set([200]));
      const { rows } = await callAdmin(gateway, ADMIN_KEY, "GET", "/audit?limit=10");
      expect(rows.filter(({ action }) => action === "SIGHUP")).toHaveLength(1);
    });

    test("a process that is killed is started again, ends its open generation and saves its records, while the other one answers", async () => {
      let answered = await askBoth();
      const { client, id } = await beginStream();
      vendor.perform(healthy("Alpha"));
      const victim = await findProcess(id);
      const killed = listProcesses().get(victim) as number;
      const from = gateway.printed().length;
      process.kill(killed, "SIGKILL");
      await client.closed;
      await eventually("the supervisor's line about it", () =>
        gateway
          .printed()
          .slice(from)
          .includes(`"process":${Number(victim)},"reason":"SIGKILL"`),
      );
      for (let sent = 0; sent < 5; sent++, answered++) expect(await ask()).toBe(200);
      const ended = await eventually("the end of the open generation", async () => {
        const found = await fetchGeneration({ ...gateway, key }, id);
        return found?.["outcome"] === "interrupted" ? found : null;
      });
      await eventually("the start of the next process", () => listProcesses().size === 2);
      expect(listProcesses().get(victim)).not.toBe(killed);
      answered += await askBoth();
      expect(await gateway.terminate()).toBe(0);
      const spent = answered * COST + Number(ended["total_cost_nanodollars"]);
      expect(await readBooks()).toEqual({ spent, charged: spent, leased: 0, completed: answered });
    });

    test("SIGTERM lets a running stream end, saves all records, gives all leases back and exits with 0", async () => {
      const answered = await askBoth();
      const { client, id } = await beginStream();
      await findProcess(id);
      const processes = [...listProcesses().values()];
      expect(processes).toHaveLength(2);
      const exited = gateway.terminate();
      await eventually(
        "the log of the stop of both",
        () => gateway.printed().match(/"message":"stopping"/g)?.length === 2,
      );
      (await vendor.call(0)).openGate();
      await client.waitForText("[DONE]");
      expect(await exited).toBe(0);
      for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow();
      const spent = (answered + 1) * COST;
      expect(await readBooks()).toEqual({ spent, charged: spent, leased: 0, completed: answered + 1 });
      expect(await database.run("SELECT id FROM gateways")).toEqual([]);
    });
  },
);
