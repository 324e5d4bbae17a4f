import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { importModelsDev } from "../../src/core/catalog/refresh/import-models-dev.ts";
import { PostgresCatalogStore } from "../../src/storage/postgres/catalog-store.ts";
import { createPostgresDatabase } from "../../src/storage/postgres/connection/sql-database.ts";
import { startSource, type TestSource } from "../catalog/seed-catalog.ts";
import { shippedRules, sourceModel, sourceText } from "../catalog/source-fixture.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { postChat, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

/** Twice what is promised, because a machine that runs tests is busy. Milliseconds. */
const BOUND_MS = 2_000;

const CHAT = { model: "acme/model", messages: [{ role: "user", content: "Hello!" }] };
const MODELS = [{ id: "acme/model", prices: { prompt: "0.000001", completion: "0.000002" } }];
const model = (id: string, input = 1) => sourceModel(id, { cost: { input, output: 2 } });
const LISTED = ["gpt-a", "gpt-b", "gpt-c", "gpt-d"];

describe.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)("two gateways on one database", () => {
  let server: TestPostgres;
  let source: TestSource;
  let vendor: Vendor;
  let shared: SharedGateways;
  let a: TestGateway;
  let b: TestGateway;

  beforeAll(async () => {
    server = await startTestPostgres();
    vendor = startVendor();
    source = startSource({ openai: LISTED.map((id) => model(id)) });
  });
  afterAll(async () => {
    source.stop();
    vendor.stop();
    await server.remove();
  });

  const statusAt = async (gateway: TestGateway, key: string, body: object = CHAT): Promise<number> => {
    const response = await postChat({ ...gateway, key }, body);
    await response.arrayBuffer();
    return response.status;
  };
  const obeys = (what: string, check: () => Promise<boolean>) => eventually(what, check, BOUND_MS);
  const ofOperator = (gateway: TestGateway, method: string, path: string, body?: unknown) =>
    callAdmin(gateway, gateway.adminKey, method, path, body);

  for (const [how, pooled] of [
    ["with notifications", false],
    ["without notifications, as behind PgBouncer", true],
  ] as const) {
    describe(how, () => {
      beforeEach(async () => {
        const url = await server.createMigratedDatabase();
        await importCatalog(url);
        shared = shareDatabase(url);
        const options = {
          yaml: JSON.stringify({
            database: { pooled },
            catalog: { source: source.url },
            providers: {
              vendor: { base_url: vendor.baseUrl, api_keys: ["sk-vendor-0123456789"], models: MODELS },
            },
          }),
          environment: { OPENAI_API_KEY: "sk-test-openai-0001" },
        };
        a = await shared.start("a", options);
        b = await shared.start("b", options);
      });
      afterEach(() => shared.clear());

      test("a key that is revoked at one gateway is rejected by the other within a second", async () => {
        const key = await createAccountTools(a).key("acct_default");
        expect([await statusAt(a, key), await statusAt(b, key)]).toEqual([200, 200]);
        const { rows } = await ofOperator(a, "GET", "/keys");
        const id = rows.find(({ name }) => name === "test")?.id;
        expect((await ofOperator(a, "DELETE", `/keys/${id}`)).status).toBe(200);
        expect(await statusAt(a, key)).toBe(401);
        await obeys("the rejection at the other gateway", async () => (await statusAt(b, key)) === 401);
      });

      test("a key that is rotated at one gateway has both secrets at the other, and one at once without an overlap", async () => {
        const first = await createAccountTools(a).key("acct_default");
        const { rows } = await ofOperator(a, "GET", "/keys");
        const id = rows.find(({ name }) => name === "test")?.id;
        const rotate = async (hours: number) =>
          (await ofOperator(a, "POST", `/keys/${id}/rotate`, { overlap_hours: hours })).body["key"] as string;
        expect(await statusAt(b, first)).toBe(200);
        const second = await rotate(1);
        // No other gateway has seen the new secret, so it is read at its first use.
        expect([await statusAt(b, second), await statusAt(b, first), await statusAt(a, first)]).toEqual([
          200, 200, 200,
        ]);
        const third = await rotate(0);
        expect([await statusAt(b, third), await statusAt(a, second), await statusAt(a, first)]).toEqual([
          200, 401, 401,
        ]);
        for (const former of [first, second])
          await obeys("the end of a former secret", async () => (await statusAt(b, former)) === 401);
        expect(await statusAt(b, third)).toBe(200);
      });

      test("a team that is changed at one gateway, and a member who leaves it, are so at the other within a second", async () => {
        const tools = createAccountTools(a);
        const user = await tools.user("Ada");
        const organization = await tools.organization(await tools.user("Olga"), { overdraft: 1 });
        await tools.member(organization, user, "member");
        const teams = `/organizations/${organization}/teams`;
        const team = (await ofOperator(a, "POST", teams, { name: "Search" })).data.id;
        await ofOperator(a, "PUT", `${teams}/${team}/members/${user}`, {});
        const key = await tools.key(organization, { user_id: user, team_id: team });
        expect(await statusAt(b, key)).toBe(200);
        const deny = (models: readonly string[]) =>
          ofOperator(a, "PATCH", `${teams}/${team}`, { policy: { denied_models: models } });
        await deny(["acme/*"]);
        await obeys("the team's policy at the other gateway", async () => (await statusAt(b, key)) === 403);
        await deny([]);
        await obeys("the open policy at the other gateway", async () => (await statusAt(b, key)) === 200);
        await ofOperator(a, "DELETE", `${teams}/${team}/members/${user}`);
        await obeys("the end of the key at the other gateway", async () => (await statusAt(b, key)) === 401);
      });

      test("a policy that is changed at one gateway applies at the other within a second", async () => {
        const user = await createAccountTools(a).user("Ada", { overdraft: 1 });
        const key = await createAccountTools(a).key(user);
        expect(await statusAt(a, key)).toBe(200);
        const policy = { denied_models: ["acme/*"] };
        const { status } = await ofOperator(b, "PATCH", `/users/${user}`, { policy });
        expect(status).toBe(200);
        await obeys("the policy at the other gateway", async () => (await statusAt(a, key)) === 403);
      });

      test("a tier that is stored, changed and deleted at one gateway is the same at the other within a second", async () => {
        const { key } = b;
        const ask = { ...CHAT, model: "gateway-auto/ours" };
        const store = (models: readonly string[]) =>
          ofOperator(a, "PUT", "/tiers/ours", {
            name: "Ours",
            rule: { by: "balance", paid: { models }, else: { models } },
          });
        expect(await statusAt(b, key, ask)).toBe(400);
        expect((await store(["acme/model"])).status).toBe(200);
        expect(await statusAt(a, a.key, ask)).toBe(200);
        await obeys("the tier at the other gateway", async () => (await statusAt(b, key, ask)) === 200);
        expect((await store(["acme/none"])).status).toBe(200);
        await obeys(
          "the changed tier at the other gateway",
          async () => (await statusAt(b, key, ask)) === 400,
        );
        expect((await store(["acme/model"])).status).toBe(200);
        await obeys("the tier at the other gateway again", async () => (await statusAt(b, key, ask)) === 200);
        expect((await ofOperator(a, "DELETE", "/tiers/ours")).status).toBe(200);
        await obeys("the deletion at the other gateway", async () => (await statusAt(b, key, ask)) === 400);
      });

      test("a provider that is drained and undrained at one gateway is so at the other within a second", async () => {
        const path = "/health/vendor/drain";
        expect(await statusAt(b, b.key)).toBe(200);
        expect((await ofOperator(a, "POST", path, {})).status).toBe(200);
        expect(await statusAt(a, a.key)).toBe(503);
        await obeys("the drain at the other gateway", async () => (await statusAt(b, b.key)) === 503);
        expect((await ofOperator(b, "DELETE", path)).status).toBe(200);
        expect(await statusAt(b, b.key)).toBe(200);
        await obeys("the end at the first gateway", async () => (await statusAt(a, a.key)) === 200);
      });

      test("models and prices that one gateway has refreshed are served by the other within a second", async () => {
        const listAt = async (gateway: TestGateway) => {
          const response = await fetch(`${gateway.base}/models`);
          const { data } = (await response.json()) as { data: { id: string; pricing: { prompt: string } }[] };
          return new Map(data.map(({ id, pricing }) => [id, Number(pricing.prompt)]));
        };
        expect((await listAt(b)).get("openai/gpt-a")).toBe(0.000001);
        source.serve({
          openai: [model("gpt-a", 1.5), ...LISTED.slice(1).map((id) => model(id)), model("gpt-e")],
        });
        expect((await ofOperator(a, "POST", "/catalog/refresh", {})).status).toBe(200);
        expect((await listAt(a)).has("openai/gpt-e")).toBe(true);
        await obeys("the new model and price at the other gateway", async () => {
          const models = await listAt(b);
          return models.has("openai/gpt-e") && models.get("openai/gpt-a") === 0.0000015;
        });
        source.serve({ openai: LISTED.map((id) => model(id)) });
      });
    });
  }

  async function importCatalog(url: string): Promise<void> {
    const imported = importModelsDev(sourceText({ openai: LISTED.map((id) => model(id)) }), shippedRules);
    if ("rejected" in imported) throw new Error(imported.rejected);
    const database = openTestPostgres(url);
    await new PostgresCatalogStore(createPostgresDatabase(database)).writeCatalog({
      source: "a test",
      models: imported.models,
    });
    await database.close();
  }
});
