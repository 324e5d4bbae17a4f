import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { PostgresCatalogStore } from "../../src/storage/postgres/catalog-store.ts";
import { createPostgresDatabase } from "../../src/storage/postgres/connection/sql-database.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { createWorkspace } from "../support/gateway/run-gateway.ts";
import { MASTER_KEY, type SharedGateways, shareDatabase } from "./shared-gateways.ts";

const OLDER = "0.0.9";
const REGISTER = `INSERT INTO gateways (id, started_at, seen_at, ends_at, host, version, data_dir, master_keys)
  VALUES ('gw_old', now(), now(), now() + interval '1 hour', 'old-host', '${OLDER}', '/old', '[]')`;

describe.skipIf(POSTGRES_BIN === null)("beside a gateway of an older version", () => {
  let server: TestPostgres;
  let url: string;
  let shared: SharedGateways;
  let gateway: TestGateway;

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    url = await server.createMigratedDatabase();
    shared = shareDatabase(url);
    gateway = await shared.start("a");
    await query(REGISTER);
  });
  afterEach(() => shared.clear());

  async function query(text: string): Promise<void> {
    const database = openTestPostgres(url);
    await database.run(text);
    await database.close();
  }

  const ask = (method: string, path: string, body: unknown) =>
    callAdmin(gateway, gateway.adminKey, method, path, body);

  async function createUser(): Promise<string> {
    return (await ask("POST", "/users", { name: "Ada" })).data.id;
  }

  const CHANGES: Readonly<Record<string, (user: string) => readonly [string, string, unknown]>> = {
    budgets: (user) => ["POST", "/budgets", { account_id: user, limit: 5 }],
    "policy.prompt_caching": (user) => ["PATCH", `/users/${user}`, { policy: { prompt_caching: "off" } }],
    "provider.prompt_caching": (user) => [
      "PUT",
      `/named-routes/@short?account_id=${user}`,
      { kind: "preset", model: "openai/gpt-4o", provider: { prompt_caching: "off" } },
    ],
    "provider of an alias": (user) => [
      "PUT",
      `/named-routes/fast?account_id=${user}`,
      { kind: "alias", target: "openai/gpt-4o", provider: "azure" },
    ],
    "targets.provider": (user) => [
      "PUT",
      `/named-routes/both?account_id=${user}`,
      { kind: "group", targets: [{ model: "openai/gpt-4o", provider: "azure", weight: 1 }] },
    ],
    "a named route with * in its name": (user) => [
      "PUT",
      `/named-routes/${encodeURIComponent("gpt-*")}?account_id=${user}`,
      { kind: "alias", target: "openai/gpt-4o" },
    ],
  };

  test.each(Object.keys(CHANGES))(
    "%s, which it does not know, cannot be changed; the error names the gateway, and the change succeeds when it has gone",
    async (field) => {
      const user = await createUser();
      const change = (CHANGES[field] as (user: string) => readonly [string, string, unknown])(user);
      const refused = await ask(...change);
      expect(refused.status).toBe(409);
      const { message, metadata } = (refused.body as { error: { message: string; metadata: unknown } }).error;
      expect(message).toContain(`gw_old on old-host runs ${OLDER}, and ${field} needs `);
      expect(metadata).toMatchObject({
        field,
        needs_version: expect.stringMatching(/^0\.[23]\.0$/),
        gateways: [{ id: "gw_old", host: "old-host", version: OLDER }],
      });
      await query("DELETE FROM gateways WHERE id = 'gw_old'");
      expect((await ask(...change)).status).toBeLessThan(300);
    },
  );

  test("what it knows can be changed, also of an account that has something newer already", async () => {
    await query("DELETE FROM gateways WHERE id = 'gw_old'");
    const { id } = (await ask("POST", "/users", { name: "Eve", policy: { prompt_caching: "off" } })).data;
    await query(REGISTER);
    expect((await ask("PATCH", `/users/${id}`, { name: "Eva" })).status).toBe(200);
    expect((await ask("PATCH", `/users/${id}`, { policy: { prompt_caching: "auto" } })).status).toBe(200);
    const route = { kind: "alias", target: "openai/gpt-4o" };
    expect((await ask("PUT", `/named-routes/fast?account_id=${id}`, route)).status).toBe(200);
  });

  test("the configuration is not stored, because that gateway would go on without it", async () => {
    for (const [method, path, body] of [
      ["PATCH", "/config", { edits: [{ path: ["limits", "attempts"], value: 2 }] }],
      ["PUT", "/named-routes/fast", { kind: "alias", target: "openai/gpt-4o" }],
      ["PUT", "/tiers/fast", { name: "Fast", rule: { by: "free" } }],
    ] as const) {
      const refused = await ask(method, path, body);
      expect(refused.status).toBe(409);
      expect(JSON.stringify(refused.body)).toContain(`gw_old on old-host runs version ${OLDER}`);
    }
  });

  test("the imported catalog, whose models have fields that it rejects, is not written", async () => {
    const database = openTestPostgres(url);
    const store = new PostgresCatalogStore(createPostgresDatabase(database));
    const catalog = { source: { url: "https://models.example", fetchedAt: 1 }, models: [] } as never;
    await expect(store.writeCatalog(catalog)).rejects.toThrow("the imported catalog needs 0.2.0");
    expect(await store.readCatalog()).toBeNull();
    await database.close();
  });

  test("a command is refused as the API is, and the doctor says why", async () => {
    const user = await createUser();
    const workspace = createWorkspace();
    const { exitCode, stderr } = await workspace.run(
      ["budgets", "create", "--account", user, "--limit", "5"],
      { DATABASE_URL: url, GATEWAY_SECRETS_KEY: MASTER_KEY },
    );
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`gw_old on old-host runs ${OLDER}`)]);
    const doctor = await workspace.run(["doctor"], { DATABASE_URL: url, GATEWAY_SECRETS_KEY: MASTER_KEY });
    expect(doctor.stdout).toContain(
      `gw_old on old-host runs version ${OLDER}, which does not know the imported catalog, budgets,`,
    );
    workspace.clear();
  });
});
