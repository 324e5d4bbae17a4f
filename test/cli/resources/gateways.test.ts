import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { PostgresGatewayRegistry } from "../../../src/storage/postgres/gateways/gateway-registry.ts";
import { openTestPostgres } from "../../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { NO_CONFIG } from "../../support/gateway/reported-config.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";

test("`gateway gateways list` without a shared database says that there is one gateway", async () => {
  const workspace = createWorkspace();
  await workspace.run(["migrate"]);
  const { exitCode, stdout } = await workspace.run(["gateways", "list"]);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining("there is one gateway")]);
  workspace.clear();
});

describe.skipIf(POSTGRES_BIN === null)("commands for the gateways of a database", () => {
  let server: TestPostgres;
  let database: Postgres;
  let workspace: Workspace;
  let environment: Readonly<Record<string, string>>;

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    const url = await server.createMigratedDatabase();
    database = openTestPostgres(url, 2);
    workspace = createWorkspace();
    environment = { DATABASE_URL: url };
    const registry = new PostgresGatewayRegistry(database);
    for (const id of ["gateway_a", "gateway_b"])
      await registry.register({
        id,
        host: "node-1",
        version: "1.0.0",
        dataDir: `/nonexistent/${id}`,
        masterKeys: [],
        config: NO_CONFIG,
      });
    await database.run("UPDATE gateways SET ends_at = clock_timestamp() WHERE id = 'gateway_a'");
    await database.run(
      "INSERT INTO balances (account_id, amount, leased) VALUES ('user_1', 5000000000, 1500000000)",
    );
    await database.run(
      "INSERT INTO balance_leases (account_id, gateway_id, amount) VALUES ('user_1', 'gateway_a', 1500000000)",
    );
  });
  afterEach(async () => {
    workspace.clear();
    await database.close();
  });

  const run = (...args: string[]) => workspace.run(args, environment);
  const readLeased = () => database.run("SELECT leased FROM balances");

  test("`gateway gateways list` shows the state of each gateway and what it has leased", async () => {
    const { stdout } = await run("gateways", "list", "--json");
    const { data } = JSON.parse(stdout) as { data: Record<string, unknown>[] };
    expect(data.map(({ id, state, leased, host }) => [id, state, leased, host])).toEqual([
      ["gateway_a", "gone", 1.5, "node-1"],
      ["gateway_b", "live", 0, "node-1"],
    ]);
    const table = (await run("gateways", "list")).stdout;
    expect(table).toMatch(/^gateway +state +host[\s\S]*gateway_a +gone +node-1[\s\S]*1\.50/);
  });

  test("`gateway leases release` gives the leases of a gone gateway back, reports them and writes an audit entry", async () => {
    const { exitCode, stdout, stderr } = await run("leases", "release", "gateway_a", "--yes");
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /journal of gateway_a was given up[\s\S]*Released 1\.5\d* dollars[\s\S]*user_1 +balance +1\.5/,
    );
    expect(await readLeased()).toEqual([{ leased: "0" }]);
    const audit = JSON.parse((await run("audit", "list", "--json")).stdout) as {
      data: Record<string, unknown>[];
    };
    expect(audit.data[0]).toMatchObject({
      action: "gateway leases release",
      target: "gateway_a",
      changes: { journal: "given up", leases_released: 1, nanodollars_released: 1_500_000_000 },
    });
    const again = await run("leases", "release", "gateway_a", "--yes");
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      expect.stringContaining("There is no gateway gateway_a"),
    ]);
  });

  test("`gateway leases release` rejects a live gateway, and changes nothing without a confirmation", async () => {
    const live = await run("leases", "release", "gateway_b", "--yes");
    expect([live.exitCode, live.stderr]).toEqual([1, expect.stringContaining("is live")]);
    const unconfirmed = await run("leases", "release", "gateway_a");
    expect([unconfirmed.exitCode, unconfirmed.stderr]).toEqual([1, expect.stringContaining("--yes")]);
    expect(await readLeased()).toEqual([{ leased: "1500000000" }]);
  });
});
