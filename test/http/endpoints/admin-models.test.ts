import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../../support/gateway/management.ts";

interface Row {
  readonly id: string;
  readonly is_served: boolean;
  readonly not_served_because: string | null;
  readonly served_by: readonly string[];
  readonly providers: readonly string[];
  readonly tiers: readonly string[];
  readonly pricing: { readonly prompt: string } | null;
}

let gateway: TestGateway;
let create: AccountTools;

async function listModels(key: string): Promise<readonly Row[]> {
  const { status, body } = await callAdmin(gateway, key, "GET", "/models");
  expect(status).toBe(200);
  return (body as { data: Row[] }).data;
}

const find = (rows: readonly Row[], id: string): Row => rows.find((row) => row.id === id) as Row;

describe("GET /api/admin/models", () => {
  beforeAll(async () => {
    gateway = await startTestGateway({
      yaml: `sandbox: "on"\nproviders:\n  openai:\n    api_keys: [vendor-key]\n`,
    });
    create = createAccountTools(gateway);
  });
  afterAll(() => gateway.stop());

  test("lists all models of the catalog with what serves them, and says why others are not served", async () => {
    const rows = await listModels(gateway.adminKey);
    expect(rows.length).toBeGreaterThan(400);
    expect(find(rows, "openai/gpt-5-mini")).toMatchObject({
      is_served: true,
      not_served_because: null,
      served_by: ["openai"],
      providers: expect.arrayContaining(["azure", "openai"]),
      pricing: { prompt: "0.00000025" },
    });
    expect(find(rows, "anthropic/claude-sonnet-4.6")).toMatchObject({
      is_served: false,
      not_served_because: "no_provider_key",
      served_by: [],
    });
    for (const row of rows) expect(row.is_served).toBe(row.not_served_because === null);
  });

  test("names the tiers that may choose a model, also one that is not served", async () => {
    const rows = await listModels(gateway.adminKey);
    expect(find(rows, "anthropic/claude-opus-4.8").tiers).toContain("gateway-auto/frontier");
    expect(find(rows, "openai/gpt-5-mini").tiers).not.toContain("gateway-auto/frontier");
  });

  test("shows an account which models its policy forbids", async () => {
    const user = await create.user("Ada");
    const organization = await create.organization(user, {
      policy: { denied_models: ["openai/gpt-5-mini"] },
    });
    const key = await create.key(organization, { kind: "management", user_id: user });
    const rows = await listModels(key);
    expect(find(rows, "openai/gpt-5-mini")).toMatchObject({
      is_served: false,
      not_served_because: "policy",
    });
    expect(find(rows, "openai/gpt-5")).toMatchObject({ is_served: true });
  });

  test("describes one model with its endpoints, their health and prices by day", async () => {
    const { body } = await callAdmin(gateway, gateway.adminKey, "GET", "/models/sandbox/echo");
    expect(body).toMatchObject({
      data: {
        id: "sandbox/echo",
        is_served: true,
        endpoints: [
          {
            provider: "sandbox",
            upstream_model: "echo",
            is_configured: true,
            status: "unknown",
            requests: 0,
            prices: [{ from: null, until: null, min_prompt_tokens: 0, is_current: true }],
          },
        ],
      },
    });
  });

  test("rejects a model that the catalog does not have with a 404 that names it", async () => {
    const { status, body } = await callAdmin(gateway, gateway.adminKey, "GET", "/models/acme/none");
    expect(status).toBe(404);
    expect(JSON.stringify(body)).toContain("acme/none");
  });
});
