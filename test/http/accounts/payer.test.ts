import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { withStoresOf } from "../../support/money.ts";

let gateway: TestGateway;
let create: AccountTools;

beforeAll(async () => {
  gateway = await startTestGateway();
  create = createAccountTools(gateway);
});
afterAll(async () => {
  await gateway.stop();
});

/** Enough for every request of these tests. */
const CREDIT = { overdraft: 1_000 };

function ask(key: string, organization: string | null, model = "sandbox/echo", more: object = {}) {
  return fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      ...(organization === null ? {} : { "x-gateway-organization": organization }),
    },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }], ...more }),
  });
}

/** Returns the account that paid for an answered request, and the user who made it. */
async function payerOf(response: Response): Promise<{ account_id: string; user_id: string | null }> {
  expect(response.status).toBe(200);
  await response.text();
  const id = response.headers.get("x-gateway-generation-id") as string;
  return eventually("the record", async () => {
    const record = await withStoresOf(gateway, ({ usage }) => usage.findUsage(id));
    return (
      record?.outcome === "completed" && { account_id: record.accountId as string, user_id: record.userId }
    );
  });
}

async function expectForbidden(response: Response, type = "permission_denied"): Promise<void> {
  const { error_type } = (await response.json()) as { error_type: string };
  expect([response.status, error_type]).toEqual([403, type]);
}

const manage = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

/** Creates an organization with an owner and a member, and an API key of the member's own account. */
async function createCompany() {
  const [owner, user] = [await create.user("Owner", CREDIT), await create.user("Ada", CREDIT)];
  const organization = await create.organization(owner, CREDIT);
  await create.member(organization, user, "member");
  return { organization, user, key: await create.key(user) };
}

describe("a generation is paid for", () => {
  test("by the user with a key of the user's account", async () => {
    const { user, key } = await createCompany();
    expect(await payerOf(await ask(key, null))).toEqual({ account_id: user, user_id: user });
    expect(await payerOf(await ask(key, user))).toEqual({ account_id: user, user_id: user });
  });

  test("by the organization in x-gateway-organization if the user is a member of it", async () => {
    const { organization, user, key } = await createCompany();
    expect(await payerOf(await ask(key, organization))).toEqual({
      account_id: organization,
      user_id: user,
    });
  });

  test("by the organization that each request names, if one key names several in turn", async () => {
    const { organization, user, key } = await createCompany();
    const other = await create.organization(await create.user("Bo", CREDIT), CREDIT);
    await create.member(other, user, "member");
    const payers = [organization, other, null, other, organization];
    for (const payer of payers)
      expect(await payerOf(await ask(key, payer))).toEqual({ account_id: payer ?? user, user_id: user });
    await manage("PATCH", `/organizations/${other}`, { policy: { denied_models: ["sandbox/*"] } });
    await expectForbidden(await ask(key, other), "model_not_allowed");
    expect(await payerOf(await ask(key, organization))).toMatchObject({ account_id: organization });
    await expectForbidden(await ask(key, other), "model_not_allowed");
  });

  test("by the organization whose key is used, a member's key or a service key", async () => {
    const { organization, user } = await createCompany();
    const members = await create.key(organization, { user_id: user });
    const service = await create.key(organization);
    expect(await payerOf(await ask(members, null))).toEqual({ account_id: organization, user_id: user });
    expect(await payerOf(await ask(service, null))).toEqual({ account_id: organization, user_id: null });
    expect(await payerOf(await ask(service, organization))).toMatchObject({ account_id: organization });
  });
});

describe("x-gateway-organization is rejected", () => {
  test("if the user is not a member, whatever account it names", async () => {
    const { organization, user } = await createCompany();
    const stranger = await create.key(await create.user("Eve", CREDIT));
    for (const named of [organization, user, "org_none", "house"])
      await expectForbidden(await ask(stranger, named));
  });

  test("for service keys of another organization and for the operator's keys", async () => {
    const { organization } = await createCompany();
    const elsewhere = await createCompany();
    await expectForbidden(await ask(await create.key(elsewhere.organization), organization));
    await expectForbidden(await ask(gateway.key, organization));
  });

  test("at once for a removed member, along with the member's keys of the organization", async () => {
    const { organization, user, key } = await createCompany();
    const members = await create.key(organization, { user_id: user });
    expect((await ask(key, organization)).status).toBe(200);
    expect((await ask(members, null)).status).toBe(200);
    await manage("DELETE", `/organizations/${organization}/members/${user}`);
    await expectForbidden(await ask(key, organization));
    expect((await ask(members, null)).status).toBe(401);
    expect((await ask(key, null)).status).toBe(200);
  });
});

describe("a closed account cannot make generations", () => {
  test("if it is an organization, with any of its keys, while a member's personal key still works", async () => {
    const { organization, key } = await createCompany();
    const service = await create.key(organization);
    expect((await ask(service, null)).status).toBe(200);
    await manage("PATCH", `/organizations/${organization}`, { closed: true });
    await expectForbidden(await ask(service, null));
    await expectForbidden(await ask(key, organization));
    expect((await ask(key, null)).status).toBe(200);
    await manage("PATCH", `/organizations/${organization}`, { closed: false });
    expect((await ask(service, null)).status).toBe(200);
  });

  test("if it is a user, at the user's or at an organization's expense", async () => {
    const { organization, user, key } = await createCompany();
    const members = await create.key(organization, { user_id: user });
    await manage("PATCH", `/users/${user}`, { closed: true });
    for (const response of [ask(key, null), ask(key, organization), ask(members, null)])
      await expectForbidden(await response);
  });
});

describe("a key with a list of models", () => {
  test("can only call those models and fall back to those models", async () => {
    const key = await create.key("acct_default", { models: ["openai/*", "SANDBOX/*:free"] });
    for (const model of ["sandbox/echo:free", "Sandbox/Echo:FREE"])
      expect((await ask(key, null, model)).status).toBe(200);
    await expectForbidden(await ask(key, null), "model_not_allowed");
    await expectForbidden(
      await ask(key, null, "sandbox/echo", { models: ["sandbox/echo"] }),
      "model_not_allowed",
    );
    const response = await ask(key, null, "sandbox/echo", { models: ["sandbox/echo:free"] });
    expect(response.headers.get("x-gateway-model")).toBe("sandbox/echo:free");
  });

  test("is restricted to them in every client API and in token counts", async () => {
    const key = await create.key("acct_default", { models: ["openai/*"] });
    const content = "x";
    for (const [path, body] of [
      ["/chat/completions", { messages: [{ role: "user", content }] }],
      ["/responses", { input: content }],
      ["/messages", { messages: [{ role: "user", content }], max_tokens: 5 }],
      ["/messages/count_tokens", { messages: [{ role: "user", content }] }],
    ] as const) {
      const response = await fetch(gateway.base + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "sandbox/echo", ...body }),
      });
      expect([path, response.status]).toEqual([path, 403]);
      expect(await response.text()).toContain("sandbox/echo");
    }
  });

  test("follows a change of the list at once", async () => {
    const made = await manage("POST", "/keys", { name: "k", models: ["openai/*"] });
    const key = made.body["key"] as string;
    await expectForbidden(await ask(key, null), "model_not_allowed");
    await manage("PATCH", `/keys/${made.data.id}`, { models: null });
    expect((await ask(key, null)).status).toBe(200);
  });
});
