import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import {
  beginProviderSignIn,
  type ReturnedBrowser,
  restartWithProvider,
  returnFromProvider,
  signInThroughProvider,
} from "../../support/gateway/provider-sign-in.ts";
import { callWithSession, signIn } from "../../support/gateway/sign-in.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";

const SESSION = "/api/console/session";
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

let provider: TestOidcProvider;
let gateway: TestGateway;
let organization: string;
let other: string;

/** Starts the gateway again with the ids of the organizations, which are known only after the first start. */
beforeAll(async () => {
  provider = await startOidcProvider();
  const first = await startTestGateway();
  const create = createAccountTools(first);
  organization = await create.organization(await create.user("owner"));
  other = await create.organization(await create.user("another owner"), { name: "Other" });
  const rule = (value: string, of: string, role: string) => ({
    claim: "groups",
    value,
    organization: of,
    role,
  });
  gateway = await restartWithProvider(first, provider, {
    name: "Test login",
    create_users: true,
    rules: [
      { claim: "groups", value: "operators", operator: true },
      rule("engineering", organization, "member"),
      rule("leads", organization, "admin"),
      rule("others", other, "billing"),
      { claim: "realm_access.roles", value: "auditor", organization: other, role: "billing" },
      { claim: "https://example.com/teams", value: "finance", organization: other, role: "billing" },
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  provider.stop();
});
beforeEach(() => {
  provider.userInfo = {};
  provider.forged = {};
  provider.signsWithOtherKey = false;
});

/** All claims that rules name, with no value. */
const ALL_EMPTY = { groups: [], realm_access: { roles: [] }, "https://example.com/teams": [] } as const;

const begin = (to: Pick<TestGateway, "url"> = gateway) => beginProviderSignIn(to, provider);
const comeBack = (back: URL, cookie: string) => returnFromProvider({ back, cookie });
const signInAs = (person: TestOidcProvider["person"]): Promise<ReturnedBrowser> =>
  signInThroughProvider(gateway, provider, "groups" in person ? { ...ALL_EMPTY, ...person } : person);

const sessionOf = (returned: ReturnedBrowser) => callWithSession(gateway, returned, { path: SESSION });

describe("signing in through an OpenID Connect provider", () => {
  test("gives a person with a rule a user, a role in the organization, and a session", async () => {
    const returned = await signInAs({ sub: "ada", name: "Ada Lovelace", groups: ["engineering"] });
    expect(returned).toMatchObject({ status: 303, location: "/console" });
    expect((await sessionOf(returned)).body).toMatchObject({
      role: "member",
      account: { id: organization },
      user: { name: "Ada Lovelace" },
      sign_in: { oidc: { name: "Test login" } },
    });
  });

  test("finds the same user by issuer and subject, although name and e-mail have changed", async () => {
    const first = await sessionOf(await signInAs({ sub: "grace", name: "Grace", groups: ["engineering"] }));
    const later = { sub: "grace", name: "Someone", email: "new@example.com", groups: ["engineering"] };
    const second = await sessionOf(await signInAs(later));
    expect(second.body["user"]).toEqual(first.body["user"]);
    const twin = { sub: "grace-2", name: "Grace", email: "new@example.com", groups: ["engineering"] };
    const third = await sessionOf(await signInAs(twin));
    expect((third.body["user"] as { id: string }).id).not.toBe((first.body["user"] as { id: string }).id);
  });

  describe("with an e-mail", () => {
    const emailAfter = async (
      person: TestOidcProvider["person"],
      userInfo: TestOidcProvider["userInfo"] = {},
    ) => {
      provider.userInfo = userInfo;
      const returned = await signInAs({ groups: ["engineering"], ...person });
      const { id } = (await sessionOf(returned)).body["user"] as { id: string };
      return (await callAdmin(gateway, gateway.adminKey, "GET", `/users/${id}`)).data["email"];
    };

    test("gives the user the e-mail if the provider has verified it, and updates it later", async () => {
      expect(await emailAfter({ sub: "m1", email: "M1@Example.com" })).toBeNull();
      expect(await emailAfter({ sub: "m1", email: "M1@Example.com", email_verified: false })).toBeNull();
      expect(await emailAfter({ sub: "m1", email: "M1@Example.com", email_verified: true })).toBe(
        "m1@example.com",
      );
      expect(await emailAfter({ sub: "m1", email: "m1@example.org", email_verified: true })).toBe(
        "m1@example.org",
      );
      expect(await emailAfter({ sub: "m1" })).toBe("m1@example.org");
    });

    test("leaves out an e-mail that another user has, or that is none", async () => {
      expect(await emailAfter({ sub: "m2", email: "m2@example.com", email_verified: true })).toBe(
        "m2@example.com",
      );
      expect(await emailAfter({ sub: "m3", email: "M2@example.com", email_verified: true })).toBeNull();
      expect(await emailAfter({ sub: "m4", email: ["m4@example.com"], email_verified: true })).toBeNull();
    });

    test("reads the e-mail from the userinfo endpoint if the ID token lacks it", async () => {
      const info = { email: "m5@example.com", email_verified: true };
      expect(await emailAfter({ sub: "m5" }, info)).toBe("m5@example.com");
      expect(await emailAfter({ sub: "m6", email: "m6@example.com" }, info)).toBeNull();
      expect(await emailAfter({ sub: "m7", email_verified: true }, { email: "m7@example.com" })).toBeNull();
    });

    test("goes on without an e-mail if the userinfo endpoint fails", async () => {
      expect(await emailAfter({ sub: "m8" }, null)).toBeNull();
    });
  });

  test("applies the rules at each sign-in: the role follows the groups, and ends with them", async () => {
    const roleOf = async (groups: readonly string[]) =>
      (await sessionOf(await signInAs({ sub: "eve", groups }))).body["role"];
    expect(await roleOf(["engineering", "leads"])).toBe("admin");
    expect(await roleOf(["engineering"])).toBe("member");
    expect(await roleOf(["others"])).toBe("billing");
    const { rows } = await callAdmin(
      gateway,
      gateway.adminKey,
      "GET",
      `/organizations/${organization}/members`,
    );
    const user = (await sessionOf(await signInAs({ sub: "eve", groups: ["others"] }))).body["user"];
    expect(rows.map(({ user_id }) => user_id)).not.toContain((user as { id: string }).id);
    const without = await signInAs({ sub: "eve", groups: [] });
    expect([without.status, without.cookie]).toEqual([403, ""]);
    expect(without.page).toContain("no rule gives you a role");
  });

  test.each([
    ["a member of an object", { realm_access: { roles: ["auditor"] } }],
    ["a claim whose name has dots", { "https://example.com/teams": ["finance"] }],
    ["a claim named like the path of another", { "realm_access.roles": "auditor" }],
  ])("reads %s", async (what, claims) => {
    const returned = await signInAs({ sub: `nested ${what}`, ...ALL_EMPTY, ...claims });
    expect((await sessionOf(returned)).body).toMatchObject({ role: "billing", account: { id: other } });
  });

  test("tells two people apart whose subjects have the first 80 characters in common", async () => {
    const start = "s".repeat(80);
    const operator = (end: string) => signInAs({ sub: start + end, groups: ["operators"] });
    const keys = [await operator(""), await operator("a"), await operator("b"), await operator("a")];
    const ids = await Promise.all(keys.map(async (one) => (await sessionOf(one)).body["key_id"]));
    expect(new Set(ids).size).toBe(3);
    expect(ids[3]).toBe(ids[1]);
  });

  test("rejects a subject with control characters", async () => {
    const returned = await signInAs({ sub: "ada\u001b[2J", groups: ["operators"] });
    expect([returned.status, returned.cookie]).toEqual([403, ""]);
    expect(returned.page).toContain("characters that are not allowed");
  });

  test("leaves controls and overrides of direction out of a person's name", async () => {
    const person = { sub: "odd name", name: "Ada\u001b[31m\u202eevil\nrow", groups: ["engineering"] };
    const { body } = await sessionOf(await signInAs(person));
    expect(body["user"]).toMatchObject({ name: "Ada [31m evil row" });
  });

  describe("does not take what the provider does not say for no group", () => {
    interface Row {
      readonly target: string | null;
      readonly changes: Readonly<Record<string, unknown>>;
    }
    const manage = (method: string, path: string, body?: object) =>
      callAdmin(gateway, gateway.adminKey, method, path, body);
    const listAudit = async () => (await manage("GET", "/audit?limit=5")).rows as unknown as readonly Row[];
    /** Signs a person in who gets a key, and returns the user and the key. */
    async function join(sub: string) {
      const { body } = await sessionOf(await signInAs({ sub, ...ALL_EMPTY, groups: ["engineering"] }));
      const { id } = body["user"] as { id: string };
      const made = await manage("POST", "/keys", { name: "own", account_id: organization, user_id: id });
      return { id, key: String(made.body["key"]) };
    }
    const isValid = async (key: string) =>
      (await fetch(`${gateway.base}/key`, { headers: { authorization: `Bearer ${key}` } })).status === 200;

    test.each([
      ["leaves the claim out", {}],
      ["says null", { ...{ groups: null } }],
      [
        "says that the groups are elsewhere, because there are too many",
        { _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: "https://graph.example" } } },
      ],
      ["says only that there are groups", { hasgroups: true }],
      ["sends some of them", { groups: ["others"], _claim_names: { groups: "src1" } }],
    ])("if it %s: the sign-in fails with the reason, and memberships and keys stay", async (what, claims) => {
      const sub = `member ${what}`;
      const { id, key } = await join(sub);
      const { groups: _none, ...empty } = ALL_EMPTY;
      const returned = await signInAs({ sub, ...empty, ...claims });
      expect([returned.status, returned.cookie]).toEqual([403, ""]);
      expect(returned.page).toContain(
        "did not send all claims on which this gateway's rules depend (groups:",
      );
      const { rows } = await manage("GET", `/organizations/${organization}/members?limit=100`);
      expect(rows.map(({ user_id }) => user_id)).toContain(id);
      expect(await isValid(key)).toBe(true);
    });

    test("unless the userinfo endpoint says it", async () => {
      provider.userInfo = { groups: ["leads"] };
      const { groups: _none, ...empty } = ALL_EMPTY;
      const person = { sub: "overage", ...empty, _claim_names: { groups: "src1" }, hasgroups: true };
      expect((await sessionOf(await signInAs(person))).body).toMatchObject({ role: "admin" });
    });

    test("creates no user for a person who is not known", async () => {
      const returned = await signInAs({ sub: "unknown", hasgroups: true });
      expect(returned.status).toBe(403);
      const { rows } = await manage("GET", "/users?limit=100");
      expect(rows.map(({ name }) => name)).not.toContain("unknown");
    });

    test("a rejected sign-in that ends a membership has an audit entry, and its keys stay ended when the person joins again", async () => {
      const { id, key } = await join("leaver");
      const without = await signInAs({ sub: "leaver", ...ALL_EMPTY });
      expect([without.status, without.cookie]).toEqual([403, ""]);
      const [entry] = await listAudit();
      expect(entry).toMatchObject({
        action: "GET /api/console/oidc/callback",
        target: id,
        changes: { rejected: true, roles: { [organization]: null } },
      });
      expect(await isValid(key)).toBe(false);
      expect((await signInAs({ sub: "leaver", ...ALL_EMPTY, groups: ["engineering"] })).status).toBe(303);
      expect(await isValid(key)).toBe(false);
      const [joined] = await listAudit();
      expect(joined?.changes).toEqual({ signed_in_by: "oidc", roles: { [organization]: "member" } });
    });
  });

  test("makes a person with the operator's rule the operator", async () => {
    const returned = await signInAs({ sub: "root", groups: ["operators"] });
    expect((await sessionOf(returned)).body).toMatchObject({ role: "operator", account: null });
    expect((await callWithSession(gateway, returned, { path: "/api/admin/users" })).status).toBe(200);
  });

  test("tells a person without a user and without a rule what to ask for", async () => {
    const returned = await signInAs({ sub: "stranger", email: "owner@example.com", groups: ["elsewhere"] });
    expect([returned.status, returned.cookie]).toEqual([403, ""]);
    expect(returned.page).toContain("gateway identities add &lt;user&gt; stranger");
  });

  test("gives a person who is linked to a user the user's own memberships", async () => {
    const create = createAccountTools(gateway);
    const user = await create.user("Linked");
    const own = await create.organization(user);
    const stores = await openTestStores(gateway.dataDir);
    await stores.identities.addIdentity({
      issuer: provider.issuer,
      subject: "linked",
      userId: user,
      createdAt: 0,
    });
    await stores.close();
    const { body } = await sessionOf(await signInAs({ sub: "linked" }));
    expect(body).toMatchObject({ role: "owner", account: { id: own }, user: { id: user } });
  });
});

describe("a sign-in through the provider is rejected", () => {
  const rejected = async (returned: ReturnedBrowser) => {
    expect([returned.status, returned.cookie]).toEqual([403, ""]);
    expect(returned.page).toContain("You are not signed in");
  };

  beforeEach(() => {
    provider.person = { sub: "root", groups: ["operators"] };
  });

  test("with another state", async () => {
    const { back, cookie } = await begin();
    back.searchParams.set("state", "another");
    await rejected(await comeBack(back, cookie));
  });

  test("with an ID token that the provider's published keys have not signed", async () => {
    provider.signsWithOtherKey = true;
    await rejected(await signInAs(provider.person));
  });

  test("with another nonce in the ID token", async () => {
    provider.forged = { nonce: "another" };
    await rejected(await signInAs(provider.person));
  });

  test.each([
    ["issuer", { iss: "https://evil.example" }],
    ["audience", { aud: "another-client" }],
    ["end", { exp: 1 }],
  ])("with another %s in the ID token", async (_what, forged) => {
    provider.forged = forged;
    await rejected(await signInAs(provider.person));
  });

  test("in a browser that has not begun it, such as a victim's that follows an attacker's link", async () => {
    const { back } = await begin();
    await rejected(await comeBack(back, ""));
    const victim = await begin();
    await rejected(await comeBack(back, victim.cookie));
  });

  test("the second time with the same code", async () => {
    const { back, cookie } = await begin();
    expect((await comeBack(back, cookie)).status).toBe(303);
    await rejected(await comeBack(back, cookie));
  });

  test("after many failures from one address, on a page that says how long to wait and leads on", async () => {
    const oidc = {
      issuer: provider.issuer,
      client_id: "gateway",
      client_secret: "secret",
      name: "Test login",
    };
    const fresh = await startTestGateway({ yaml: JSON.stringify({ console: { oidc } }) });
    try {
      const { back, cookie } = await begin(fresh);
      back.searchParams.set("state", "another");
      for (let failed = 0; failed < 10; failed++) expect((await comeBack(back, cookie)).status).toBe(403);
      const response = await fetch(back, { headers: { cookie } });
      expect([response.status, response.headers.get("content-type")]).toEqual([
        429,
        "text/html; charset=utf-8",
      ]);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      const page = await response.text();
      expect(page).toContain("Too many sign-ins from this address have failed");
      expect(page).toContain('href="/api/console/oidc/start"');
      expect(page).toContain('href="/console"');
    } finally {
      await fresh.stop();
    }
  });

  test("under a host that is not configured", async () => {
    const started = await fetch(`${gateway.url}/api/console/oidc/start`, {
      redirect: "manual",
      headers: { host: "evil.example" },
    });
    expect(started.status).toBe(403);
  });

  test("if the provider is not configured", async () => {
    const plain = await startTestGateway();
    expect((await fetch(`${plain.url}/api/console/oidc/start`)).status).toBe(404);
    await plain.stop();
  });
});

describe("signing out", () => {
  test("of the console names the address at which the provider signs out, too", async () => {
    const returned = await signInAs({ sub: "ada", groups: ["engineering"] });
    const { body } = await callWithSession(gateway, returned, { method: "DELETE", path: SESSION });
    const url = new URL(body["sign_out_url"] as string);
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/logout`);
    expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`${gateway.url}/console`);
    expect((await sessionOf(returned)).status).toBe(401);
    const byKey = await signIn(gateway, { key: gateway.adminKey });
    const answer = await callWithSession(gateway, byKey, { method: "DELETE", path: SESSION });
    expect(answer.body["sign_out_url"]).toBeNull();
  });

  const logout = async (claims: Readonly<Record<string, unknown>>): Promise<number> => {
    const token = await provider.logoutToken(claims);
    const response = await fetch(`${gateway.url}/api/console/oidc/backchannel-logout`, {
      method: "POST",
      body: new URLSearchParams({ logout_token: token }),
    });
    await response.arrayBuffer();
    return response.status;
  };

  test("at the provider ends all sessions of the person, and of no one else", async () => {
    const ada = [
      await signInAs({ sub: "ada", groups: ["engineering"] }),
      await signInAs({ sub: "ada", groups: ["others"] }),
      await signInAs({ sub: "root", groups: ["operators"] }),
    ] as const;
    expect(await logout({ sub: "ada", events: { [LOGOUT_EVENT]: {} } })).toBe(200);
    const statuses = await Promise.all(ada.map(async (one) => (await sessionOf(one)).status));
    expect(statuses).toEqual([401, 401, 200]);
    const audit = await callAdmin(gateway, gateway.adminKey, "GET", "/audit?limit=1");
    expect(audit.rows[0]).toMatchObject({
      action: "POST /api/console/oidc/backchannel-logout",
      changes: { revoked: true, signed_out_by: "oidc" },
    });
  });

  test.each([
    ["without the event of a logout", { sub: "root" }],
    ["with a nonce, as an ID token has", { sub: "root", nonce: "n", events: { [LOGOUT_EVENT]: {} } }],
    ["of another issuer", { sub: "root", iss: "https://evil.example", events: { [LOGOUT_EVENT]: {} } }],
    ["for another client", { sub: "root", aud: "another", events: { [LOGOUT_EVENT]: {} } }],
    ["without a subject", { events: { [LOGOUT_EVENT]: {} } }],
  ])("rejects a logout token %s", async (_what, claims) => {
    const operator = await signInAs({ sub: "root", groups: ["operators"] });
    expect(await logout(claims)).toBe(400);
    expect((await sessionOf(operator)).status).toBe(200);
  });
});
