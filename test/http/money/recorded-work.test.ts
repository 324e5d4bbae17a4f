import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { createTestHealth } from "../../support/gateway/test-health.ts";
import { healthy, opening, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const SECRET = "sk-first-0123456789";

let first: Vendor;
let second: Vendor;
let gateway: TestGateway;
const testHealth = createTestHealth();

beforeAll(async () => {
  first = startVendor();
  second = startVendor();
  gateway = await startTestGateway({
    repeats: 0,
    health: testHealth.health,
    yaml: `
providers:
  first:
    base_url: ${first.baseUrl}
    api_keys: [${SECRET}]
    zero_retention: true
    models: [{id: acme/model, name: up-model, prices: {prompt: "0", completion: "0"}}, {id: acme/both, name: up-both, prices: {prompt: "0.000001", completion: "0.000001"}}]
  second:
    base_url: ${second.baseUrl}
    api_keys: [sk-second-0123456789]
    zero_retention: true
    models: [{id: acme/both, name: up-both, prices: {prompt: "0.000009", completion: "0.000009"}}]`,
  });
});
afterAll(() => Promise.all([gateway.stop(), first.stop(), second.stop()]));
afterEach(() => {
  testHealth.reset();
  first.perform(healthy("Alpha"));
  second.perform(healthy("Beta"));
});

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

/** A conversation with a tool call that appears twice and has no result. */
const TO_REPAIR = [
  { role: "user", content: "Look!" },
  {
    role: "assistant",
    content: null,
    tool_calls: ["call_1", "call_1"].map((id) => ({
      id,
      type: "function",
      function: { name: "look", arguments: "{}" },
    })),
  },
  { role: "user", content: "And?" },
];

interface Asked {
  readonly status: number;
  readonly answer: Json;
  /** The record, as the operator sees it. */
  readonly record: Json;
  readonly id: string;
}

async function ask(body: Readonly<Record<string, unknown>>, key = gateway.key): Promise<Asked> {
  const response = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/model", messages: [{ role: "user", content: "Hi" }], ...body }),
  });
  const text = await response.text();
  const id = response.headers.get("x-gateway-generation-id") ?? "";
  const answer = text.startsWith("{") ? JSON.parse(text) : text;
  return { status: response.status, answer, id, record: await show(id) };
}

async function show(id: string, key = gateway.adminKey): Promise<Json> {
  return (await callAdmin(gateway, key, "GET", `/generations/${id}`)).data;
}

describe("the record of a generation", () => {
  test.each([true, false])("has the repairs that its answer reports (stream: %p)", async (stream) => {
    const { record } = await ask({ messages: TO_REPAIR, stream });
    expect(record).toMatchObject({
      outcome: "completed",
      repairs: {
        duplicate_calls_removed: 1,
        orphan_results_removed: 0,
        placeholders_added: 1,
        ids_mapped: 0,
      },
    });
  });

  test("has neither repairs nor warnings if nothing was changed", async () => {
    const { answer, record } = await ask({});
    expect(answer).not.toHaveProperty("gateway_metadata");
    expect(record).toMatchObject({ repairs: null, warnings: [] });
  });

  test("names the provider's status, code and message of each failed attempt, without the key", async () => {
    first.perform((call) =>
      call.respond(500, { error: { message: `Broken\u0000 by ${SECRET}.\nNow.`, code: "engine_broken" } }),
    );
    const { status, record, id } = await ask({ model: "acme/both" });
    expect(status).toBe(200);
    expect(record.attempts).toMatchObject([
      {
        provider_name: "first",
        upstream_status: 500,
        upstream_code: "engine_broken",
        upstream_message: "Broken by [redacted]. Now.",
      },
      { provider_name: "second", error_type: null, upstream_code: null, upstream_message: null },
    ]);
    // Lists parse records, which must not be broken by what a provider says.
    const { body } = await callAdmin(gateway, gateway.adminKey, "GET", "/generations?provider=second");
    expect((body as unknown as { data: { id: string }[] }).data.map((line) => line.id)).toContain(id);
  });

  test("has at most 500 characters of a provider's message", async () => {
    first.perform((call) => call.respond(400, { error: { message: "long ".repeat(400) } }));
    const { record } = await ask({});
    const message: string = record.attempts[0].upstream_message;
    expect(message).toHaveLength(500);
    expect(message).toEndWith("…");
  });

  test("has the provider's message of an answer that broke off", async () => {
    first.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Hal"), { error: { message: "Out of memory.", code: "oom" } });
      await call.end();
    });
    const { record } = await ask({ stream: true });
    expect(record).toMatchObject({
      outcome: "failed",
      attempts: [{ upstream_status: 200, upstream_code: "oom", upstream_message: "Out of memory." }],
    });
    expect(record.attempts[0].error_type).toBe(record.error_type);
  });

  test("shows what a provider says about the operator's account only to the operator", async () => {
    first.perform((call) => call.respond(401, { error: { message: "Unknown key.", code: "bad_key" } }));
    const create = createAccountTools(gateway);
    const account = await create.user("caller");
    await callAdmin(gateway, gateway.adminKey, "POST", `/accounts/${account}/credits`, { amount: 1 });
    const keys = await Promise.all([create.key(account), create.key(account, { kind: "management" })]);
    const { record, id } = await ask({}, keys[0]);
    expect(record.attempts).toMatchObject([{ upstream_code: "bad_key", upstream_message: "Unknown key." }]);
    expect((await show(id, keys[1])).attempts).toMatchObject([
      { upstream_status: 401, upstream_code: null, upstream_message: null },
    ]);
  });
});

describe("the record of a generation under zero data retention", () => {
  test("keeps status and code of a failed attempt, and not the provider's message", async () => {
    first.perform((call) =>
      call.respond(400, { error: { message: "Cannot take 'my secret prompt'.", code: "invalid_prompt" } }),
    );
    const { record } = await ask({ provider: { zdr: true } });
    expect(record.attempts).toMatchObject([
      { upstream_status: 400, upstream_code: "invalid_prompt", upstream_message: null },
    ]);
    expect(JSON.stringify(record)).not.toContain("my secret prompt");
  });

  test("keeps the counts of repairs", async () => {
    const { record } = await ask({ messages: TO_REPAIR, provider: { zdr: true } });
    expect(record.repairs).toMatchObject({ duplicate_calls_removed: 1, placeholders_added: 1 });
  });
});
