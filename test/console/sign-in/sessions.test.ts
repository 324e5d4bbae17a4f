import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SESSION_IDLE_MS, SESSION_MAX_MS } from "../../../src/core/console/console-session.ts";
import { queryTables } from "../../support/databases/test-tables.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { callWithSession, findSessionId, type SignedIn, signIn } from "../../support/gateway/sign-in.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

const PATH = "/api/console/session";

let gateway: TestGateway;
let create: AccountTools;

const statusOf = async (signedIn: SignedIn, path = PATH): Promise<number> =>
  (await callWithSession(gateway, signedIn, { path })).status;

describe("signing in to the console", () => {
  beforeAll(async () => {
    gateway = await startTestGateway();
    create = createAccountTools(gateway);
  });
  afterAll(() => gateway.stop());

  test("with the operator's key opens a session that sees everything", async () => {
    const signedIn = await signIn(gateway, { key: gateway.adminKey });
    expect(signedIn.status).toBe(201);
    expect(signedIn.body).toMatchObject({
      role: "operator",
      account: null,
      user: null,
      base_url: gateway.url,
    });
    expect((await callWithSession(gateway, signedIn, { path: PATH })).body).toEqual(signedIn.body);
    expect(await statusOf(signedIn, "/api/admin/users")).toBe(200);
  });

  test("sets a cookie that scripts cannot read and other sites do not send", async () => {
    const { headers } = await signIn(gateway, { key: gateway.adminKey });
    expect(headers.get("set-cookie")).toMatch(
      /^gateway_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/,
    );
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("with the key of an organization's member opens a session with the member's name, account and role", async () => {
    const user = await create.user("Grace");
    const organization = await create.organization(user);
    const key = await create.key(organization, { kind: "management", user_id: user });
    const signedIn = await signIn(gateway, { key });
    expect(signedIn.body).toMatchObject({
      role: "owner",
      account: { id: organization, name: "Acme", kind: "organization" },
      user: { id: user, name: "Grace" },
    });
    expect(await statusOf(signedIn, `/api/admin/organizations/${organization}`)).toBe(200);
    expect(await statusOf(signedIn, "/api/admin/users")).toBe(403);
  });

  test.each([
    ["an unknown key", () => ({ key: "gw_unknown" }), 401, "key"],
    ["an unknown code", () => ({ code: "unknown" }), 401, "code"],
    ["an inference key", () => ({ key: gateway.key }), 403, undefined],
  ])("with %s is rejected and sets no cookie", async (_what, credentials, status, field) => {
    const { headers, body, ...answer } = await signIn(gateway, credentials());
    expect(answer.status).toBe(status);
    expect(headers.get("set-cookie")).toBeNull();
    expect((body["error"] as { metadata?: { field: string } }).metadata?.field).toBe(field as string);
  });

  test.each([{}, { key: "gw_a", code: "b" }])("with %j names what to send", async (body) => {
    const answer = await signIn(gateway, body as { key: string });
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([
      400,
      expect.stringContaining("Send either key or code."),
    ]);
  });

  test("ends the session that the browser had before", async () => {
    const first = await signIn(gateway, { key: gateway.adminKey });
    const second = await signIn(gateway, { key: gateway.adminKey }, { cookie: first.cookie });
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
  });

  test("is in the audit log, with the key and the session", async () => {
    const signedIn = await signIn(gateway, { key: gateway.adminKey });
    const target = await findSessionId(gateway, signedIn);
    const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", "/audit");
    expect(rows).toContainEqual(
      expect.objectContaining({ action: `POST ${PATH}`, key_id: "key_operator", target }),
    );
  });

  test("stores neither the secret of the cookie nor the admin key's plain hash", async () => {
    const { cookie } = await signIn(gateway, { key: gateway.adminKey });
    const rows = JSON.stringify(await queryTables(gateway.dataDir, "SELECT * FROM console_sessions"));
    expect(rows).toContain("key_operator");
    expect(rows).not.toContain(cookie.split("=")[1] as string);
    expect(rows).not.toContain(new Bun.CryptoHasher("sha256").update(gateway.adminKey).digest("hex"));
  });

  test("without a session, says how to sign in", async () => {
    const answer = await callWithSession(gateway, { cookie: "" }, { path: PATH });
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ error: { metadata: { sign_in: { oidc: null } } } });
  });
});

