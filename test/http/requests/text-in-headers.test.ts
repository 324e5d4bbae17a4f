import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { checkConfig } from "../../../src/app/config/load-config.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";
import { startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const SPEECH = `output: speech, prices: {prompt: "0", completion: "0", character: "0.000015"}`;

let vendor: RecordingVendor;
/** A vendor that sends its heads byte by byte. */
let raw: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  raw = startVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  alpha: {base_url: "${vendor.baseUrl}", models: [{id: acme/model, name: модель}]}
  beta: {base_url: "${raw.baseUrl}", models: [{id: acme/speak, name: up, ${SPEECH}}]}
`,
  });
});
afterAll(async () => {
  raw.stop();
  await Promise.all([gateway.stop(), vendor.stop()]);
});
beforeEach(() => vendor.reset());

function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${gateway.url}/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

test("a model may have any name at its host", async () => {
  const response = await post("/chat/completions", {
    model: "acme/model",
    messages: [{ role: "user", content: "x" }],
  });
  expect(response.status).toBe(200);
  expect(JSON.parse(vendor.last().text)).toMatchObject({ model: "модель" });
  expect(response.headers.get("x-gateway-model")).toBe("acme/model");
});

test("the media type of an answer reaches the client in ASCII, whatever characters the provider sent in it", async () => {
  raw.perform((call) => call.respond(200, "sound", { "content-type": 'audio/mpeg; name="é\u0080ÿ"' }));
  const response = await post("/audio/speech", { model: "acme/speak", input: "Hi", voice: "alloy" });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe('audio/mpeg; name="%C3%A9%C2%80%C3%BF"');
  expect(await response.text()).toBe("sound");
});

describe("a model id that cannot stand in a header", () => {
  const problemsOf = (yaml: string): string => {
    try {
      checkConfig(yaml, "gateway.yaml", {});
    } catch (error) {
      return String(error);
    }
    return "none";
  };

  const IDS = ["acme/модель", "acme/模型", "acme/mod\u00e8le", "acme/a\u00a0b"];

  test.each(IDS)("is a problem of the configuration that names the field and the remedy: %j", (id) => {
    const base = `providers: {a: {base_url: "http://127.0.0.1:1/v1", models: [{id: ${JSON.stringify(id)}}]}}`;
    const problems = problemsOf(base);
    expect(problems).toContain("providers.a.models.0.id");
    expect(problems).toMatch(/printable ASCII|author\/model/);
  });

  test.each([
    [
      "the catalog's overrides",
      (id: string) => `catalog: {overrides: {models: {${id}: {}}}}`,
      "catalog.overrides",
    ],
    [
      "tiers",
      (id: string) => `catalog: {tiers: [{id: gateway-auto/own, modes: {default: {models: [${id}]}}}]}`,
      "tiers",
    ],
    [
      "the targets of named routes",
      (id: string) => `named_routes: {fast: {kind: alias, target: ${id}}}`,
      "named_routes.fast.target",
    ],
    [
      "the names of named routes",
      (id: string) => `named_routes: {${id}: {kind: alias, target: acme/model}}`,
      "named_routes",
    ],
    [
      "aliases of prefixes",
      (id: string) => `server: {model_prefix_aliases: {"kilo/": ${id}}}`,
      "model_prefix_aliases",
    ],
  ])("is a problem in %s", (_, write, field) => {
    for (const id of IDS) expect(problemsOf(write(JSON.stringify(id)))).toContain(field);
  });

  test.each([
    ["PUT", "/named-routes/fast", (id: string) => ({ kind: "alias", target: id })],
    ["PUT", "/named-routes/{id}", () => ({ kind: "alias", target: "acme/model" })],
    [
      "PUT",
      "/tiers/gateway-auto%2Fown",
      (id: string) => ({ id: "gateway-auto/own", modes: { default: { models: [id] } } }),
    ],
  ])("is rejected by the management API: %s %s", async (method, path, body) => {
    for (const id of IDS) {
      const at = path.replace("{id}", encodeURIComponent(id));
      const { status } = await callAdmin(gateway, gateway.adminKey, method, at, body(id));
      expect([id, status]).toEqual([id, 400]);
    }
  });
});

describe("a header for a provider that cannot be sent", () => {
  test.each([
    [`headers: {x-team: "a\\nb"}`, "headers.x-team"],
    [`headers: {x-team: модель}`, "headers.x-team"],
    [`headers: {"x team": a}`, "headers"],
    [`api_keys: ["sk-ключ"]`, "api_keys.0"],
    [`api_keys: ["sk-a\\r\\nb"]`, "api_keys.0"],
  ])("is a problem of the configuration: %s", (line, field) => {
    const yaml = `providers: {a: {base_url: "http://127.0.0.1:1/v1", ${line}}}`;
    expect(() => checkConfig(yaml, "gateway.yaml", {})).toThrow(`providers.a.${field}`);
  });
});
