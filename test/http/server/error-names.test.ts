import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { chunkOf, opening, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({
    repeats: 0,
    yaml: `
providers:
  quick:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-quick-0123456789]
    models: [{id: acme/model, name: up-model}]`,
  });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

const MESSAGES = [{ role: "user", content: "x" }];

async function send(path: string, body: object, onHead: () => void = () => {}): Promise<string> {
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  onHead();
  return response.text();
}

describe("an error whose code is the HTTP status has its name as a text in metadata.code", () => {
  test.each([
    ["/chat/completions", { model: "acme/none", messages: MESSAGES }, 400, "invalid_model"],
    ["/completions", { model: "acme/none", prompt: "x" }, 400, "invalid_model"],
    ["/embeddings", { model: "acme/none", input: "x" }, 400, "invalid_model"],
    ["/messages", { model: "acme/none", max_tokens: 9, messages: MESSAGES }, 400, "invalid_model"],
    ["/messages/count_tokens", { model: "acme/none", messages: MESSAGES }, 400, "invalid_model"],
    ["/../admin/users", {}, 403, "permission_denied"],
    ["/no/such/path", {}, 404, "not_found"],
  ])("at %s", async (path, body, status, name) => {
    const { error, error_type } = JSON.parse(await send(path, body)) as Json;
    expect([error.code, error.metadata.code, error_type]).toEqual([status, name, name]);
  });

  test("next to the field that is wrong", async () => {
    const text = await send("/chat/completions", { model: "acme/model", messages: 1 });
    expect(JSON.parse(text).error.metadata).toEqual({ code: "invalid_request", field: "messages" });
  });
});

describe("an error in the middle of a stream whose code is the HTTP status has its name as a text in metadata.code", () => {
  test.each([
    ["/chat/completions", { messages: MESSAGES }],
    ["/completions", { prompt: "x" }],
    ["/messages", { max_tokens: 9, messages: MESSAGES }],
  ])("at %s", async (path, body) => {
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Let me see."), chunkOf({ content: " Now" }));
      await call.gate();
      await call.events({ error: { message: "Broken.", code: 500 } });
      await call.end();
    });
    const asked = { model: "acme/model", stream: true, ...body };
    const text = await send(path, asked, () => vendor.calls[0]?.openGate());
    const last = text.split("\n").findLast((line) => line.startsWith("data: {")) ?? "";
    const { error } = JSON.parse(last.slice("data: ".length)) as Json;
    expect([error.code, error.metadata.code]).toEqual([502, "upstream_error"]);
  });
});

test("an error of the Responses API has a text as its code and no second one in metadata", async () => {
  const text = await send("/responses", { model: "acme/none", input: "x" });
  const { error, error_type } = JSON.parse(text) as Json;
  expect([error.code, error.status, error_type]).toEqual(["model_not_found", 400, "invalid_model"]);
  expect(error.metadata?.code).toBeUndefined();
});