describe("a console session", () => {
  beforeAll(async () => {
    gateway = await startTestGateway();
    create = createAccountTools(gateway);
  });
  afterAll(() => gateway.stop());

  test("is rejected by inference endpoints", async () => {
    const { cookie } = await signIn(gateway, { key: gateway.adminKey });
    for (const path of ["/key", "/credits", "/activity", "/generation?id=gen_1"]) {
      const answer = await fetch(gateway.base + path, { headers: { cookie } });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    const headers = { cookie, "content-type": "application/json", "sec-fetch-site": "same-origin" };
    const body = JSON.stringify({ model: "openai/gpt-4o-mini", messages: [] });
    const paid = await fetch(`${gateway.base}/chat/completions`, { method: "POST", headers, body });
    expect(paid.status).toBeGreaterThanOrEqual(400);
  });

  test("ends when it signs out", async () => {
    const signedIn = await signIn(gateway, { key: gateway.adminKey });
    const answer = await callWithSession(gateway, signedIn, { method: "DELETE", path: PATH });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("set-cookie")).toStartWith("gateway_session=; ");
    expect(await statusOf(signedIn)).toBe(401);
    expect(await statusOf(signedIn, "/api/admin/users")).toBe(401);
  });

  test("ends when its key is revoked", async () => {
    const organization = await create.organization(await create.user());
    const signedIn = await signIn(gateway, { key: await create.key(organization, { kind: "management" }) });
    const keyId = signedIn.body["key_id"] as string;
    expect(await statusOf(signedIn)).toBe(200);
    await callAdmin(gateway, gateway.adminKey, "DELETE", `/keys/${keyId}`);
    expect(await statusOf(signedIn)).toBe(401);
  });

  test("ends when its account is closed", async () => {
    const user = await create.user();
    const signedIn = await signIn(gateway, { key: await create.key(user, { kind: "management" }) });
    expect(await statusOf(signedIn)).toBe(200);
    await callAdmin(gateway, gateway.adminKey, "PATCH", `/users/${user}`, { closed: true });
    expect([await statusOf(signedIn), await statusOf(signedIn, "/api/admin/keys")]).toEqual([401, 401]);
  });

  test("has the new role of its user at the next request, and ends when the user is removed", async () => {
    const organization = await create.organization(await create.user("owner"));
    const user = await create.user();
    await create.member(organization, user, "admin");
    const key = await create.key(organization, { kind: "management", user_id: user });
    const signedIn = await signIn(gateway, { key });
    const audit = () => statusOf(signedIn, "/api/admin/audit");
    expect(await audit()).toBe(200);
    await create.member(organization, user, "billing");
    expect(await audit()).toBe(403);
    expect((await callWithSession(gateway, signedIn, { path: PATH })).body["role"]).toBe("billing");
    await callAdmin(gateway, gateway.adminKey, "DELETE", `/organizations/${organization}/members/${user}`);
    expect([await audit(), await statusOf(signedIn)]).toEqual([401, 401]);
  });

  test("gives way to an API key in the same request", async () => {
    const signedIn = await signIn(gateway, { key: gateway.adminKey });
    const key = await create.key(await create.user(), { kind: "management" });
    const headers = { authorization: `Bearer ${key}` };
    const answer = await callWithSession(gateway, signedIn, { path: "/api/admin/users", headers });
    expect(answer.status).toBe(403);
  });
});

