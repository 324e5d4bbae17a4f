import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TIER_SETTING } from "../../../src/core/catalog/tiers/former-tiers.ts";
import { MAX_REVISIONS } from "../../../src/core/stored-config/config-store.ts";
import { ON_POSTGRES } from "../../support/databases/test-databases.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { queryTables } from "../../support/databases/test-tables.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
type Body = any;

/** Milliseconds since the epoch. */
const START = Date.UTC(2026, 8, 1);
const at = (minute: number) => new Date(START + minute * 60_000).toISOString();

const alias = (target: string) => ({ kind: "alias", target }) as const;

/** A change of an alias of the operator by a version up to 0.2. */
interface FormerChange {
  readonly name: string;
  readonly target: string;
  /** Minutes after `START`. */
  readonly minute: number;
}

/** Starts a gateway on what versions up to 0.2 have stored. */
async function startUpgraded(
  changes: readonly FormerChange[],
  tiers: readonly { readonly id: string; readonly name: string; readonly minute: number }[] = [],
): Promise<TestGateway> {
  const dataDir = makeTempFolder("gateway-former-");
  const stores = await openTestStores(dataDir);
  for (const { name, target, minute } of changes)
    await stores.namedRoutes.putNamedRoute({
      ...{ accountId: null, name, definition: alias(target), updatedAt: START + minute * 60_000 },
    });
  const pick = { models: ["acme/one"] };
  for (const { id, name, minute } of tiers) {
    const tier = { id, name, description: "", rule: { by: "balance", paid: pick, else: pick } };
    const stored = { tier, updatedAt: START + minute * 60_000 };
    await stores.settings.putSetting(`${TIER_SETTING}${id}`, JSON.stringify(stored));
  }
  await stores.close();
  return startTestGateway({ dataDir });
}

describe("tiers and named routes that versions up to 0.2 have stored", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startUpgraded(
      [
        { name: "first", target: "acme/one", minute: 1 },
        { name: "second", target: "acme/one", minute: 2 },
        { name: "first", target: "acme/two", minute: 3 },
        { name: "rejected now", target: "acme/größe", minute: 4 },
        { name: "first", target: "acme/three", minute: 6 },
      ],
      [{ id: "gateway-auto/ours", name: "Ours", minute: 5 }],
    );
  });
  afterAll(() => gateway.stop());

  const get = async (path: string): Promise<Body> =>
    (await callAdmin(gateway, gateway.adminKey, "GET", path)).data;

  test("are revisions of the stored configuration at the times of their changes", async () => {
    const revisions = await get("/config/revisions");
    expect(
      revisions.map((one: Body) => [
        one.revision,
        one.changed_at,
        one.changed.map((path: string[]) => path.join(".")),
      ]),
    ).toEqual([
      [5, at(6), ["named_routes.first"]],
      [4, at(5), ["tiers.gateway-auto/ours"]],
      [3, at(3), ["named_routes.first"]],
      [2, at(2), ["named_routes.second"]],
      [1, at(1), ["named_routes.first"]],
    ]);
  });

  test("keep their versions, which can be restored", async () => {
    const versions = await get("/named-routes/first/versions");
    expect(versions.map((one: Body) => [one.definition.target, one.updated_at])).toEqual([
      ["acme/three", at(6)],
      ["acme/two", at(3)],
      ["acme/one", at(1)],
    ]);
    expect((await get("/tiers/ours")).updated_at).toBe(at(5));
    const restored = await callAdmin(gateway, gateway.adminKey, "POST", "/named-routes/first/restore", {
      version: versions[1].version,
    });
    expect(restored.status).toBe(200);
    expect((await get("/named-routes/first")).definition.target).toBe("acme/two");
  });

  test("are left out if this version rejects them, and the log names them", () => {
    const warnings = gateway.log.filter(({ event }) => event.includes("is not used any more"));
    expect(warnings.map(({ fields }) => fields["name"])).toEqual(["rejected now"]);
  });
});

test("of more changes than revisions are kept, the first revision contains the earliest", async () => {
  const changes = Array.from({ length: MAX_REVISIONS + 20 }, (_, minute) => ({
    name: `route-${minute % 40}`,
    target: `acme/${minute}`,
    minute,
  }));
  const gateway = await startUpgraded(changes);
  const { data } = await callAdmin(gateway, gateway.adminKey, "GET", "/config/revisions/1");
  const { data: latest } = await callAdmin(
    gateway,
    gateway.adminKey,
    "GET",
    `/config/revisions/${MAX_REVISIONS}`,
  );
  await gateway.stop();
  const targetOf = (revision: Body, name: string) => revision.document.named_routes[name].target;
  expect((data as Body).changed).toHaveLength(21);
  expect([targetOf(data, "route-0"), targetOf(data, "route-20")]).toEqual(["acme/0", "acme/20"]);
  expect([targetOf(latest, "route-0"), targetOf(latest, "route-39")]).toEqual(["acme/80", "acme/119"]);
});

test("a version that does not know the stored configuration is kept out as soon as it would miss a setting", async () => {
  const gateway = await startUpgraded([{ name: "first", target: "acme/one", minute: 1 }]);
  const edit = (path: readonly string[], value: unknown) =>
    callAdmin(gateway, gateway.adminKey, "PATCH", "/config", { edits: [{ path, value }] });
  const oldest = async () => {
    const [row] = await queryTables<{ oldest: unknown }>(
      gateway.dataDir,
      ON_POSTGRES
        ? "SELECT max(oldest_version) AS oldest FROM schema_migrations"
        : "SELECT value AS oldest FROM settings WHERE name = 'oldest_schema'",
    );
    return Number(row?.oldest);
  };
  const storedConfig = ON_POSTGRES ? 23 : 33;
  await edit(["named_routes", "second"], alias("acme/one"));
  expect(await oldest()).toBeLessThan(storedConfig);
  expect((await edit(["policy", "zero_retention"], true)).status).toBe(200);
  expect(await oldest()).toBe(storedConfig);
  await gateway.stop();
});
