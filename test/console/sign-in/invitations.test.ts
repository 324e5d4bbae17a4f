import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import {
  beginProviderSignIn,
  type ReturnedBrowser,
  restartWithProvider,
  returnFromProvider,
  signInThroughProvider,
} from "../../support/gateway/provider-sign-in.ts";
import { callWithSession } from "../../support/gateway/sign-in.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";
import { createTestClock } from "../../support/test-clock.ts";

const HOUR_MS = 3_600_000;

const clock = createTestClock(Date.now());
let provider: TestOidcProvider;
let gateway: TestGateway;
/** An organization that no rule names. */
let organization: string;
/** An organization in which rules decide. */
let ruled: string;
let team: string;

/** Starts the gateway again with the id of the organization, which is known only after the first start. */
beforeAll(async () => {
  provider = await startOidcProvider();
  const first = await startTestGateway({ clock });
  const create = createAccountTools(first);
  organization = await create.organization(await create.user("owner"), { name: "Acme" });
  ruled = await create.organization(await create.user("other owner"), { name: "Ruled" });
  const path = `/organizations/${organization}/teams`;
  team = (await callAdmin(first, first.adminKey, "POST", path, { name: "Search" })).data.id;
  gateway = await restartWithProvider(
    first,
    provider,
    {
      name: "Test login",
      rules: [
        { claim: "groups", value: "operators", operator: true },
        { claim: "groups", value: "engineering", organization: ruled, role: "member" },
      ],
    },
    { clock },
  );
});
afterAll(async () => {
  await gateway.stop();
  provider.stop();
});
let count = 0;
/** A person whom the gateway does not know yet. */
let person: {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: true;
  readonly groups: [];
};
beforeEach(() => {
  count += 1;
  person = { sub: `p${count}`, email: `p${count}@example.com`, email_verified: true, groups: [] };
});

const manage = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

/** Invites a person. Returns the id, and the secret of the link. */
async function invite(body: object = {}, to = organization) {
  const made = await manage("POST", `/organizations/${to}/invitations`, body);
  return { id: made.data.id, code: (made.body["link"] as string).split("#code=")[1] ?? "" };
}

const accept = (code: string, { cookie = "", ...more }: { cookie?: string; name?: string } = {}) =>
  callWithSession(
    gateway,
    { cookie },
    { method: "POST", path: "/api/console/invitations/accept", body: { code, ...more } },
  );

/** Accepts an invitation in a browser without a session, and leaves for the provider. */
async function leave(code: string) {
  const answer = await accept(code);
  expect(answer.body).toMatchObject({
    key: null,
    data: { status: "sign_in", sign_in_path: "/api/console/oidc/start?invitation=true", user: null },
  });
  const [set = ""] = answer.headers.getSetCookie();
  expect(set).toMatch(
    /^gateway_invitation=[\w-]+; Path=\/api\/console\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/,
  );
  return beginProviderSignIn(gateway, provider, {
    query: "?invitation=true",
    cookie: set.split(";")[0] ?? "",
  });
}

/** Accepts an invitation as a person who signs in at the provider. */
async function acceptAs(who: TestOidcProvider["person"], code: string): Promise<ReturnedBrowser> {
  provider.person = who;
  return returnFromProvider(await leave(code));
}

/** Links the person to a new user, and signs them in with groups. */
async function signInAsLinked(groups: readonly string[]) {
  const user = await createAccountTools(gateway).user("Linked");
  await manage("POST", `/users/${user}/identities`, { subject: person.sub });
  return signInThroughProvider(gateway, provider, { ...person, groups });
}

// biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
const sessionOf = async (browser: { readonly cookie: string }): Promise<any> =>
  (await callWithSession(gateway, browser, { path: "/api/console/session" })).body;
const stateOf = async (id: string, of = organization) =>
  (await manage("GET", `/organizations/${of}/invitations?limit=100`)).rows.find((one) => one.id === id)?.[
    "state"
  ];
const memberOf = async (user: string, of = organization) =>
  (await manage("GET", `/organizations/${of}/members?limit=100`)).rows.find(
    ({ user_id }) => user_id === user,
  );
const countUsers = async () => (await manage("GET", "/users?limit=100")).rows.length;

