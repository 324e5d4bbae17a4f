import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createTestHealth } from "../../support/gateway/test-health.ts";
import { chunkOf, opening, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;
const testHealth = createTestHealth();
beforeEach(() => testHealth.reset());

beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({
    repeats: 0,
    health: testHealth.health,
    yaml: `
providers:
  quick:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-quick-0123456789]
    models: [{id: acme/model, name: up-model}]`,
  });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

/** Groq's error for a tool call that it cannot parse. */
const FAILED_USE = {
  error: {
    message: "Failed to call a function. See 'failed_generation' for more details.",
    type: "invalid_request_error",
    code: "tool_use_failed",
    failed_generation: '<function=look{"at": "sk-quick-0123456789"}</function>',
  },
};

/** The error's metadata for the client, without the platform key. */
const FACTS = {
  provider: "quick",
  upstream_status: 400,
  upstream_code: "tool_use_failed",
  failed_generation: '<function=look{"at": "[redacted]"}</function>',
};

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

/** A request of each client API. */
const APIS = {
  chat: { path: "/chat/completions", body: { messages: [{ role: "user", content: "x" }] } },
  responses: { path: "/responses", body: { input: "x" } },
  messages: { path: "/messages", body: { max_tokens: 10, messages: [{ role: "user", content: "x" }] } },
} as const;

async function ask(api: keyof typeof APIS, stream: boolean, onHead: () => void = () => {}) {
  const { path, body } = APIS[api];
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/model", stream, ...body }),
  });
  onHead();
  return { status: response.status, text: await response.text() };
}

describe.each(Object.keys(APIS) as (keyof typeof APIS)[])(
  "a %s client gets the vendor's error details",
  (api) => {
    test.each([true, false])("of a rejection before its answer (stream: %p)", async (stream) => {
      vendor.perform((call) => call.respond(400, FAILED_USE));
      const { status, text } = await ask(api, stream);
      expect([status, JSON.parse(text).error.metadata]).toMatchObject([400, FACTS]);
    });

    test("of a rejection whose code repeats the platform key, with the key redacted", async () => {
      vendor.perform((call) => call.respond(400, { error: { message: "No.", code: "sk-quick-0123456789" } }));
      const { text } = await ask(api, false);
      expect(JSON.parse(text).error.metadata).toMatchObject({ upstream_code: "[redacted]" });
      expect(text).not.toContain("sk-quick");
    });

    test("of an error in the first event of a stream", async () => {
      vendor.perform(async (call) => {
        await call.begin();
        await call.events(FAILED_USE);
        await call.end();
      });
      const { status, text } = await ask(api, true);
      expect([status, JSON.parse(text).error.metadata]).toMatchObject([400, FACTS]);
    });

    test("of an error in the middle of a stream", async () => {
      vendor.perform(async (call) => {
        await call.begin();
        await call.events(...opening("Let me see."), chunkOf({ content: " Now" }));
        await call.gate();
        await call.events(FAILED_USE);
        await call.end();
      });
      const { status, text } = await ask(api, true, () => vendor.calls[0]?.openGate());
      const ended = text.trimEnd().replace(/\n\ndata: \[DONE\]$/, "");
      const last: Json = JSON.parse(ended.split("data: ").at(-1) as string);
      const error = api === "responses" ? last.response.error : last.error;
      expect([status, error.metadata]).toMatchObject([200, FACTS]);
    });
  },
);

describe("what a vendor says about the operator's account is not forwarded to clients", () => {
  const MESSAGES = [
    "Your account 7100012345 (owner7@example.com) is limited; its balance is $12.34.",
    "您的账号7100012345请求过多，当前余额 12.34 元。",
    "アカウント 7100012345 の残高は ¥1234 です。",
  ];

  test.each(MESSAGES)("with any status: %s", async (message) => {
    for (const status of [400, 422, 429, 500, 503]) {
      vendor.perform((call) => call.respond(status, { error: { message, code: status } }));
      const { text } = await ask("chat", false);
      expect(text).not.toMatch(/7100012345|owner7|12\.?34/);
    }
  });

  test.each(MESSAGES)("in the middle of a stream: %s", async (message) => {
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Let me see."));
      await call.gate();
      await call.events({ error: { message, code: 400 } });
      await call.end();
    });
    const { text } = await ask("chat", true, () => vendor.calls[0]?.openGate());
    expect(text).toContain('data: {"error":');
    expect(text).not.toMatch(/7100012345|owner7|12\.?34/);
  });
});
