import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import {
  AS_SHIPPED,
  fetchGeneration,
  type GatewayProcess,
  makeSite,
  postChatTo,
  type Site,
} from "../support/gateway/gateway-process.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

/** docs/operations/backup.md: pg_dump while gateways run, and what proves and completes a restored database. */

const ADMIN_KEY = "management-key-of-the-test-0123456789";
const CREDITS = 5;
/** Requests that are answered before the dump begins, and clients that send them. */
const BEFORE = 100;
const CLIENTS = 4;
const messages = [{ role: "user", content: "Hello!" }];

describe.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)(
  "a PostgreSQL database that was restored from a dump",
  () => {
    let server: TestPostgres;
    let vendor: Vendor;
    let restoredUrl: string;
    let sites: readonly [Site, Site];
    let first: GatewayProcess;
    let second: GatewayProcess;
    let user: string;
    let key: string;
    let firstId: string;
    const answered: string[] = [];
    let before: readonly string[];

    const siteYaml = (url: string): string =>
      JSON.stringify({
        admin_key: ADMIN_KEY,
        database: { url },
        secrets: { keys: ["a".repeat(64)] },
        providers: {
          vendor: {
            base_url: vendor.baseUrl,
            api_keys: ["sk-vendor-0123456789"],
            models: [{ id: "acme/model", prices: { prompt: "0.000001", completion: "0.000002" } }],
          },
        },
      });

    async function run(command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
      const child = Bun.spawn([...command], {
        env: { PATH: process.env["PATH"] ?? "", ...environment },
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { exitCode: await child.exited, output: `${stdout}${stderr}` };
    }

    const command = (args: readonly string[], { configFile, dataDir }: Site) =>
      run([...AS_SHIPPED, ...args], { GATEWAY_CONFIG: configFile, GATEWAY_DATA_DIR: dataDir });

    async function sendUntil(isOver: () => boolean): Promise<void> {
      while (!isOver()) {
        const response = await postChatTo({ ...first, key }, { model: "acme/model", messages });
        expect(response.status).toBe(200);
        await response.text();
        answered.push(response.headers.get("x-gateway-generation-id") as string);
      }
    }

    /** Waits until the database has what clients have seen: a dump has no journal. */
    async function waitUntilSaved(url: string, id: string): Promise<void> {
      const sql = new SQL({ url, max: 1 });
      await eventually("the record", async () => {
        const rows = await sql`SELECT 1 FROM generations WHERE id = ${id} AND outcome <> 'open'`;
        return rows.length > 0;
      });
      await sql.close({ timeout: 0 });
    }

    beforeAll(async () => {
      server = await startTestPostgres();
      vendor = startVendor(healthy("Alpha"));
      const url = await server.createMigratedDatabase();
      restoredUrl = await server.createDatabase();
      sites = [makeSite(siteYaml(url)), makeSite(siteYaml(restoredUrl))];
      first = await sites[0].start();
      const tools = createAccountTools({ url: first.url, adminKey: ADMIN_KEY });
      user = await tools.user();
      key = await tools.key(user);
      await callAdmin(first, ADMIN_KEY, "POST", `/accounts/${user}/credits`, { amount: CREDITS });
      let isOver = false;
      const clients = Array.from({ length: CLIENTS }, () => sendUntil(() => isOver));
      await eventually("answers", () => answered.length >= BEFORE);
      before = [...answered];
      for (const id of before.slice(-CLIENTS)) await waitUntilSaved(url, id);
      const dump = join(sites[0].dataDir, "gateway.dump");
      const programs = POSTGRES_BIN as string;
      const dumped = await run([join(programs, "pg_dump"), "--format=custom", `--file=${dump}`, url]);
      isOver = true;
      await Promise.all(clients);
      expect(dumped).toEqual({ exitCode: 0, output: "" });
      await first.kill();
      const restore = [
        join(programs, "pg_restore"),
        `--dbname=${restoredUrl}`,
        "--no-owner",
        "--exit-on-error",
        dump,
      ];
      expect(await run(restore)).toEqual({ exitCode: 0, output: "" });
    }, 60_000);
    afterAll(async () => {
      await first.kill();
      await second?.kill();
      vendor.stop();
      for (const site of sites) site.remove();
      await server.remove();
    });

    test("ledger and audit log prove it before a gateway has started on it", async () => {
      expect(await command(["ledger", "check"], sites[1])).toEqual({
        exitCode: 0,
        output: expect.stringContaining("All balances match"),
      });
      expect((await command(["audit", "verify"], sites[1])).exitCode).toBe(0);
    });

    test("what the gateway of the dump had leased is listed, and returned by leases release", async () => {
      const listed = await command(["gateways", "list", "--json"], sites[1]);
      const { data } = JSON.parse(listed.output) as { data: { id: string }[] };
      firstId = data[0]?.id as string;
      const sql = new SQL({ url: restoredUrl, max: 1 });
      const leased = async () => {
        const [row] = await sql`SELECT leased FROM balances WHERE account_id = ${user}`;
        return Number(row.leased);
      };
      expect(await leased()).toBeGreaterThan(0);
      // Its row ends thirty seconds after the dump.
      await sql`UPDATE gateways SET ends_at = clock_timestamp()`;
      const released = await command(["leases", "release", firstId, "--yes"], sites[1]);
      expect(released.exitCode).toBe(0);
      expect(await leased()).toBe(0);
      await sql.close({ timeout: 0 });
    });

    test("a gateway serves from it, knows the records from before the dump, and the ledger stays consistent", async () => {
      second = await sites[1].start();
      expect((await postChatTo({ ...second, key }, { model: "acme/model", messages })).status).toBe(200);
      for (const id of [before[0], before.at(-1)] as string[])
        expect(await fetchGeneration({ ...second, key }, id)).toMatchObject({ outcome: "completed" });
      expect((await command(["ledger", "check"], sites[1])).exitCode).toBe(0);
    });
  },
);