describe("an invitation that is accepted through the provider", () => {
  test("creates a linked user with the memberships, although no rule and no setting would", async () => {
    const { id, code } = await invite({
      ...{ role: "billing", email: person.email, teams: [{ id: team, is_lead: true }] },
    });
    const returned = await acceptAs(person, code);
    expect([returned.status, returned.location]).toEqual([303, "/console"]);
    const { user, account, role } = await sessionOf(returned);
    expect([account.id, role]).toEqual([organization, "billing"]);
    expect(await memberOf(user.id)).toMatchObject({ role: "billing", source: "invitation" });
    expect((await manage("GET", `/users/${user.id}`)).data["email"]).toBe(person.email);
    const { rows: members } = await manage("GET", `/organizations/${organization}/teams/${team}/members`);
    expect(members).toMatchObject([{ user_id: user.id, is_lead: true, source: "invitation" }]);
    const { rows } = await manage("GET", `/audit?target=${id}`);
    expect(rows[0]).toMatchObject({
      action: "POST /api/console/invitations/accept",
      user_id: user.id,
      account_id: organization,
      changes: { accepted: true, role: "billing", teams: { [team]: "lead" }, created_user: true },
    });
    expect(await stateOf(id)).toBe("accepted");
  });

  test("makes a membership that later sign-ins keep, with and without groups", async () => {
    const { user } = await sessionOf(await acceptAs(person, (await invite({}, ruled)).code));
    for (const groups of [["engineering"], []]) {
      expect((await signInThroughProvider(gateway, provider, { ...person, groups })).status).toBe(303);
      expect(await memberOf(user.id, ruled)).toMatchObject({ role: "member", source: "invitation" });
    }
  });

  test("gives its own role and teams to a person to whom a rule gives another role", async () => {
    const { id, code } = await invite({ role: "admin" }, ruled);
    const member = { ...person, groups: ["engineering"] };
    const returned = await acceptAs(member, code);
    expect([returned.status, await sessionOf(returned)]).toMatchObject([
      303,
      { account: { id: ruled }, role: "admin" },
    ]);
    expect(await stateOf(id, ruled)).toBe("accepted");
    const { user } = await sessionOf(returned);
    await signInThroughProvider(gateway, provider, member);
    expect(await memberOf(user.id, ruled)).toMatchObject({ role: "admin", source: "invitation" });
  });

  test("makes a membership anew that the rules end at the same sign-in", async () => {
    const returned = await signInAsLinked(["engineering"]);
    const { user } = await sessionOf(returned);
    expect(await memberOf(user.id, ruled)).toMatchObject({ source: "oidc" });
    expect((await acceptAs(person, (await invite({ role: "billing" }, ruled)).code)).status).toBe(303);
    expect(await memberOf(user.id, ruled)).toMatchObject({ role: "billing", source: "invitation" });
  });

  test("adds the organization to a user who is linked already, and the session is for it", async () => {
    const member = { ...person, groups: ["engineering"] };
    const user = await createAccountTools(gateway).user("Linked");
    await manage("POST", `/users/${user}/identities`, { subject: person.sub });
    expect((await signInThroughProvider(gateway, provider, member)).status).toBe(303);
    const there = await sessionOf(await acceptAs(member, (await invite()).code));
    expect(there).toMatchObject({ account: { id: organization }, user: { id: user } });
    expect(await memberOf(user, ruled)).toMatchObject({ source: "oidc" });
  });

  test("moves a session of the provider to the organization, without a key and as recent as before", async () => {
    const user = await createAccountTools(gateway).user("Here");
    await manage("POST", `/users/${user}/identities`, { subject: person.sub });
    const browser = await signInThroughProvider(gateway, provider, { ...person, groups: ["engineering"] });
    const { code } = await invite({ role: "admin", email: person.email });
    const { status, body, headers } = await accept(code, { cookie: browser.cookie });
    expect([status, body["key"]]).toEqual([200, null]);
    const cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
    expect(await sessionOf({ cookie })).toMatchObject({ account: { id: organization }, role: "admin" });
    expect(await sessionOf(browser)).toHaveProperty("error");
    clock.advance(15 * 60_000 + 1);
    const late = await callWithSession(
      gateway,
      { cookie },
      { method: "POST", path: "/api/admin/keys", body: { name: "m", kind: "management", user_id: user } },
    );
    expect([late.status, late.body["error"]]).toMatchObject([403, { metadata: { reason: "sign_in_again" } }]);
  });

  test("works for a person without the claim of a rule, in an organization that no rule names", async () => {
    const { groups: _, ...without } = person;
    const returned = await acceptAs(without, (await invite()).code);
    expect(await sessionOf(returned)).toMatchObject({ account: { id: organization } });
    const { id, code } = await invite({}, ruled);
    const rejected = await acceptAs({ ...without, sub: `${person.sub} again` }, code);
    expect([rejected.status, rejected.cookie]).toEqual([403, ""]);
    expect(await stateOf(id, ruled)).toBe("open");
  });
});

