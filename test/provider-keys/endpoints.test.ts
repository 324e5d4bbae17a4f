import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Answer, makeAccount, makeKey, type Site, secretsAt, startSite } from "./site.ts";

let site: Site;

beforeAll(async () => {
  site = await startSite();
});
beforeEach(() => {
  for (const vendor of [site.near, site.far, site.openai]) vendor.reset();
});
afterAll(() => site.stop());

const OWN = "own-endpoint-0123456789";

function post(account: string, body: unknown, key?: string): Promise<Answer> {
  return site.manage(`/accounts/${account}/provider-keys`, {
    method: "POST",
    body,
    ...(key === undefined ? {} : { key }),
  });
}

describe("POST provider-keys", () => {
  test("answers 201 with all fields of the key and without the secret", async () => {
    const account = await makeAccount(site);
    const body = { provider: "near", key: ` ${OWN} `, name: " team ", models: ["acme/*"] };
    const { status, text, json } = await post(account, body);
    expect([status, text.includes(OWN)]).toEqual([201, false]);
    expect(json.data).toEqual({
      id: expect.stringMatching(/^pkey_/),
      account_id: account,
      provider: "near",
      name: "team",
      last_four: "6789",
      order: 0,
      enabled: true,
      readable: true,
      models: ["acme/*"],
      members: null,
      teams: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      last_used_at: null,
      last_error: null,
    });
  });

  test("gives a key the order after those of the same provider", async () => {
    const account = await makeAccount(site);
    const orders: number[] = [];
    for (const provider of ["near", "near", "far", "near"])
      orders.push((await post(account, { provider, key: OWN })).json.data.order);
    expect(orders).toEqual([0, 1, 0, 2]);
  });

  test("shows the end of the key id of a service account's file, not the end of the file", async () => {
    const { generateKeyPairSync } = await import("node:crypto");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const file = JSON.stringify({
      type: "service_account",
      client_email: "a@b.iam.gserviceaccount.com",
      private_key_id: "abcdef1234",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    });
    const own = await startSite({
      environment: { GOOGLE_VERTEX_PROJECT: "p", GOOGLE_VERTEX_LOCATION: "eu" },
    });
    const account = await makeAccount(own);
    const path = `/accounts/${account}/provider-keys`;
    const answer = await own.manage(path, { method: "POST", body: { provider: "google-vertex", key: file } });
    expect([answer.status, answer.json.data?.last_four]).toEqual([201, "1234"]);
    await own.stop();
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["no provider", { key: OWN }, "provider"],
    ["an unknown provider", { provider: "unknown", key: OWN }, "provider"],
    ["a provider that accepts no BYOK keys", { provider: "sandbox", key: OWN }, "provider"],
    ["a provider without a configured URL", { provider: "azure", key: OWN }, "provider"],
    ["no key", { provider: "near" }, "key"],
    ["a key that is too short", { provider: "near", key: "abc" }, "key"],
    ["a key of several lines", { provider: "near", key: "own-key\r\nx-evil: 1" }, "key"],
    ["a key with other characters", { provider: "near", key: "own-schlüssel-0123" }, "key"],
    ["an unknown field", { provider: "near", key: OWN, base_url: "http://evil" }, "body"],
    ["a negative order", { provider: "near", key: OWN, order: -1 }, "order"],
    ["models that are not a list", { provider: "near", key: OWN, models: "acme/*" }, "models"],
    ["an empty list of members", { provider: "near", key: OWN, members: [] }, "members"],
  ])("rejects %s and names the field, never the key", async (_name, body, field) => {
    const { status, text, json } = await post(await makeAccount(site), body);
    expect([status, json.error.metadata.field]).toEqual([400, field]);
    if (body["key"] !== undefined) expect(text).not.toContain(String(body["key"]).slice(0, 9));
  });

  test("rejects more than a hundred keys of an account", async () => {
    const account = await makeAccount(site);
    for (let owner = 0; owner < 100; owner++) await post(account, { provider: "near", key: OWN });
    expect((await post(account, { provider: "near", key: OWN })).status).toBe(400);
  });
});

