import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: "limits:\n  attempts: 2\n",
    environment: { MISTRAL_API_KEY: "sk-hush-0123456789" },
  });
});
afterAll(() => gateway.stop());

test("GET /api/admin/settings lists each setting with its value and its source, without secrets", async () => {
  const { status, rows, body } = await callAdmin(gateway, gateway.adminKey, "GET", "/settings");
  expect(status).toBe(200);
  const find = (name: string) => rows.find((row) => row["name"] === name);
  expect(find("limits.attempts")).toMatchObject({ value: 2, source: "file", file: "gateway.yaml", line: 2 });
  expect(find("admin_key")).toMatchObject({
    value: "********",
    source: "environment",
    variable: "GATEWAY_ADMIN_KEY",
    is_secret: true,
  });
  expect(find("providers.mistral.api_keys")).toMatchObject({ variable: "MISTRAL_API_KEY", is_secret: true });
  expect(find("limits.body_bytes")).toMatchObject({ source: "default", is_secret: false });
  expect(JSON.stringify(body)).not.toContain("hush");
  expect(JSON.stringify(body)).not.toContain(gateway.adminKey);
});

test("GET /api/admin/settings lists stored tiers as values from the database", async () => {
  const tier = { name: "Ours", rule: { by: "free" } };
  await callAdmin(gateway, gateway.adminKey, "PUT", "/tiers/ours", tier);
  const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", "/settings");
  expect(rows.filter((row) => row["source"] === "database")).toMatchObject([
    { name: "tiers", value: [{ id: "gateway-auto/ours", name: "Ours" }], is_secret: false },
  ]);
});
