import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { oidcSchema } from "../../../src/core/console/oidc-schema.ts";
import { hashOidcConfig } from "../../../src/core/console/oidc-trials.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { callWithSession, signIn } from "../../support/gateway/sign-in.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

const TRIALS = "/api/console/oidc/trials";
const MINUTE_MS = 60_000;

let provider: TestOidcProvider;
let clock: TestClock;
let gateway: TestGateway;
let organization: string;
let session: { readonly cookie: string };

beforeAll(async () => {
  provider = await startOidcProvider();
});
afterAll(() => provider.stop());
/** The gateway has no sign-in through a provider: an operator sets it up for the first time. */
beforeEach(async () => {
  Object.assign(provider, {
    person: { sub: "root", groups: ["operators"] },
    forged: {},
    userInfo: {},
    signedInAt: Date.now(),
    asksAgain: true,
  });
  clock = createTestClock(Date.now());
  gateway = await startTestGateway({ clock });
  const create = createAccountTools(gateway);
  organization = await create.organization(await create.user("owner"), { name: "Research" });
  session = await signIn(gateway, { key: gateway.adminKey });
});
afterEach(() => gateway.stop());

const candidate = (more: Readonly<Record<string, unknown>> = {}) => ({
  issuer: provider.issuer,
  client_id: "gateway",
  client_secret: "secret",
  create_users: true,
  rules: [
    { claim: "groups", value: "operators", operator: true },
    { claim: "groups", value: "engineering", organization, role: "member" },
  ],
  ...more,
});

// biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
type Body = any;

async function begin(settings: object = candidate(), headers: Readonly<Record<string, string>> = {}) {
  const call = { method: "POST", path: TRIALS, body: settings, headers };
  const { status, body, headers: sent } = await callWithSession(gateway, session, call);
  const cookie = sent.getSetCookie()[0] ?? "";
  return { status, body: body as Body, cookie };
}

/** Comes back from the provider as a browser does, which sends no cookie that is `SameSite=Strict`. */
async function comeBack(back: URL, cookie: string) {
  const response = await fetch(back, { redirect: "manual", headers: { cookie: cookie.split(";")[0] ?? "" } });
  return { status: response.status, page: await response.text(), cookies: response.headers.getSetCookie() };
}

async function run(settings: object = candidate()) {
  const { body, cookie } = await begin(settings);
  const page = await comeBack(provider.authorize(body.data.url), cookie);
  return { ...page, trial: await read(body.data.id) };
}

const read = async (id: string): Promise<Body> =>
  (await callWithSession(gateway, session, { path: `${TRIALS}/${id}` })).body["data"];

/** Asks the store as the check of a change does. */
async function hasSucceeded(settings: object): Promise<boolean> {
  const stores = await openTestStores(gateway.dataDir);
  try {
    return await stores.oidcTrials.hasSucceeded(hashOidcConfig(oidcSchema.parse(settings)), clock.now());
  } finally {
    await stores.close();
  }
}

const countAccounts = async () => (await callAdmin(gateway, gateway.adminKey, "GET", "/users")).rows.length;