describe("the list of console sessions", () => {
  interface Listed {
    readonly id: string;
    readonly user_agent: string;
    readonly is_current: boolean;
  }
  let organization: string;
  const browsers: Record<string, SignedIn> = {};

  const list = async (signedIn: SignedIn): Promise<readonly Listed[]> =>
    (await callWithSession(gateway, signedIn, { path: "/api/admin/sessions" })).body["data"] as Listed[];
  /** In the order of the alphabet: sessions of one millisecond have no order. */
  const agents = async (signedIn: SignedIn) => (await list(signedIn)).map((one) => one.user_agent).sort();

  beforeAll(async () => {
    gateway = await startTestGateway();
    create = createAccountTools(gateway);
    const owner = await create.user("owner");
    organization = await create.organization(owner);
    for (const role of ["owner", "admin", "billing", "member"]) {
      const user_id = role === "owner" ? owner : await create.user(role);
      if (role !== "owner") await create.member(organization, user_id, role);
      const key = await create.key(organization, { kind: "management", user_id });
      browsers[role] = await signIn(gateway, { key }, { "user-agent": role });
    }
    const stranger = await create.key(await create.user("stranger"), { kind: "management" });
    browsers["stranger"] = await signIn(gateway, { key: stranger }, { "user-agent": "stranger" });
    browsers["operator"] = await signIn(gateway, { key: gateway.adminKey }, { "user-agent": "operator" });
  });
  afterAll(() => gateway.stop());
  const browser = (name: string): SignedIn => browsers[name] as SignedIn;

  test("has all sessions for the operator, those of the account for owners and admins, and their own for others", async () => {
    const ofAccount = ["admin", "billing", "member", "owner"];
    expect(await agents(browser("operator"))).toEqual([...ofAccount, "operator", "stranger"].sort());
    expect(await agents(browser("owner"))).toEqual(ofAccount);
    expect(await agents(browser("admin"))).toEqual(ofAccount);
    expect(await agents(browser("billing"))).toEqual(["billing"]);
    expect(await agents(browser("member"))).toEqual(["member"]);
    expect(await agents(browser("stranger"))).toEqual(["stranger"]);
  });

  test("names the key, the account and the user, and marks the session of the request", async () => {
    const listed = await list(browser("admin"));
    expect(listed.find(({ user_agent }) => user_agent === "admin")).toMatchObject({
      key: { id: browser("admin").body["key_id"], name: "test" },
      account: { id: organization, name: "Acme" },
      user: { name: "admin" },
      role: "admin",
      is_current: true,
    });
    expect(listed.filter(({ is_current }) => is_current)).toHaveLength(1);
  });

  test("hides the sessions of others from a member, who cannot end them", async () => {
    const id = await findSessionId(gateway, browser("owner"));
    for (const name of ["member", "billing", "stranger"]) {
      const path = `/api/admin/sessions/${id}`;
      const answer = await callWithSession(gateway, browser(name), { method: "DELETE", path });
      expect([name, answer.status]).toEqual([name, 404]);
    }
    expect(await statusOf(browser("owner"))).toBe(200);
  });

  test("lets an admin end another session of the account", async () => {
    const path = `/api/admin/sessions/${await findSessionId(gateway, browser("member"))}`;
    expect((await callWithSession(gateway, browser("admin"), { method: "DELETE", path })).status).toBe(200);
    expect(await statusOf(browser("member"))).toBe(401);
    expect((await callWithSession(gateway, browser("admin"), { method: "DELETE", path })).status).toBe(404);
  });
});

describe("the end of a console session", () => {
  let clock: TestClock;
  beforeEach(async () => {
    clock = createTestClock();
    gateway = await startTestGateway({ clock });
    create = createAccountTools(gateway);
  });
  afterEach(() => gateway.stop());

  const lastUsed = async () =>
    (
      await queryTables<{ at: number }>(gateway.dataDir, "SELECT last_used_at AS at FROM console_sessions")
    )[0];

  test("comes after 12 hours without a request", async () => {
    const [used, unused] = [
      await signIn(gateway, { key: gateway.adminKey }),
      await signIn(gateway, { key: gateway.adminKey }),
    ];
    clock.leap(SESSION_IDLE_MS - 1);
    expect(await statusOf(used)).toBe(200);
    clock.leap(1);
    expect([await statusOf(used), await statusOf(unused)]).toEqual([200, 401]);
  });

  test("comes after 7 days even if the session is used", async () => {
    const signedIn = await signIn(gateway, { key: gateway.adminKey });
    const until = clock.now() + SESSION_MAX_MS;
    expect(signedIn.body["expires_at"]).toBe(new Date(until).toISOString());
    while (clock.now() + SESSION_IDLE_MS < until) {
      clock.leap(SESSION_IDLE_MS - 1);
      expect(await statusOf(signedIn)).toBe(200);
    }
    clock.leap(until - clock.now());
    expect(await statusOf(signedIn)).toBe(401);
  });

  test("comes with the end of its key", async () => {
    const ends = clock.now() + 3_600_000;
    const key = await create.key(await create.user(), {
      kind: "management",
      expires_at: new Date(ends).toISOString(),
    });
    const signedIn = await signIn(gateway, { key });
    expect(signedIn.body["expires_at"]).toBe(new Date(ends).toISOString());
    expect(await statusOf(signedIn)).toBe(200);
    clock.leap(3_600_000);
    expect(await statusOf(signedIn)).toBe(401);
  });

  test("is not moved by every request: the last use is written at most once a minute", async () => {
    const begun = clock.now();
    const signedIn = await signIn(gateway, { key: gateway.adminKey });
    clock.leap(59_999);
    await statusOf(signedIn);
    expect(Number((await lastUsed())?.at)).toBe(begun);
    clock.leap(1);
    await statusOf(signedIn);
    expect(Number((await lastUsed())?.at)).toBe(begun + 60_000);
  });

  test("comes when the configured admin key is replaced", async () => {
    const signedIn = await signIn(gateway, { key: gateway.adminKey });
    const { dataDir, key } = gateway;
    await gateway.stop({ keepData: true });
    gateway = await startTestGateway({ clock, dataDir, key });
    expect(await statusOf(signedIn)).toBe(200);
    await gateway.stop({ keepData: true });
    gateway = await startTestGateway({ clock, dataDir, key, adminKey: "another-management-key-0123456789" });
    expect(await statusOf(signedIn)).toBe(401);
  });
});
