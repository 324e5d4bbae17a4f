import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SESSION_MAX_MS } from "../../../src/core/console/console-session.ts";
import { signInRuleOf } from "../../../src/http/api/endpoint.ts";
import { listRuledEndpoints } from "../../../src/http/api/sign-in-rules.ts";
import { readReturnPath } from "../../../src/http/console/oidc-sign-in.ts";
import { ENDPOINTS } from "../../../src/http/routes/endpoints.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import {
  beginProviderSignIn,
  type ReturnedBrowser,
  returnFromProvider,
} from "../../support/gateway/provider-sign-in.ts";
import { callWithSession, type SessionAnswer, signIn } from "../../support/gateway/sign-in.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";
import { createTestClock } from "../../support/test-clock.ts";

const START = "/api/console/oidc/start";
const MINUTE_MS = 60_000;

let provider: TestOidcProvider;
let gateway: TestGateway;
let folder: string;
let user: string;
let member: string;
let organization: string;
let managementKey: string;
let budget: string;

beforeAll(async () => {
  folder = makeTempFolder("gateway-oidc-");
  writeFileSync(join(folder, "secret"), "secret\n");
  provider = await startOidcProvider();
  gateway = await startTestGateway({ yaml: configOf() });
  const create = createAccountTools(gateway);
  [user, member] = [await create.user("Ada"), await create.user("Grace")];
  organization = await create.organization(user);
  await create.member(organization, member, "member");
  const make = async (path: string, body: object) =>
    (await callAdmin(gateway, gateway.adminKey, "POST", path, body)).data.id;
  managementKey = await make("/keys", { name: "k", kind: "management", expires_at: "2099-01-01T00:00:00Z" });
  budget = await make("/budgets", { account_id: user, limit: 10 });
});
afterAll(async () => {
  await gateway.stop();
  provider.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  Object.assign(provider, {
    person: { sub: "root", groups: ["operators"] },
    forged: {},
    userInfo: {},
    signedInAt: Date.now(),
    asksAgain: true,
  });
});

function configOf(more: Readonly<Record<string, unknown>> = {}): string {
  const oidc = {
    issuer: provider.issuer,
    client_id: "gateway",
    client_secret_file: join(folder, "secret"),
    rules: [{ claim: "groups", value: "operators", operator: true }],
    ...more,
  };
  return JSON.stringify({ console: { oidc } });
}

/** Signs in through the provider, as a browser does. */
async function signInAt(
  query: Readonly<Record<string, string>> = {},
  to = gateway,
  cookie = "",
): Promise<ReturnedBrowser> {
  const begun = await beginProviderSignIn(to, provider, { query: `?${new URLSearchParams(query)}`, cookie });
  return returnFromProvider(begun);
}

function addCredits(session: Pick<ReturnedBrowser, "cookie">): Promise<SessionAnswer> {
  const path = `/api/admin/accounts/${user}/credits`;
  return callWithSession(gateway, session, { method: "POST", path, body: { amount: 1 } });
}

