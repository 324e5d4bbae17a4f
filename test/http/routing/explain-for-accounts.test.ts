import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type AccountTools,
  type ApiAnswer,
  callAdmin,
  createAccountTools,
} from "../../support/gateway/management.ts";

let gateway: TestGateway;
let tools: AccountTools;
let user: string;
let stranger: string;
/** A management key of the user. */
let manager: string;

beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: `
providers:
  acme:
    base_url: http://127.0.0.1:1/v1
    api_keys: [sk-acme-0123456789]
    models: [{id: acme/one}, {id: acme/two}]
`,
  });
  tools = createAccountTools(gateway);
  user = await tools.user("Ada", { overdraft: 1, policy: { denied_models: ["acme/two"] } });
  stranger = await tools.user("Eve");
  manager = await tools.key(user, { kind: "management" });
});
afterAll(() => gateway.stop());

const MESSAGES = [{ role: "user", content: "Hi" }];

function explain(body: object, key: string = gateway.adminKey): Promise<ApiAnswer> {
  return callAdmin(gateway, key, "POST", "/route/explain", body);
}

const requestOf = (model: string, more: object = {}) => ({ request: { model, messages: MESSAGES, ...more } });

async function keyId(secret: string): Promise<string> {
  const response = await callAdmin(gateway, gateway.adminKey, "GET", "/keys?limit=100");
  return response.rows.find(({ hint }) => secret.endsWith(String(hint).slice(-4)))?.id as string;
}

describe("POST /api/admin/route/explain", () => {
  test("explains a request as one of the operator account by default", async () => {
    const { status, data } = await explain(requestOf("acme/two"));
    expect(status).toBe(200);
    expect(data).toMatchObject({
      requested_model: "acme/two",
      candidates: [{ provider: "acme", model: "acme/two", would_be_asked: true, reason: "only" }],
      error: null,
      tier: null,
    });
  });

  test("applies the policy of the account", async () => {
    const { data } = await explain({ ...requestOf("acme/two"), account_id: user });
    expect(data).toMatchObject({
      candidates: [],
      left_out: [{ model: "acme/two", reason: "policy", about: "account.denied_models" }],
      error: { type: "model_not_allowed" },
    });
  });

  test("applies the models of a key", async () => {
    const secret = await tools.key(user, { models: ["acme/two"] });
    const { data } = await explain({ ...requestOf("acme/one"), key_id: await keyId(secret) });
    expect(data).toMatchObject({
      candidates: [],
      left_out: [{ reason: "policy", about: "key.allowed_models" }],
    });
  });

  test("explains a request of a manager as one of its own account", async () => {
    const { data } = await explain(requestOf("acme/two"), manager);
    expect(data).toMatchObject({ error: { type: "model_not_allowed" } });
  });

  test("explains requests of every client API", async () => {
    const request = { model: "acme/one", max_tokens: 5, messages: MESSAGES };
    expect((await explain({ api: "messages", request })).data).toMatchObject({
      candidates: [{ model: "acme/one", upstream_format: "openai-chat" }],
    });
    const { data } = await explain({ api: "responses", request: { model: "acme/one", input: "Hi" } });
    expect(data).toMatchObject({ candidates: [{ model: "acme/one" }] });
  });

  test("tries a tier that is not stored, and says which case applies", async () => {
    const tier = {
      id: "gateway-auto/try",
      name: "Try",
      rule: {
        by: "header",
        header: "x-mode",
        cases: [{ values: ["plan"], pick: { models: ["acme/none", "acme/two"], reasoning: "high" } }],
        else: { models: ["acme/one"] },
      },
    };
    const request = { messages: MESSAGES };
    expect((await explain({ tier, request })).data).toMatchObject({
      requested_model: "gateway-auto/try",
      candidates: [{ model: "acme/one" }],
      tier: { id: "gateway-auto/try", when: "else", models: ["acme/one"] },
    });
    const planning = await explain({ tier, request, headers: { "X-Mode": "Plan" } });
    expect(planning.data).toMatchObject({
      candidates: [{ model: "acme/two" }],
      tier: { when: "x-mode: plan", models: ["acme/none", "acme/two"] },
    });
    expect((await explain(requestOf("gateway-auto/try"))).status).toBe(400);
    expect((await callAdmin(gateway, gateway.adminKey, "GET", "/tiers/try")).status).toBe(404);
  });

  test("tries a tier in place of the one in force with its id", async () => {
    const models = ["acme/one"];
    const rule = { by: "balance", paid: { models }, else: { models: ["acme/two"] } };
    const tier = { id: "gateway-auto/balanced", name: "Ours", rule };
    const of = async (more: object) =>
      (await explain({ tier, ...requestOf("gateway-auto/balanced"), ...more })).data["tier"];
    expect(await of({})).toMatchObject({ when: "credits", models });
    // The account has no credits.
    expect(await of({ account_id: user })).toMatchObject({ when: "else", models: ["acme/two"] });
  });

  test("leaves no audit entry, no record and no hold", async () => {
    const read = async () => [
      (await callAdmin(gateway, gateway.adminKey, "GET", "/audit?limit=1")).rows[0]?.["place"],
      (await callAdmin(gateway, gateway.adminKey, "GET", "/generations")).rows.length,
      (await callAdmin(gateway, gateway.adminKey, "GET", "/holds")).rows.length,
    ];
    const before = await read();
    await explain({ ...requestOf("acme/one"), account_id: user });
    expect(await read()).toEqual(before);
  });

  test("rejects an account and a key of others", async () => {
    expect((await explain({ ...requestOf("acme/one"), account_id: stranger }, manager)).status).toBe(404);
    const key_id = await keyId(await tools.key(stranger));
    expect((await explain({ ...requestOf("acme/one"), key_id }, manager)).status).toBe(404);
    expect((await explain({ ...requestOf("acme/one"), key_id })).status).toBe(200);
  });

  test.each<[string, object, number, string]>([
    ["an unknown account", { account_id: "user_none" }, 404, "no account"],
    ["an unknown key", { key_id: "key_none" }, 404, "no key"],
    ["an unknown model", { request: { model: "acme/oen", messages: MESSAGES } }, 400, "no model"],
    ["an invalid request", { request: { model: "acme/one", messages: "Hi" } }, 400, "messages"],
    ["an unknown client API", { api: "telegraph" }, 400, "api"],
    ["a header that is none", { headers: { "a b": "c" } }, 400, "headers"],
    ["a header value with a line break", { headers: { a: "b\nc" } }, 400, "headers.a"],
    ["an invalid tier", { tier: { id: "try", name: "x", rule: { by: "free" } } }, 400, "tier.id"],
  ])("rejects %s", async (_name, more, status, words) => {
    const answer = await explain({ ...requestOf("acme/one"), ...more });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(words);
  });

  test("rejects a management key, and one that is revoked", async () => {
    const management = await explain({ ...requestOf("acme/one"), key_id: await keyId(manager) });
    expect(management.status).toBe(400);
    const key_id = await keyId(await tools.key(user));
    await callAdmin(gateway, gateway.adminKey, "DELETE", `/keys/${key_id}`);
    const revoked = await explain({ ...requestOf("acme/one"), key_id });
    expect([revoked.status, JSON.stringify(revoked.body)]).toEqual([400, expect.stringContaining("revoked")]);
  });
});
