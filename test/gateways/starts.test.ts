import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { PostgresGatewayRegistry } from "../../src/storage/postgres/gateways/gateway-registry.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { makeSite, type Site } from "../support/gateway/gateway-process.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { createWorkspace } from "../support/gateway/run-gateway.ts";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

const [OLD, NEW] = ["a".repeat(64), "b".repeat(64)];
const BYOK = "sk-own-0123456789abcdef";

describe.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)("gateways that start on one database", () => {
  let server: TestPostgres;
  let url: string;
  let shared: SharedGateways;

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    url = await server.createMigratedDatabase();
    shared = shareDatabase(url);
  });
  afterEach(() => shared.clear());

  const withKeys = (...keys: readonly string[]) => ({
    environment: { GATEWAY_SECRETS_KEY: keys.join(","), OPENAI_API_KEY: "sk-test-openai-0001" },
  });

  test("several first starts at the same time create one management key and one inference key, and one of them prints both", async () => {
    const yaml = JSON.stringify({ database: { url }, secrets: { keys: [OLD] } });
    const sites: Site[] = Array.from({ length: 3 }, () => makeSite(yaml));
    const gateways = await Promise.all(sites.map((site) => site.start()));
    const printed = gateways.map((gateway) => /inference key\s+gw_/.test(gateway.printed()));
    expect(printed.filter((isPrinted) => isPrinted)).toHaveLength(1);
    const database = openTestPostgres(url);
    const keys = await database.run("SELECT kind FROM api_keys WHERE revoked_at IS NULL ORDER BY kind");
    expect(keys).toEqual([{ kind: "inference" }, { kind: "management" }]);
    await database.close();
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    for (const site of sites) site.remove();
  });

  test("a copy of a data directory does not start while the gateway of the original is live", async () => {
    const original = await shared.start("a");
    mkdirSync(shared.dataDir("copy"), { recursive: true });
    await original.stop();
    copyFileSync(join(shared.dataDir("a"), "lock.db"), join(shared.dataDir("copy"), "lock.db"));
    await shared.start("a");
    await expect(shared.start("copy")).rejects.toThrow("If this is a copy of that directory");
    await shared.stop("a");
    await shared.start("copy");
  });

  test("processes on one port have the same generated master key", async () => {
    const site = makeSite(JSON.stringify({ database: { url }, server: { processes: 2 } }));
    const gateway = await site.start();
    const database = openTestPostgres(url);
    await eventually("the start of both processes", () => gateway.printed().includes('"processes":2'));
    const registered = await new PostgresGatewayRegistry(database).list();
    expect(registered.map(({ isLive }) => isLive)).toEqual([true, true]);
    expect(registered[0]?.masterKeys).toHaveLength(1);
    expect(registered[1]?.masterKeys).toEqual(registered[0]?.masterKeys ?? []);
    expect(await gateway.terminate()).toBe(0);
    expect(await new PostgresGatewayRegistry(database).list()).toEqual([]);
    await database.close();
    site.remove();
  });

  test("a gateway without a master key does not start while another one encrypts with its own, and is told what to configure", async () => {
    await shared.start("a", { environment: { GATEWAY_SECRETS_KEY: "" } });
    const started = shared.start("b", { environment: { GATEWAY_SECRETS_KEY: "" } });
    await expect(started).rejects.toThrow(
      /encrypts with master key[\s\S]*Set GATEWAY_SECRETS_KEY to the same keys at every gateway/,
    );
    // With the key of the first one it starts.
    mkdirSync(shared.dataDir("c"), { recursive: true });
    copyFileSync(join(shared.dataDir("a"), "secrets.key"), join(shared.dataDir("c"), "secrets.key"));
    await shared.start("c", { environment: { GATEWAY_SECRETS_KEY: "" } });
  });

  test("a gateway without a master key does not start on a database whose secrets another one has encrypted", async () => {
    const first = await shared.start("a", withKeys(OLD));
    const user = await createAccountTools(first).user();
    const stored = await callAdmin(first, first.adminKey, "POST", `/accounts/${user}/provider-keys`, {
      provider: "openai",
      key: BYOK,
    });
    expect(stored.status).toBe(201);
    await first.stop();
    await expect(shared.start("b", withKeys(""))).rejects.toThrow(/does not have[\s\S]*GATEWAY_SECRETS_KEY/);
    await shared.start("c", withKeys(OLD));
  });

  test("a new master key is introduced at one gateway after the other, and rotated to when all have it first", async () => {
    const workspace = createWorkspace();
    const rotate = (...keys: readonly string[]) =>
      workspace.run(["secrets", "rotate"], { DATABASE_URL: url, GATEWAY_SECRETS_KEY: keys.join(",") });
    const a = await shared.start("a", withKeys(OLD));
    const b = await shared.start("b", withKeys(OLD));
    await callAdmin(a, a.adminKey, "POST", "/accounts/acct_default/provider-keys", {
      provider: "openai",
      key: BYOK,
    });

    // The other gateway could not read what this one encrypts.
    await b.stop();
    await expect(shared.start("b", withKeys(NEW, OLD))).rejects.toThrow(
      "put it after the old one at every gateway",
    );
    await shared.start("b", withKeys(OLD, NEW));
    await a.stop();
    const second = await shared.start("a", withKeys(NEW, OLD));
    const early = await rotate(NEW, OLD);
    expect([early.exitCode, early.stderr]).toEqual([1, expect.stringContaining("Nothing was changed")]);
    expect(early.stderr).toMatch(/Gateways that are running[\s\S]*They are: gateway_/);

    const generated = await rotate("");
    expect([generated.exitCode, generated.stderr]).toEqual([
      1,
      expect.stringContaining("GATEWAY_SECRETS_KEY"),
    ]);
    await shared.stop("b");
    const third = await shared.start("b", withKeys(NEW, OLD));
    const moved = await rotate(NEW, OLD);
    expect([moved.exitCode, moved.stdout]).toEqual([0, expect.stringContaining("Re-encrypted 1 secrets")]);
    for (const gateway of [second, third]) {
      const { rows } = await callAdmin(
        gateway,
        gateway.adminKey,
        "GET",
        "/accounts/acct_default/provider-keys",
      );
      expect(rows).toHaveLength(1);
    }
    workspace.clear();
  });
});