describe("an operator who signed in at the provider too long ago", () => {
  let operator: ReturnedBrowser;

  beforeEach(async () => {
    provider.signedInAt = Date.now() - 16 * MINUTE_MS;
    operator = await signInAt();
  });

  const send = (method: string, path: string, body?: object) =>
    callWithSession(gateway, operator, { method, path, body: body ?? {} });
  const REJECTED = [
    403,
    expect.objectContaining({
      type: "permission_denied",
      metadata: {
        code: "permission_denied",
        reason: "sign_in_again",
        sign_in_path: "/api/console/oidc/start?again=true",
      },
    }),
  ];
  const outcomeOf = ({ status, body }: SessionAnswer) => [status, body["error"]];

  test.each([
    ["add credits", "POST", () => `/accounts/${user}/credits`, { amount: 1 }],
    ["correct a balance", "POST", () => `/accounts/${user}/corrections`, { amount: 1, note: "n" }],
    ["refund a request", "POST", () => "/generations/gen_1/refund", {}],
    ["create a management key", "POST", () => "/keys", { name: "k", kind: "management" }],
    ["keep a management key longer", "PATCH", () => `/keys/${managementKey}`, { expires_at: null }],
    ["set an overdraft without a bound", "PATCH", () => `/users/${user}`, { overdraft: null }],
    [
      "set an overdraft of an organization",
      "PATCH",
      () => `/organizations/${organization}`,
      { overdraft: 5 },
    ],
    ["raise a monthly limit", "PATCH", () => `/organizations/${organization}`, { monthly_limit: 500 }],
    ["change a policy", "PATCH", () => `/organizations/${organization}`, { policy: {} }],
    ["change a rate limit", "PATCH", () => `/users/${user}`, { rate_limit: null }],
    ["change a plan", "PATCH", () => `/users/${user}`, { plan: null }],
    ["change an e-mail", "PATCH", () => `/users/${user}`, { email: "ada@example.com" }],
    ["reopen an account", "PATCH", () => `/users/${user}`, { closed: false }],
    ["create a user with an overdraft", "POST", () => "/users", { name: "Eve", overdraft: null }],
    ["create an organization for an owner", "POST", () => "/organizations", { name: "E", owner: "user_x" }],
    ["give a role", "PUT", () => `/organizations/${organization}/members/${user}`, { role: "owner" }],
    ["raise a budget", "PATCH", () => `/budgets/${budget}`, { limit: 11 }],
    ["let a budget only warn", "PATCH", () => `/budgets/${budget}`, { action: "warn" }],
    ["delete a budget", "DELETE", () => `/budgets/${budget}`, undefined],
    ["reload the settings", "POST", () => "/settings/reload", {}],
    ["refresh prices", "POST", () => "/catalog/refresh", {}],
  ])("cannot %s, and is told to sign in again", async (_what, method, path, body) => {
    expect(outcomeOf(await send(method, `/api/admin${path()}`, body))).toEqual(REJECTED);
  });

  const changes = ENDPOINTS.filter(
    ({ method, access, changesNothing }) =>
      method !== "GET" && !changesNothing && !["sign_in", "signed"].includes(access.kind),
  );

  test("finds a rule for every endpoint that changes something, and an endpoint for every rule", () => {
    const names = changes.map(({ method, path }) => `${method} ${path}`);
    expect(listRuledEndpoints().toSorted()).toEqual(names.toSorted());
  });

  test.each(
    changes
      .filter((endpoint) => signInRuleOf(endpoint) === "always")
      .map(({ method, path }) => ({ method, path: path.replaceAll(/:(\w+)/g, "some_$1") })),
  )("cannot call $method $path, whatever the request says", async ({ method, path }) => {
    expect(outcomeOf(await send(method, path))).toEqual(REJECTED);
  });

  test.each([
    ["read", "GET", () => "/keys", undefined],
    ["create an inference key", "POST", () => "/keys", { name: "inference" }],
    ["rename an account", "PATCH", () => `/users/${user}`, { name: "Ada" }],
    ["create a user without rights", "POST", () => "/users", { name: "Eve" }],
    ["keep the limit of a budget", "PATCH", () => `/budgets/${budget}`, { limit: 10 }],
    ["lower a budget", "PATCH", () => `/budgets/${budget}`, { limit: 9, action: "block" }],
    ["create a budget", "POST", () => "/budgets", { limit: 5 }],
    ["see what a reload would change", "POST", () => "/settings/reload?dry_run=true", {}],
    ["remove a member", "DELETE", () => `/organizations/${organization}/members/${member}`, undefined],
    ["revoke a key", "DELETE", () => `/keys/${managementKey}`, undefined],
    ["close an account", "PATCH", () => `/users/${member}`, { closed: true }],
  ])("can %s", async (_what, method, path, body) => {
    const request = { method, path: `/api/admin${path()}`, ...(body === undefined ? {} : { body }) };
    const headers = { "content-type": "application/json" };
    const answer = await callWithSession(gateway, operator, { ...request, headers });
    expect([answer.body["error"], answer.status < 300]).toEqual([undefined, true]);
  });

  test("can add credits after another sign-in, for which the provider asks them again", async () => {
    const again = await signInAt({ again: "true", return_to: `/console/credits/${user}?change=credits` });
    expect([provider.asked.get("prompt"), provider.asked.get("max_age")]).toEqual(["login", "0"]);
    expect(again.location).toBe(`/console/credits/${user}?change=credits`);
    expect((await addCredits(again)).status).toBe(201);
  });

  test("is told so if the provider does not ask them again, and gets no session", async () => {
    provider.asksAgain = false;
    const { status, page, cookie } = await signInAt({ again: "true" });
    expect([status, cookie]).toEqual([403, ""]);
    expect(page).toContain("The provider did not ask you to sign in again");
  });
});