describe("GET provider-keys", () => {
  test("lists the keys of an account by provider and order, page by page", async () => {
    const [account, other] = [await makeAccount(site), await makeAccount(site)];
    for (const [provider, order] of [
      ["near", 2],
      ["far", 1],
      ["near", 1],
    ] as const)
      await site.bring(account, provider, OWN, { order });
    await site.bring(other, "near", OWN);
    const path = `/accounts/${account}/provider-keys`;
    const all = (await site.manage(path)).json;
    const places = (data: { provider: string; order: number }[]) => data.map((k) => [k.provider, k.order]);
    expect([places(all.data), all.next]).toEqual([
      [
        ["far", 1],
        ["near", 1],
        ["near", 2],
      ],
      null,
    ]);
    const first = (await site.manage(`${path}?limit=2`)).json;
    const rest = (await site.manage(`${path}?limit=2&after=${first.next}`)).json;
    expect([...first.data, ...rest.data]).toEqual(all.data);
    expect(rest.next).toBeNull();
    expect((await site.manage(`${path}?after=pkey_none`)).status).toBe(400);
    expect((await site.manage(`${path}?limit=0`)).status).toBe(400);
  });
});

describe("a change of a provider key", () => {
  test("changes only the given fields", async () => {
    const account = await makeAccount(site);
    const id = await site.bring(account, "near", OWN, { name: "a", models: ["acme/*"] });
    const path = `/accounts/${account}/provider-keys/${id}`;
    const change = (body: unknown) => site.manage(path, { method: "PATCH", body });
    expect((await change({ enabled: false, order: 7 })).json.data).toMatchObject({
      name: "a",
      enabled: false,
      order: 7,
      models: ["acme/*"],
      last_four: "6789",
    });
    const replaced = await change({ key: "own-replaced-abcd", models: null });
    expect(replaced.json.data).toMatchObject({ models: null, last_four: "abcd", enabled: false });
    expect(replaced.text).not.toContain("own-replaced");
    expect((await change({ provider: "far" })).status).toBe(400);
  });

  test("is 404 for a key of another account and for an unknown key, like every other request for it", async () => {
    const [account, other] = [await makeAccount(site), await makeAccount(site)];
    const id = await site.bring(account, "near", OWN);
    for (const path of [
      `/accounts/${other}/provider-keys/${id}`,
      `/accounts/${account}/provider-keys/pkey_none`,
      `/accounts/user_none/provider-keys/${id}`,
    ]) {
      expect((await site.manage(path, { method: "PATCH", body: {} })).status).toBe(404);
      expect((await site.manage(path, { method: "DELETE" })).status).toBe(404);
      expect((await site.manage(`${path}/test`, { method: "POST" })).status).toBe(404);
    }
    expect((await post("user_none", { provider: "near", key: OWN })).status).toBe(404);
  });

  test("that deletes it leaves nothing of it in the store", async () => {
    const account = await makeAccount(site);
    const id = await site.bring(account, "near", OWN);
    const path = `/accounts/${account}/provider-keys`;
    expect((await site.manage(`${path}/${id}`, { method: "DELETE" })).json).toEqual({
      data: { id, deleted: true },
    });
    expect((await site.manage(path)).json.data).toEqual([]);
    expect((await site.manage(`${path}/${id}`, { method: "DELETE" })).status).toBe(404);
  });
});

