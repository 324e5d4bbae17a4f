import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type AskableApi, CLIENT_APIS } from "../../support/clients/client-apis.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createAccountTools } from "../../support/gateway/management.ts";
import { addAccountWithKey, manage } from "../../support/money.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

const [CHAT, RESPONSES, MESSAGES] = CLIENT_APIS as readonly [AskableApi, AskableApi, AskableApi];

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    environment: {
      ANTHROPIC_API_KEY: "sk-test-anthropic-0001",
      ANTHROPIC_BASE_URL: vendor.baseUrl,
      OPENAI_API_KEY: "sk-test-openai-0001",
      OPENAI_BASE_URL: vendor.baseUrl,
      MISTRAL_API_KEY: "sk-test-mistral-0001",
      MISTRAL_BASE_URL: vendor.baseUrl,
    },
    yaml: `
named_routes:
  team/strong: { kind: alias, target: anthropic/claude-opus-4.8 }
providers:
  gifts:
    base_url: ${vendor.baseUrl}
    models: [{ id: "openai/gpt-oss-20b:free", prices: { prompt: "0", completion: "0" } }]
`,
  });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));
beforeEach(() => vendor.reset(answerAnyFormat));

async function ask(model: string, { key = gateway.key, api = CHAT, more = {} } = {}) {
  const response = await fetch(`${gateway.base}${api.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(api.body(model, more)),
  });
  const body = (await response.json()) as {
    error?: { type: string; metadata?: { rule?: string } };
    usage?: { cost?: number };
    gateway_metadata?: { warnings: { field: string; message: string }[] };
  };
  return { status: response.status, model: response.headers.get("x-gateway-model"), body };
}

async function listIds(key: string): Promise<string[]> {
  const response = await fetch(`${gateway.base}/models`, { headers: { authorization: `Bearer ${key}` } });
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}

describe("the tier small for an account whose balance does not cover its paid models", () => {
  const DUST = "0.0000002";
  let key: string;
  beforeAll(async () => {
    key = await addAccountWithKey(gateway, { id: "user_dust" });
    await manage(gateway, "/accounts/user_dust/credits", { amount: DUST });
  });

  test.each([CHAT, RESPONSES, MESSAGES])(
    "answers in $name with a free model, costs nothing, and says that its provider may keep the data",
    async (api) => {
      const { status, model, body } = await ask("gateway-auto/small", { key, api });
      expect([status, model]).toEqual([200, "openai/gpt-oss-20b:free"]);
      expect(vendor.requests).toHaveLength(1);
      expect(body.gateway_metadata?.warnings).toContainEqual({
        field: "model",
        message: expect.stringContaining("may keep the request"),
      });
      if (api === CHAT) expect(body.usage?.cost).toBe(0);
    },
  );

  test("is a 402 where the request does not let its data be collected, and calls no provider", async () => {
    const { status } = await ask("gateway-auto/small", {
      key,
      more: { provider: { data_collection: "deny" } },
    });
    expect(status).toBe(402);
    expect(vendor.requests).toHaveLength(0);
  });

  test("is a 402 as before for a paid model that is named", async () => {
    expect((await ask("openai/gpt-5.4-nano", { key })).status).toBe(402);
  });

  test("answers with a paid model, without a warning, once the balance covers it", async () => {
    const paid = await addAccountWithKey(gateway, { id: "user_covered" });
    await manage(gateway, "/accounts/user_covered/credits", { amount: "5" });
    const { model, body } = await ask("gateway-auto/small", { key: paid });
    expect(model).toBe("openai/gpt-5.4-nano");
    expect(body.gateway_metadata?.warnings ?? []).toEqual([]);
  });

  test("does not turn to a free model because the paid ones fail", async () => {
    const paid = await addAccountWithKey(gateway, { id: "user_failing" });
    await manage(gateway, "/accounts/user_failing/credits", { amount: "5" });
    vendor.reset(() => new Response('{"error":{"message":"down"}}', { status: 500 }));
    expect((await ask("gateway-auto/small", { key: paid })).status).toBe(502);
    expect(vendor.requests.some(({ text }) => text.includes("gpt-oss"))).toBe(false);
  });
});

/** Returns the key of a new account with a policy. */
async function keyUnder(policy: Readonly<Record<string, unknown>>): Promise<string> {
  const tools = createAccountTools(gateway);
  const user = await tools.user("Ada", { overdraft: null, policy });
  return tools.key(user);
}

describe("a list of allowed models", () => {
  test.each([["gateway-auto/frontier"], ["gateway-auto/f*"]])(
    "that names a tier lets it resolve, and lists it: %s",
    async (pattern) => {
      const key = await keyUnder({ allowed_models: [pattern] });
      const { status, model } = await ask("gateway-auto/frontier", { key });
      expect([status, model]).toEqual([200, "anthropic/claude-sonnet-5"]);
      expect(await listIds(key)).toEqual(
        pattern.endsWith("*") ? ["gateway-auto/frontier", "gateway-auto/free"] : ["gateway-auto/frontier"],
      );
      // Only by way of the tier.
      expect((await ask("anthropic/claude-sonnet-5", { key })).body.error?.metadata?.rule).toBe(
        "account.allowed_models",
      );
    },
  );

  test("that names a named route of the operator lets it resolve, and lists it", async () => {
    const key = await keyUnder({ allowed_models: ["team/strong"] });
    const { status, model } = await ask("team/strong", { key });
    expect([status, model]).toEqual([200, "anthropic/claude-opus-4.8"]);
    expect(await listIds(key)).toEqual(["team/strong"]);
    expect((await ask("gateway-auto/frontier", { key })).status).toBe(403);
  });

  test("whose pattern only happens to match a named route does not let it resolve", async () => {
    const key = await keyUnder({ allowed_models: ["openai/*", "*strong"] });
    expect((await ask("team/strong", { key })).status).toBe(403);
  });

  test("does not overrule a list of denied models", async () => {
    const key = await keyUnder({ allowed_models: ["gateway-auto/frontier"], denied_models: ["anthropic/*"] });
    expect((await ask("gateway-auto/frontier", { key })).model).toBe("openai/gpt-5.4");
  });
});

describe("a denied model", () => {
  test.each([
    ["openai/gpt-4o", "openai/gpt-4o-2024-08-06"],
    ["openai/gpt-4o", "openai/gpt-4o-2024-05-13"],
    ["anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5-20250929"],
    ["mistralai/mistral-large", "mistralai/mistral-large-latest"],
  ])("is denied under the id of a release too: %s as %s", async (denied, release) => {
    const key = await keyUnder({ denied_models: [denied] });
    const { status, body } = await ask(release, { key });
    expect([status, body.error?.metadata?.rule]).toEqual([403, "account.denied_models"]);
    expect(await listIds(key)).not.toContain(release);
  });

  test.each([
    ["openai/gpt-4o", "openai/gpt-4o-mini"],
    ["openai/gpt-4o-2024-08-06", "openai/gpt-4o"],
    ["openai/gpt-5", "openai/gpt-5.1"],
  ])("does not deny another model: %s and %s", async (denied, other) => {
    const key = await keyUnder({ denied_models: [denied] });
    expect((await ask(other, { key })).status).toBe(200);
  });
});

describe("the list of models", () => {
  async function model(id: string) {
    const response = await fetch(`${gateway.base}/models/${id}`);
    return (await response.json()) as { description: string; supported_parameters: string[] };
  }

  test("describes every model", async () => {
    const response = await fetch(`${gateway.base}/models?all=true`);
    const { data } = (await response.json()) as { data: { id: string; description: string }[] };
    expect(data.filter(({ description }) => description === "").map(({ id }) => id)).toEqual([]);
    expect((await model("anthropic/claude-opus-4.8")).description).toBe(
      "Claude Opus 4.8 takes text, images and files and answers with text. It reasons and calls tools. Its context window has 1,000,000 tokens.",
    );
    expect((await model("openai/text-embedding-3-small")).description).toEndWith(
      "turns texts into embeddings.",
    );
  });

  test("says which models fill in the middle", async () => {
    expect((await model("mistralai/codestral-latest")).supported_parameters).toContain("suffix");
    expect((await model("mistralai/mistral-small-latest")).supported_parameters).not.toContain("suffix");
  });
});