describe("an invitation is not accepted through the provider", () => {
  const expectRejected = async (returned: ReturnedBrowser, status: number, text: string, id: string) => {
    expect([returned.status, returned.cookie]).toEqual([status, ""]);
    expect(returned.page).toContain(text);
    expect(await stateOf(id)).not.toBe("accepted");
  };

  test.each<[string, object]>([
    ["another e-mail", { email: "other@example.com" }],
    ["an e-mail that is not verified", { email_verified: false }],
    ["no e-mail", { email: undefined }],
  ])("by a person with %s, who is not created either", async (_, claims) => {
    const { id, code } = await invite({ email: person.email });
    const before = await countUsers();
    const returned = await acceptAs({ ...person, ...claims }, code);
    await expectRejected(returned, 403, `This invitation is for ${person.email}.`, id);
    expect(await countUsers()).toBe(before);
    expect((await acceptAs(person, code)).status).toBe(303);
  });

  test("by the operator", async () => {
    const { id, code } = await invite();
    const returned = await acceptAs({ ...person, groups: ["operators"] }, code);
    await expectRejected(returned, 403, "the operator is no member of organizations", id);
  });

  test("if it was withdrawn or has expired while the person was at the provider", async () => {
    provider.person = person;
    const [withdrawn, expired] = [await invite(), await invite({ expires_in_hours: 1 })];
    const [one, other] = [await leave(withdrawn.code), await leave(expired.code)];
    await manage("DELETE", `/organizations/${organization}/invitations/${withdrawn.id}`);
    await expectRejected(await returnFromProvider(one), 409, "was withdrawn", withdrawn.id);
    clock.advance(HOUR_MS);
    await expectRejected(await returnFromProvider(other), 409, "has expired", expired.id);
  });

  test("by the second of two browsers that use the link at the same time", async () => {
    const { code } = await invite();
    provider.person = person;
    const [one, other] = [await leave(code), await leave(code)];
    const statuses = await Promise.all(
      [one, other].map(async (left) => (await returnFromProvider(left)).status),
    );
    expect(statuses.sort()).toEqual([303, 409]);
  });

  test("in a browser that has not accepted it, or that names a person itself", async () => {
    const started = await fetch(`${gateway.url}/api/console/oidc/start?invitation=true`, {
      redirect: "manual",
    });
    expect([started.status, await started.text()]).toEqual([
      403,
      expect.stringContaining("Open the link of the invitation again"),
    ]);
    const named = await accept((await invite()).code, { name: "Ada" });
    expect([named.status, named.body["error"]]).toMatchObject([400, { metadata: { field: "name" } }]);
  });

  test("by a later sign-in in the same browser", async () => {
    const { id, code } = await invite();
    provider.person = person;
    await leave(code);
    expect((await signInThroughProvider(gateway, provider, person)).status).toBe(403);
    expect(await stateOf(id)).toBe("open");
  });
});

test("an invitation that is accepted in a session of a provider that is no longer configured gives a key", async () => {
  const { cookie } = await signInAsLinked(["engineering"]);
  const { code } = await invite();
  await gateway.stop({ keepData: true });
  gateway = await startTestGateway({ clock, dataDir: gateway.dataDir, key: gateway.key });
  const { status, body, headers } = await accept(code, { cookie });
  expect([status, body["key"]]).toEqual([200, expect.stringMatching(/^gw_/)]);
  const moved = headers.getSetCookie()[0]?.split(";")[0] ?? "";
  expect(await sessionOf({ cookie: moved })).toMatchObject({ account: { id: organization } });
});