describe("the management of provider keys", () => {
  test("is allowed only to the operator and to owners and admins of the account", async () => {
    const roles = {
      user_owner: "owner",
      user_admin: "admin",
      user_bill: "billing",
      user_plain: "member",
    } as const;
    const organization = await makeAccount(site, { members: roles });
    const other = await makeAccount(site, { members: { user_owner: "owner" } });
    const of = (user: string | null, account = organization) => makeKey(site, account, user, "management");
    const statusWith = async (key: string) =>
      (await site.manage(`/accounts/${organization}/provider-keys`, { key })).status;
    expect(await statusWith(site.gateway.adminKey)).toBe(200);
    expect(await statusWith(await of("user_owner"))).toBe(200);
    expect(await statusWith(await of("user_admin"))).toBe(200);
    expect(await statusWith(await of(null))).toBe(200);
    expect(await statusWith(await of("user_bill"))).toBe(403);
    expect(await statusWith(await of("user_plain"))).toBe(403);
    expect(await statusWith(await of("user_owner", other))).toBe(404);
    expect(await statusWith(await makeKey(site, organization, "user_owner"))).toBe(403);
    expect(await statusWith("anonymous")).toBe(401);
  });

  test("is allowed to a user for their own account", async () => {
    const user = await makeAccount(site);
    const key = await makeKey(site, user, user, "management");
    expect((await post(user, { provider: "near", key: OWN }, key)).status).toBe(201);
  });
});

describe("the test of a provider key", () => {
  async function trial(provider = "near", more: Record<string, unknown> = {}): Promise<Answer> {
    const account = await makeAccount(site, { overdraft: 0 });
    const id = await site.bring(account, provider, OWN, more);
    return site.manage(`/accounts/${account}/provider-keys/${id}/test`, { method: "POST" });
  }

  test("requests one token with it and charges nothing", async () => {
    const { status, json } = await trial();
    expect([status, json.data.status, json.data.model]).toEqual([200, "ok", "acme/model"]);
    expect(secretsAt(site.near)).toEqual([OWN]);
    expect(JSON.parse(site.near.last().text)).toMatchObject({ max_tokens: 1 });
  });

  test("calls a provider without a platform key, with its cheapest model", async () => {
    expect((await trial("openai")).json.data.status).toBe("ok");
    expect(secretsAt(site.openai)).toEqual([OWN]);
    expect((await trial("openai", { models: ["openai/gpt-4o"] })).json.data.model).toBe("openai/gpt-4o");
    expect((await trial("near", { models: ["openai/*"] })).json.data).toMatchObject({
      status: "out_of_reach",
      model: null,
    });
  });

  test.each<[string, number, unknown, string]>([
    ["rejects the key", 401, { error: { message: `Wrong key ${OWN}` } }, "refused"],
    ["has no credit for it", 402, { error: { message: "No credit." } }, "refused"],
    ["limits the key", 429, { error: { message: "Slow down." } }, "ok"],
    ["rejects the request", 400, { error: { message: `max_tokens is too low for ${OWN}` } }, "ok"],
    ["is overloaded", 503, { error: { message: "Overloaded." } }, "out_of_reach"],
    ["fails", 500, `<html>${OWN}</html>`, "out_of_reach"],
  ])("reports the result without the secret if the provider %s", async (_name, status, body, result) => {
    site.near.reset(() => new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));
    const answer = await trial();
    expect([answer.status, answer.json.data.status]).toEqual([200, result]);
    expect(answer.text).not.toContain(OWN);
  });

  test("reports and records that the provider cannot be reached", async () => {
    const own = await startSite();
    await own.near.stop();
    const account = await makeAccount(own);
    const id = await own.bring(account, "near", OWN);
    const path = `/accounts/${account}/provider-keys`;
    const answer = await own.manage(`${path}/${id}/test`, { method: "POST" });
    expect(answer.json.data.status).toBe("out_of_reach");
    expect((await own.manage(path)).json.data[0].last_error.message).toBe(answer.json.data.message);
    await own.stop();
  });
});

describe("GET providers", () => {
  test("shows which providers accept BYOK keys", async () => {
    const response = await fetch(`${site.gateway.base}/providers?all=true`);
    const { data } = (await response.json()) as { data: { slug: string; byokEnabled: boolean }[] };
    const of = (slug: string) => data.find((provider) => provider.slug === slug)?.byokEnabled;
    expect([of("near"), of("openai"), of("groq"), of("azure")]).toEqual([true, true, true, false]);
  });
});
