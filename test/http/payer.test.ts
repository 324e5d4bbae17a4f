import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { callAdmin, createFounder, type Founder } from "../support/management.ts";

let gateway: TestGateway;
let found: Founder;
let database: Database;

beforeAll(async () => {
  gateway = await startTestGateway();
  found = createFounder(gateway);
  database = new Database(join(gateway.dataDir, "gateway.db"));
});
afterAll(async () => {
  database.close();
  await gateway.stop();
});

/** Enough for everything that is asked here. */
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

/** Who paid for an answered request, and for whom. */
async function payerOf(response: Response): Promise<{ account_id: string; user_id: string | null }> {
  expect(response.status).toBe(200);
  await response.text();
  const id = response.headers.get("x-gateway-generation-id") as string;
  return eventually("the record", () =>
    database
      .query<{ account_id: string; user_id: string | null }, [string]>(
        "SELECT account_id, user_id FROM generations WHERE id = ? AND outcome = 'completed'",
      )
      .get(id),
  );
}

async function expectRefused(response: Response, type = "permission_denied"): Promise<void> {
  const { error_type } = (await response.json()) as { error_type: string };
  expect([response.status, error_type]).toEqual([403, type]);
}

const manage = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

/** An organization with an owner and another member, who has a key of their own. */
async function foundCompany() {
  const [owner, user] = [await found.user("Owner", CREDIT), await found.user("Ada", CREDIT)];
  const organization = await found.organization(owner, CREDIT);
  await found.member(organization, user, "member");
  return { organization, user, key: await found.key(user) };
}

describe("who pays", () => {
  test("the user, with their own key", async () => {
    const { user, key } = await foundCompany();
    expect(await payerOf(await ask(key, null))).toEqual({ account_id: user, user_id: user });
    expect(await payerOf(await ask(key, user))).toEqual({ account_id: user, user_id: user });
  });

  test("the organization that x-gateway-organization names, where the user is a member", async () => {
    const { organization, user, key } = await foundCompany();
    expect(await payerOf(await ask(key, organization))).toEqual({
      account_id: organization,
      user_id: user,
    });
  });

  test("the organization whose key it is, a member's or a service key", async () => {
    const { organization, user } = await foundCompany();
    const members = await found.key(organization, { user_id: user });
    const service = await found.key(organization);
    expect(await payerOf(await ask(members, null))).toEqual({ account_id: organization, user_id: user });
    expect(await payerOf(await ask(service, null))).toEqual({ account_id: organization, user_id: null });
    expect(await payerOf(await ask(service, organization))).toMatchObject({ account_id: organization });
  });
});

describe("x-gateway-organization is refused", () => {
  test("for who is no member, whatever they name", async () => {
    const { organization, user } = await foundCompany();
    const stranger = await found.key(await found.user("Eve", CREDIT));
    for (const named of [organization, user, "org_none", "house"])
      await expectRefused(await ask(stranger, named));
  });

  test("for service keys of another organization, and for the operator's keys", async () => {
    const { organization } = await foundCompany();
    const elsewhere = await foundCompany();
    await expectRefused(await ask(await found.key(elsewhere.organization), organization));
    await expectRefused(await ask(gateway.key, organization));
  });

  test("for a member who was taken out, at once, with their keys of the organization", async () => {
    const { organization, user, key } = await foundCompany();
    const members = await found.key(organization, { user_id: user });
    expect((await ask(key, organization)).status).toBe(200);
    expect((await ask(members, null)).status).toBe(200);
    await manage("DELETE", `/organizations/${organization}/members/${user}`);
    await expectRefused(await ask(key, organization));
    await expectRefused(await ask(members, null));
    expect((await ask(key, null)).status).toBe(200);
  });
});

describe("a closed account calls nothing", () => {
  test("an organization, by any of its keys; the user's own still work", async () => {
    const { organization, key } = await foundCompany();
    const service = await found.key(organization);
    expect((await ask(service, null)).status).toBe(200);
    await manage("PATCH", `/organizations/${organization}`, { closed: true });
    await expectRefused(await ask(service, null));
    await expectRefused(await ask(key, organization));
    expect((await ask(key, null)).status).toBe(200);
    await manage("PATCH", `/organizations/${organization}`, { closed: false });
    expect((await ask(service, null)).status).toBe(200);
  });

  test("a user, at their own cost and at an organization's", async () => {
    const { organization, user, key } = await foundCompany();
    const members = await found.key(organization, { user_id: user });
    await manage("PATCH", `/users/${user}`, { closed: true });
    for (const response of [ask(key, null), ask(key, organization), ask(members, null)])
      await expectRefused(await response);
  });
});

describe("a key with models", () => {
  test("calls those alone, and falls back to those alone", async () => {
    const key = await found.key("acct_default", { models: ["openai/*", "SANDBOX/*:free"] });
    for (const model of ["sandbox/echo:free", "Sandbox/Echo:FREE"])
      expect((await ask(key, null, model)).status).toBe(200);
    await expectRefused(await ask(key, null), "model_not_allowed");
    await expectRefused(
      await ask(key, null, "sandbox/echo", { models: ["sandbox/echo"] }),
      "model_not_allowed",
    );
    const response = await ask(key, null, "sandbox/echo", { models: ["sandbox/echo:free"] });
    expect(response.headers.get("x-gateway-model")).toBe("sandbox/echo:free");
  });

  test("is bound to them at every client API, also for counting", async () => {
    const key = await found.key("acct_default", { models: ["openai/*"] });
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

  test("takes a change of them over at once", async () => {
    const made = await manage("POST", "/keys", { name: "k", models: ["openai/*"] });
    const key = made.body["key"] as string;
    await expectRefused(await ask(key, null), "model_not_allowed");
    await manage("PATCH", `/keys/${made.data.id}`, { models: null });
    expect((await ask(key, null)).status).toBe(200);
  });
});