describe("an operator adds credits without another sign-in", () => {
  test("soon after they signed in at the provider", async () => {
    provider.signedInAt = Date.now() - 14 * MINUTE_MS;
    expect((await addCredits(await signInAt())).status).toBe(201);
  });

  test("with a management key, with its session, and with a session by one-time code", async () => {
    const path = `/accounts/${user}/credits`;
    expect((await callAdmin(gateway, gateway.adminKey, "POST", path, { amount: 1 })).status).toBe(201);
    expect((await addCredits(await signIn(gateway, { key: gateway.adminKey }))).status).toBe(201);
  });

  test("if the configuration sets no time", async () => {
    const free = await startTestGateway({ yaml: configOf({ reauthenticate_ms: null }) });
    const account = await createAccountTools(free).user("Ada");
    provider.signedInAt = 0;
    const operator = await signInAt({}, free);
    expect(provider.asked.has("max_age")).toBe(false);
    const path = `/api/admin/accounts/${account}/credits`;
    const answer = await callWithSession(free, operator, { method: "POST", path, body: { amount: 1 } });
    await free.stop();
    expect(answer.status).toBe(201);
  });
});

test("a time of the sign-in that the provider does not say counts as too long ago", async () => {
  provider.forged = { auth_time: undefined };
  expect((await addCredits(await signInAt())).status).toBe(403);
});

test("each sign-in renews the key of the person while it is valid, and one that has expired is not revived", async () => {
  const clock = createTestClock(Date.now());
  provider.forged = { exp: Math.floor(clock.now() / 1_000) + 30 * 86_400 };
  const own = await startTestGateway({ yaml: configOf(), clock });
  const listKeys = async () => {
    const { rows } = await callAdmin(own, own.adminKey, "GET", "/keys?limit=100");
    return rows.flatMap(({ id, name, expires_at }) =>
      String(name).endsWith(" root") ? [{ id, until: Date.parse(String(expires_at)) - clock.now() }] : [],
    );
  };
  const signInNow = async () => {
    provider.signedInAt = clock.now();
    expect((await signInAt({}, own)).status).toBe(303);
  };
  try {
    await signInNow();
    const first = (await listKeys())[0]!;
    clock.leap(SESSION_MAX_MS - 1);
    await signInNow();
    expect(await listKeys()).toEqual([{ id: first.id, until: SESSION_MAX_MS }]);
    clock.leap(SESSION_MAX_MS);
    await signInNow();
    const keys = await listKeys();
    expect(keys.map(({ until }) => until).sort((a, b) => a - b)).toEqual([0, SESSION_MAX_MS]);
    expect(keys.find(({ until }) => until === 0)?.id).toBe(first.id);
  } finally {
    await own.stop();
  }
});