describe("a trial sign-in that succeeds", () => {
  test("runs the whole sign-in with settings that are not in force, and says what rights the person would get", async () => {
    const { status, body, cookie } = await begin();
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      status: "pending",
      rights: null,
      redirect_uri: `${gateway.url}/api/console/oidc/callback`,
    });
    expect(cookie).toMatch(
      /^gateway_oidc_trial=[\w-]+; Path=\/api\/console\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    const back = provider.authorize(body.data.url);
    expect(provider.asked.get("prompt")).toBe("login");
    expect(await read(body.data.id)).toMatchObject({ status: "pending" });
    const returned = await comeBack(back, cookie);
    expect(returned.status).toBe(200);
    expect(returned.page).toContain("The person root would be the operator.");
    expect(returned.cookies).toEqual([]);
    expect(await read(body.data.id)).toMatchObject({
      status: "succeeded",
      error: null,
      subject: "root",
      rights: { role: "operator", user_id: null, organizations: [] },
      claims: [{ name: "groups", values: ["operators"], unknown: null }],
    });
  });

  test("names the organizations of a person who would be created, and creates no user", async () => {
    const before = await countAccounts();
    provider.person = { sub: "ada", groups: ["engineering"] };
    const { trial, page } = await run();
    expect(trial.rights).toEqual({
      role: "member",
      user_id: null,
      organizations: [{ id: organization, name: "Research", role: "member", teams: [], unknown_teams: [] }],
    });
    expect(page).toContain("a new user: member of Research");
    expect(await countAccounts()).toBe(before);
  });

  test("names the teams that the person would be in, and those in rules that do not exist", async () => {
    const create = createAccountTools(gateway);
    const user = await create.user("Ada");
    await create.member(organization, user, "billing");
    const call = (method: string, path: string, body: object) =>
      callAdmin(gateway, gateway.adminKey, method, path, body);
    const teams = `/organizations/${organization}/teams`;
    const [search, data] = [
      (await call("POST", teams, { name: "Search" })).data.id,
      (await call("POST", teams, { name: "Data" })).data.id,
    ];
    await call("PUT", `${teams}/${data}/members/${user}`, {});
    await call("POST", `/users/${user}/identities`, { issuer: provider.issuer, subject: "ada" });
    provider.person = { sub: "ada", groups: ["search"] };
    const rule = { claim: "groups", value: "search", organization, role: "member" };
    const { trial, page } = await run(
      candidate({ rules: [{ ...rule, teams: ["search", "Serch"], lead: true }] }),
    );
    expect(trial.rights.organizations).toMatchObject([
      {
        role: "billing",
        teams: [
          { id: search, name: "Search", is_lead: true },
          { id: data, name: "Data", is_lead: false },
        ],
        unknown_teams: ["Serch"],
      },
    ]);
    expect(page).toContain(
      "billing of Research (lead of the team Search, member of the team Data, there is no team Serch)",
    );
    const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", `${teams}/${search}/members`);
    expect(rows).toEqual([]);
  });

  test("is remembered for 15 minutes, for exactly these settings", async () => {
    const settings = candidate({ name: "remembered" });
    expect(await hasSucceeded(settings)).toBe(false);
    await run(settings);
    expect(await hasSucceeded(settings)).toBe(true);
    const { issuer, ...others } = settings;
    expect(await hasSucceeded({ ...others, issuer })).toBe(true);
    expect(await hasSucceeded({ ...settings, client_secret: "other" })).toBe(false);
    expect(await hasSucceeded({ ...settings, rules: settings.rules.slice(1) })).toBe(false);
    clock.advance(15 * MINUTE_MS);
    expect(await hasSucceeded(settings)).toBe(false);
  });

  test("is written to the audit log, as its beginning is, without the secret", async () => {
    await run(candidate({ client_secret: "secret" }));
    const { data } = await callAdmin(gateway, gateway.adminKey, "GET", "/audit?limit=2");
    expect(data).toMatchObject([
      { action: "GET /api/console/oidc/callback", changes: { trial: "succeeded" } },
      { action: `POST ${TRIALS}`, changes: { issuer: provider.issuer, client_id: "gateway" } },
    ]);
    expect(JSON.stringify(data)).not.toContain('"secret"');
  });
});

describe("a trial sign-in that fails changes nothing and says why", () => {
  interface Failure {
    readonly settings?: Readonly<Record<string, unknown>>;
    readonly person?: TestOidcProvider["person"];
    readonly forged?: Readonly<Record<string, unknown>>;
    readonly asksAgain?: boolean;
    readonly text: RegExp;
  }

  test.each<[string, Failure]>([
    ["the secret is wrong", { settings: { client_secret: "wrong" }, text: /invalid_grant/ }],
    ["the token is for another audience", { forged: { aud: "other" }, text: /aud/ }],
    ["no rule matches", { person: { sub: "eve", groups: ["guests"] }, text: /no user for you.*eve/s }],
    ["a claim of a rule is missing", { person: { sub: "eve" }, text: /groups: neither the ID token/ }],
    [
      "a rule names an unknown organization",
      {
        settings: {
          rules: [{ claim: "groups", value: "operators", organization: "org_none", role: "member" }],
        },
        text: /org_none, which is no organization/,
      },
    ],
    ["the provider does not ask again", { asksAgain: false, text: /did not ask you to sign in again/ }],
  ])("%s", async (_, { settings = {}, person, forged = {}, asksAgain = true, text }) => {
    const wanted = candidate({ ...settings, name: "fails" });
    Object.assign(provider, { forged, asksAgain, ...(person && { person }) });
    if (!asksAgain) provider.signedInAt = Date.now() - 20 * MINUTE_MS;
    const { status, page, trial, cookies } = await run(wanted);
    expect(status).toBe(403);
    expect(page).toMatch(text);
    expect(page).toContain("Nothing has changed.");
    expect(cookies).toEqual([]);
    expect(trial).toMatchObject({ status: "failed", rights: null });
    expect(`${trial.error.message} ${trial.error.detail}`).toMatch(text);
    expect(await hasSucceeded(wanted)).toBe(false);
  });

  test("the claims that were sent are shown, so that a rule can be corrected", async () => {
    provider.person = { sub: "eve", groups: ["guests", "<b>"] };
    const { trial, page } = await run();
    expect(trial.claims).toEqual([{ name: "groups", values: ["guests", "<b>"], unknown: null }]);
    expect(page).toContain("groups: guests, &lt;b&gt;");
  });

  test("the person refuses at the provider", async () => {
    const { body, cookie } = await begin();
    const back = provider.authorize(body.data.url);
    back.searchParams.delete("code");
    back.searchParams.set("error", "access_denied");
    expect((await comeBack(back, cookie)).page).toContain("access_denied");
    expect(await read(body.data.id)).toMatchObject({ status: "failed", subject: null });
  });
});

