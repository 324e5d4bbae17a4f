import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const YAML = `providers:
  groq: { api_keys: [{ id: a, key: gsk-0123456789 }] }
  mine: { name: My host, base_url: "http://127.0.0.1:1/v1", models: [{ id: mine/model, name: m }] }
`;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: YAML });
});
afterAll(() => gateway.stop());

// biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
type Body = any;

test("the providers that can be configured are listed by name, with what each needs and serves", async () => {
  const { status, body } = await callAdmin(gateway, gateway.adminKey, "GET", "/config/providers");
  const data = (body as Body).data as Body[];
  expect((body as Body).host_formats).toContain("openai-responses");
  expect(status).toBe(200);
  const names = data.map(({ name }) => name);
  expect(names).toEqual(names.toSorted((a: string, b: string) => a.localeCompare(b, "en")));
  const find = (slug: string) => data.find((one) => one.slug === slug);
  expect(find("azure")).toMatchObject({
    base_url: "https://{resource}.openai.azure.com",
    parts: [
      { name: "resource", default: null, variables: ["AZURE_RESOURCE_NAME"] },
      { name: "api_version", default: null },
    ],
    key_kind: "text",
    key_variables: ["AZURE_API_KEY", "AZURE_OPENAI_API_KEY"],
    models: 0,
  });
  expect(find("amazon-bedrock").key_kind).toBe("aws");
  expect(find("google-vertex")).toMatchObject({ key_kind: "google", parts: [{}, { default: "global" }] });
  expect(find("groq").models).toBeGreaterThan(0);
  expect(find("groq").keys_url).toMatch(/^https:/);
  expect(find("mine")).toMatchObject({ name: "My host", is_own_host: true, models: 1, catalog_models: 1 });
  expect(JSON.stringify(body)).not.toContain("gsk-");
});

test("only the operator may list them", async () => {
  expect((await callAdmin(gateway, gateway.key, "GET", "/config/providers")).status).toBe(403);
});