describe("a browser that signs in at the provider again", () => {
  const isLive = async (session: ReturnedBrowser) =>
    (await callWithSession(gateway, session, { path: "/api/console/session" })).status === 200;

  test("has one session: the former one ends, and those of other browsers go on", async () => {
    const former = await signInAt();
    const elsewhere = await signInAt();
    const current = await signInAt({ again: "true" }, gateway, former.cookie);
    expect(await Promise.all([former, elsewhere, current].map(isLive))).toEqual([false, true, true]);
  });

  test("keeps its session if the sign-in fails", async () => {
    const session = await signInAt();
    provider.person = { sub: "root", groups: [] };
    expect((await signInAt({}, gateway, session.cookie)).status).toBe(403);
    expect(await isLive(session)).toBe(true);
  });

  test("keeps the secret of its session to itself: the cookie of the sign-in has only a hash of it", async () => {
    const { cookie } = await signInAt();
    const started = await fetch(gateway.url + START, { redirect: "manual", headers: { cookie } });
    const kept = started.headers.get("set-cookie")?.split(";")[0]?.split("=")[1] ?? "";
    const json = Buffer.from(kept, "base64url").toString();
    expect(JSON.parse(json)).toMatchObject({ former: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(json).not.toContain(cookie.split("=")[1] as string);
  });
});

describe("groups that only the userinfo endpoint has", () => {
  test("count as if the ID token had them", async () => {
    Object.assign(provider, { person: { sub: "root" }, userInfo: { groups: ["operators"] } });
    const { status, cookie } = await signInAt();
    expect([status, cookie]).toEqual([303, expect.stringMatching(/./)]);
  });

  test("do not replace what the ID token says", async () => {
    Object.assign(provider, { person: { sub: "root", groups: [] }, userInfo: { groups: ["operators"] } });
    expect((await signInAt()).status).toBe(403);
  });

  test.each([
    ["fails", null],
    ["answers for another person", { sub: "someone", groups: ["operators"] }],
    ["sends more than a mebibyte", { groups: ["operators"], filler: "x".repeat(1_100_000) }],
  ])("are not read if the endpoint %s: the sign-in fails", async (_how, userInfo) => {
    Object.assign(provider, { person: { sub: "root" }, userInfo });
    const { status, page } = await signInAt();
    expect([status, page]).toEqual([403, expect.stringContaining("did not succeed")]);
  });
});

describe("after a sign-in the browser goes", () => {
  test("to the screen that was asked for", async () => {
    expect((await signInAt({ return_to: "/console/keys?ended=1" })).location).toBe("/console/keys?ended=1");
    expect((await signInAt()).location).toBe("/console");
  });

  test.each([
    "https://evil.example/console",
    "//evil.example/console",
    "/\\evil.example/console",
    "/console/../api/gateway",
    "/console/..//evil.example",
    "/console.evil.example",
    "/console@evil.example",
    "/consoles",
    "/console/%2e%2e/docs",
    "/\t/evil.example/console",
    "javascript:alert(1)",
    `/console/${"a".repeat(2_000)}`,
  ])("nowhere else: %p leads to the first screen", async (asked) => {
    expect(readReturnPath(asked)).toBe("/console");
    expect((await signInAt({ return_to: asked })).location).toBe("/console");
  });

  test("nowhere else if another site of the same domain has set the cookie", async () => {
    const started = await fetch(gateway.url + START, { redirect: "manual" });
    const [name, value = ""] = (started.headers.get("set-cookie")?.split(";")[0] ?? "").split("=");
    const kept = JSON.parse(Buffer.from(value, "base64url").toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...kept, returnTo: "//evil.example" })).toString("base64url");
    const back = provider.authorize(started.headers.get("location") ?? "");
    const headers = { cookie: `${name}=${forged}` };
    const response = await fetch(back, { redirect: "manual", headers });
    expect(response.headers.get("location")).toBe("/console");
  });
});

describe("the file with the secret of the client", () => {
  test("must exist and not be empty", async () => {
    await expect(
      startTestGateway({ yaml: configOf({ client_secret_file: join(folder, "none") }) }),
    ).rejects.toThrow("console.oidc.client_secret_file cannot be read");
    writeFileSync(join(folder, "empty"), "\n");
    await expect(
      startTestGateway({ yaml: configOf({ client_secret_file: join(folder, "empty") }) }),
    ).rejects.toThrow("is empty");
  });

  test("cannot be given together with the secret", async () => {
    await expect(startTestGateway({ yaml: configOf({ client_secret: "secret" }) })).rejects.toThrow(
      "must have either client_secret (GATEWAY_OIDC_CLIENT_SECRET) or client_secret_file",
    );
  });
});