describe("a trial sign-in", () => {
  test("does not begin if the provider cannot be reached, and the error names the issuer", async () => {
    const { status, body } = await begin(candidate({ issuer: "http://127.0.0.1:1" }));
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ metadata: { field: "issuer" } });
  });

  test("needs a secret for a client that is not in force, and reads none from a file", async () => {
    const { client_secret: _, ...without } = candidate();
    expect((await begin(without)).body.error.metadata).toMatchObject({ field: "client_secret" });
    const file = await begin({ ...without, client_secret_file: "/etc/passwd" });
    expect([file.status, file.body.error.message]).toEqual([
      400,
      expect.stringContaining("client_secret_file"),
    ]);
  });

  test("is only for operators with a session, and not for another site", async () => {
    expect((await begin(candidate(), { "sec-fetch-site": "cross-site" })).status).toBe(403);
    const keyed = await fetch(gateway.url + TRIALS, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify(candidate()),
    });
    expect(keyed.status).toBe(401);
    const create = createAccountTools(gateway);
    const user = await create.user("Ada");
    const body = { name: "k", kind: "management", account_id: user, user_id: user };
    const created = await callAdmin(gateway, gateway.adminKey, "POST", "/keys", {
      ...body,
      expires_at: "2099-01-01T00:00:00Z",
    });
    session = await signIn(gateway, { key: created.body["key"] as string });
    expect((await begin()).status).toBe(403);
  });

  test("is completed once, by the browser that began it, within ten minutes and while its session lasts", async () => {
    const title = "The trial sign-in has ended";
    const first = await begin();
    const back = provider.authorize(first.body.data.url);
    // Another browser has no cookie of the trial, so it is an ordinary sign-in, which is not configured.
    expect((await comeBack(back, "")).status).toBe(404);
    expect((await comeBack(back, "gateway_oidc_trial=other")).status).toBe(404);
    expect((await comeBack(back, first.cookie)).status).toBe(200);
    expect((await comeBack(back, first.cookie)).page).toContain(title);

    const late = await begin();
    clock.advance(10 * MINUTE_MS);
    expect((await comeBack(provider.authorize(late.body.data.url), late.cookie)).page).toContain(title);

    const ended = await begin();
    await callWithSession(gateway, session, { method: "DELETE", path: "/api/console/session" });
    expect((await comeBack(provider.authorize(ended.body.data.url), ended.cookie)).page).toContain(title);
  });

  test("keeps its settings encrypted, and only until it ends", async () => {
    const { body, cookie } = await begin(candidate({ client_secret: "secret" }));
    const stores = await openTestStores(gateway.dataDir);
    try {
      const pending = await stores.oidcTrials.findTrial(body.data.id);
      expect(pending?.sealed).toContain("ciphertext");
      expect(JSON.stringify(pending)).not.toContain(provider.issuer);
      await comeBack(provider.authorize(body.data.url), cookie);
      expect((await stores.oidcTrials.findTrial(body.data.id))?.sealed).toBeNull();
    } finally {
      await stores.close();
    }
  });
});

describe("at a gateway with a provider", () => {
  test("a trial with other rules uses the secret in force, and an ordinary sign-in works meanwhile", async () => {
    const { rules, ...inForce } = candidate();
    const own = await startTestGateway({
      yaml: JSON.stringify({ console: { oidc: { ...inForce, rules } } }),
    });
    try {
      const operator = await signIn(own, { key: own.adminKey });
      const { client_secret: _, ...without } = candidate({ rules: rules.slice(1) });
      provider.person = { sub: "ada", groups: ["operators"] };
      const call = { method: "POST", path: TRIALS, body: without };
      const begun = await callWithSession(own, operator, call);
      expect(begun.status).toBe(201);
      const started = await fetch(`${own.url}/api/console/oidc/start`, { redirect: "manual" });
      const both = [begun.headers, started.headers]
        .map((one) => one.getSetCookie()[0]?.split(";")[0])
        .join("; ");
      const signedIn = await fetch(provider.authorize(started.headers.get("location") ?? ""), {
        redirect: "manual",
        headers: { cookie: both },
      });
      expect(signedIn.status).toBe(303);
      const { url } = (begun.body as Body).data;
      const tried = await fetch(provider.authorize(url), { redirect: "manual", headers: { cookie: both } });
      expect([tried.status, await tried.text()]).toEqual([403, expect.stringContaining("no user for you")]);
    } finally {
      await own.stop();
    }
  });
});
