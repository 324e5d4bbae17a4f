import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MAX_OPEN_INVITATIONS } from "../../../src/core/accounts/stores/invitation-store.ts";
import { eventually } from "../../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type AccountTools,
  type ApiAnswer,
  callAdmin,
  createAccountTools,
} from "../../support/gateway/management.ts";
import { callWithSession, type SignedIn, signIn } from "../../support/gateway/sign-in.ts";
import { createTestClock } from "../../support/test-clock.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const clock = createTestClock(Date.UTC(2026, 10, 10, 12));
let gateway: TestGateway;
let create: AccountTools;
let organization: string;
/** Users by their part in the organization, and their management keys. */
let ids: Readonly<Record<"owner" | "admin" | "lead", string>>;
let keys: Readonly<Record<"owner" | "admin" | "lead", string>>;
let search: string;
let data: string;

beforeAll(async () => {
  gateway = await startTestGateway({ clock });
  create = createAccountTools(gateway);
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  const owner = await create.user("Olga");
  organization = await create.organization(owner, { name: "Acme" });
  ids = { owner, admin: await create.user("Adam"), lead: await create.user("Lea") };
  await create.member(organization, ids.admin, "admin");
  await create.member(organization, ids.lead, "member");
  const sign = (user_id: string) => create.key(organization, { kind: "management", user_id });
  keys = { owner: await sign(owner), admin: await sign(ids.admin), lead: await sign(ids.lead) };
  search = (await call("owner", "POST", "/teams", { name: "Search" })).data.id;
  data = (await call("owner", "POST", "/teams", { name: "Data" })).data.id;
  await call("owner", "PUT", `/teams/${search}/members/${ids.lead}`, { is_lead: true });
});

type Person = keyof typeof keys;

/** Calls the API of the organization. */
const call = (person: Person, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callAdmin(gateway, keys[person], method, `/organizations/${organization}${path}`, body);
const operator = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

/** Invites a person. Returns the id, and the secret of the link. */
async function invite(body: object = {}, person: Person = "owner") {
  const made = await call(person, "POST", "/invitations", body);
  expect([made.status, made.body["error"]]).toEqual([201, undefined]);
  const link = new URL(made.body["link"] as string);
  expect(link.origin + link.pathname).toBe(`${gateway.url}/console/invite`);
  const code = new URLSearchParams(link.hash.slice(1)).get("code") ?? "";
  expect(code).toMatch(/^[\w-]{43}$/);
  return { id: made.data.id, code };
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
  readonly body: any;
  readonly cookie: string;
}

/** Calls an endpoint of the page of the link as a browser does. */
async function post(path: "preview" | "accept", body: object, { cookie = "" } = {}, of = gateway) {
  const {
    status,
    body: answer,
    headers,
  } = await callWithSession(
    of,
    { cookie },
    { method: "POST", path: `/api/console/invitations/${path}`, body },
  );
  const sent = headers.getSetCookie()[0]?.split(";")[0] ?? "";
  return { status, body: answer, cookie: sent } as Answer;
}
const preview = (code: string) => post("preview", { code });
const accept = (code: string, name?: string, session?: Pick<SignedIn, "cookie">) =>
  post("accept", { code, ...(name === undefined ? {} : { name }) }, session);
const reasonOf = ({ status, body }: Answer) => [status, body.error?.metadata.reason];
const sessionOf = async (cookie: string) =>
  (await callWithSession(gateway, { cookie }, { path: "/api/console/session" })).body;

const findInvitation = async (id: string) =>
  (await call("owner", "GET", "/invitations?limit=100")).rows.find((one) => one.id === id);
async function memberOf(user: string) {
  const { rows } = await call("owner", "GET", "/members?limit=100");
  const member = rows.find(({ user_id }) => user_id === user);
  return member === undefined ? null : { role: member.role, source: member["source"] };
}
const teamMembers = async (team: string) =>
  (await call("owner", "GET", `/teams/${team}/members`)).rows.map(({ user_id, is_lead, source }) => ({
    ...{ user_id, is_lead, source },
  }));
const countUsers = async () => (await operator("GET", "/users?limit=100")).rows.length;

describe("an invitation", () => {
  test("is listed with its state, who invited and who accepted, and never with its secret", async () => {
    const { id, code } = await invite({ teams: [{ id: search, is_lead: true }], email: "Ada@Example.com" });
    expect(await findInvitation(id)).toMatchObject({
      organization_id: organization,
      role: "member",
      teams: [{ id: search, name: "Search", is_lead: true }],
      email: "ada@example.com",
      state: "open",
      invited_by: ids.owner,
      invited_by_name: "Olga",
      accepted_by: null,
      ended_at: null,
      expires_at: new Date(clock.now() + 72 * HOUR_MS).toISOString(),
    });
    const { body } = await accept(code, "Ada");
    expect(await findInvitation(id)).toMatchObject({
      state: "accepted",
      accepted_by: body.data.user.id,
      accepted_by_name: "Ada",
      ended_at: new Date(clock.now()).toISOString(),
    });
    const listed = JSON.stringify((await call("owner", "GET", "/invitations")).body);
    expect(listed).not.toContain(code);
    expect(listed).not.toContain(new Bun.CryptoHasher("sha256").update(code).digest("hex"));
  });

  test("is made and accepted with audit entries that have no secret", async () => {
    const { id, code } = await invite({ role: "billing", teams: [{ id: search }] }, "admin");
    const { body } = await accept(code, "Ada");
    const user = body.data.user.id;
    const { rows } = await operator("GET", `/audit?target=${id}`);
    expect(rows).toMatchObject([
      {
        action: "POST /api/console/invitations/accept",
        user_id: user,
        account_id: organization,
        changes: { accepted: true, role: "billing", teams: { [search]: "member" }, created_user: true },
      },
      {
        action: "POST /api/admin/organizations/:id/invitations",
        user_id: ids.admin,
        account_id: organization,
        changes: { role: "billing", teams: [{ id: search, is_lead: false }], expires_in_hours: 72 },
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain(code);
    expect(JSON.stringify(rows)).not.toContain(body.key);
  });

  test.each<[string, object, string]>([
    ["a team of another organization", { teams: [{ id: "team_other" }] }, "teams.0.id"],
    ["more than 720 hours", { expires_in_hours: 721 }, "expires_in_hours"],
    ["an e-mail that is none", { email: "ada" }, "email"],
    ["an unknown role", { role: "boss" }, "role"],
  ])("is rejected with %s, and the error names the field", async (_, body, field) => {
    const { status, body: answer } = await call("owner", "POST", "/invitations", body);
    expect([status, answer["error"]]).toMatchObject([400, { metadata: { field } }]);
  });

  test("for an owner needs an owner, and leads invite members into their own teams only", async () => {
    const statusOf = async (person: Person, body: object) =>
      (await call(person, "POST", "/invitations", body)).status;
    expect(await statusOf("admin", { role: "owner" })).toBe(403);
    expect(await statusOf("admin", { role: "admin" })).toBe(201);
    expect(await statusOf("owner", { role: "owner" })).toBe(201);
    expect(await statusOf("lead", {})).toBe(403);
    expect(await statusOf("lead", { teams: [{ id: search }] })).toBe(201);
    expect(await statusOf("lead", { teams: [{ id: search }, { id: data }] })).toBe(403);
    expect(await statusOf("lead", { teams: [{ id: search, is_lead: true }] })).toBe(403);
    expect(await statusOf("lead", { teams: [{ id: search }], role: "billing" })).toBe(403);
  });

  test("of another person is neither seen nor withdrawn by a lead, and one for an owner not by an admin", async () => {
    const [own, others, owners] = [
      await invite({ teams: [{ id: search }] }, "lead"),
      await invite({ teams: [{ id: search }] }, "admin"),
      await invite({ role: "owner" }),
    ];
    const listed = await call("lead", "GET", "/invitations");
    expect(listed.rows.map(({ id }) => id)).toEqual([own.id]);
    const withdraw = async (person: Person, id: string) =>
      (await call(person, "DELETE", `/invitations/${id}`)).status;
    expect(await withdraw("lead", others.id)).toBe(403);
    expect(await withdraw("lead", own.id)).toBe(200);
    const later = await invite({ teams: [{ id: search }] }, "lead");
    await create.member(organization, ids.lead, "auditor");
    expect([await withdraw("lead", later.id), await withdraw("lead", others.id)]).toEqual([200, 403]);
    expect(await withdraw("admin", owners.id)).toBe(403);
    expect(await withdraw("owner", owners.id)).toBe(200);
    expect(await withdraw("owner", owners.id)).toBe(409);
    expect(await withdraw("owner", "inv_none")).toBe(404);
  });

  test(`is rejected if the organization has ${MAX_OPEN_INVITATIONS} open ones`, async () => {
    await Promise.all(Array.from({ length: MAX_OPEN_INVITATIONS }, () => invite()));
    expect((await call("owner", "POST", "/invitations", {})).status).toBe(409);
    const { rows } = await call("owner", "GET", "/invitations?limit=1");
    await call("owner", "DELETE", `/invitations/${rows[0]?.id}`);
    expect((await call("owner", "POST", "/invitations", {})).status).toBe(201);
  });
});

describe("the preview of an invitation", () => {
  test("says what it offers, and does not use it", async () => {
    const { code } = await invite({
      ...{ role: "auditor", teams: [{ id: data }], email: "seen@example.com", expires_in_hours: 1 },
    });
    for (const _ of [1, 2])
      expect(await preview(code)).toMatchObject({
        status: 200,
        body: {
          data: {
            organization: { id: organization, name: "Acme" },
            role: "auditor",
            teams: [{ id: data, name: "Data", is_lead: false }],
            email: "seen@example.com",
            expires_at: new Date(clock.now() + HOUR_MS).toISOString(),
          },
        },
      });
    expect((await accept(code, "Ada")).status).toBe(200);
  });

  test.each<[string, string, (made: { id: string; code: string }) => Promise<unknown>]>([
    ["accepted", "conflict", ({ code }) => accept(code, "Ada")],
    ["withdrawn", "conflict", ({ id }) => call("owner", "DELETE", `/invitations/${id}`)],
    ["expired", "conflict", async () => clock.advance(HOUR_MS)],
    [
      "organization_closed",
      "conflict",
      () => operator("PATCH", `/organizations/${organization}`, { closed: true }),
    ],
    ["team_deleted", "conflict", () => call("owner", "DELETE", `/teams/${search}`)],
  ])("says that it is %s, and accepting it says the same and creates no user", async (reason, type, end) => {
    const made = await invite({ teams: [{ id: search }], expires_in_hours: 1 });
    await end(made);
    const before = await countUsers();
    for (const answer of [await preview(made.code), await accept(made.code, "Eve")]) {
      expect([answer.status, answer.body.error.type]).toEqual([409, type]);
      expect(answer.body.error.metadata).toMatchObject({ field: "code", reason });
      expect(answer.cookie).toBe("");
    }
    expect(await countUsers()).toBe(before);
  });

  test("of an unknown code is a 404, and a 429 after ten of one address, while a valid code still works", async () => {
    const fresh = await startTestGateway();
    try {
      const tools = createAccountTools(fresh);
      const id = await tools.organization(await tools.user());
      const made = await callAdmin(fresh, fresh.adminKey, "POST", `/organizations/${id}/invitations`, {});
      const code = (made.body["link"] as string).split("#code=")[1] ?? "";
      const statuses = [];
      for (let count = 0; count < 11; count++)
        statuses.push((await post(count % 2 === 0 ? "preview" : "accept", { code: "x" }, {}, fresh)).status);
      expect(statuses).toEqual([...Array.from({ length: 10 }, () => 404), 429]);
      expect((await post("preview", { code }, {}, fresh)).status).toBe(200);
    } finally {
      await fresh.stop();
    }
  });

  test("is not for a page of another site", async () => {
    const { code } = await invite();
    for (const path of ["preview", "accept"])
      expect(
        (
          await callWithSession(
            gateway,
            { cookie: "" },
            {
              ...{ method: "POST", path: `/api/console/invitations/${path}`, body: { code, name: "Ada" } },
              headers: { "sec-fetch-site": "cross-site" },
            },
          )
        ).status,
      ).toBe(403);
    expect((await preview(code)).status).toBe(200);
  });
});

describe("a new person who accepts", () => {
  test("becomes a user with the e-mail, the memberships, a session and a key that signs in again", async () => {
    const { code } = await invite({
      ...{ teams: [{ id: search, is_lead: true }, { id: data }], email: "new@example.com" },
    });
    const { status, body, cookie } = await accept(code, " Ada  Lovelace");
    expect([status, body.data.status]).toEqual([200, "accepted"]);
    const { id } = body.data.user;
    expect((await operator("GET", `/users/${id}`)).data).toMatchObject({
      name: "Ada  Lovelace",
      email: "new@example.com",
    });
    expect(await memberOf(id)).toEqual({ role: "member", source: "invitation" });
    const shared = { user_id: id, source: "invitation" };
    expect(await teamMembers(search)).toContainEqual({ ...shared, is_lead: true });
    expect(await teamMembers(data)).toEqual([{ ...shared, is_lead: false }]);
    const there = { role: "member", account: { id: organization }, user: { id } };
    expect(await sessionOf(cookie)).toMatchObject(there);
    const again = await signIn(gateway, { key: body.key });
    expect(again.body).toMatchObject(there);
    const made = await callWithSession(gateway, again, {
      ...{ method: "POST", path: "/api/admin/keys", body: { name: "laptop", team_id: search } },
    });
    await operator("POST", `/accounts/${organization}/credits`, { amount: 1 });
    const chat = { model: "sandbox/echo", messages: [{ role: "user", content: "Hi" }] };
    expect((await postChat({ ...gateway, key: made.body["key"] as string }, chat)).status).toBe(200);
    clock.advance(1_000);
  });

  test("is one of two who use the link at the same time", async () => {
    const { id, code } = await invite();
    const before = await countUsers();
    const answers = await Promise.all([accept(code, "Ada"), accept(code, "Bob")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status) as [Answer, Answer];
    expect(reasonOf(lost)).toEqual([409, "accepted"]);
    expect(await countUsers()).toBe(before + 1);
    expect((await findInvitation(id))?.["accepted_by"]).toBe(won.body.data.user.id);
  });

  test("needs a name, and another e-mail than a user has", async () => {
    const { code } = await invite({ email: "taken@example.com" });
    expect(await accept(code)).toMatchObject({
      status: 400,
      body: { error: { metadata: { field: "name" } } },
    });
    const user = await create.user("Tom", { email: "taken@example.com" });
    const rejected = await accept(code, "Tom");
    expect([rejected.status, rejected.body.error.metadata.field]).toEqual([409, "email"]);
    expect(rejected.body.error.message).toContain("Sign in as that user, and open the link again");
    const session = await signIn(gateway, { key: await create.key(user, { kind: "management" }) });
    expect((await accept(code, undefined, session)).body.data.user.id).toBe(user);
  });

  test("of an inviter who could no longer invite is rejected", async () => {
    const [byAdmin, byLead] = [
      await invite({ role: "admin" }, "admin"),
      await invite({ teams: [{ id: search }] }, "lead"),
    ];
    expect((await preview(byLead.code)).status).toBe(200);
    await call("owner", "PUT", `/teams/${search}/members/${ids.lead}`, { is_lead: false });
    expect(reasonOf(await preview(byLead.code))).toEqual([409, "inviter"]);
    await call("owner", "DELETE", `/members/${ids.admin}`);
    expect(reasonOf(await accept(byAdmin.code, "Ada"))).toEqual([409, "inviter"]);
  });
});

describe("a signed-in user who accepts", () => {
  test("joins, and the session and a new key are those of the organization", async () => {
    const user = await create.user("Grace", { email: `grace-${organization}@example.com` });
    const session = await signIn(gateway, { key: await create.key(user, { kind: "management" }) });
    const { id, code } = await invite({ teams: [{ id: data }], email: `grace-${organization}@example.com` });
    const { status, body, cookie } = await accept(code, undefined, session);
    expect([status, body.data.user]).toEqual([200, { id: user, name: "Grace" }]);
    expect(await memberOf(user)).toEqual({ role: "member", source: "invitation" });
    expect(await sessionOf(cookie)).toMatchObject({ account: { id: organization }, user: { id: user } });
    expect(await sessionOf(session.cookie)).toHaveProperty("error");
    expect((await signIn(gateway, { key: body.key })).body).toMatchObject({ account: { id: organization } });
    const { rows } = await operator("GET", `/audit?actor=${user}&target=${id}`);
    expect(rows[0]?.["changes"]).toEqual({ accepted: true, role: "member", teams: { [data]: "member" } });
  });

  test("is rejected with another e-mail, and the link stays valid", async () => {
    const user = await create.user("Eve");
    const session = await signIn(gateway, { key: await create.key(user, { kind: "management" }) });
    const { code } = await invite({ email: "another@example.com" });
    const rejected = await accept(code, undefined, session);
    expect(reasonOf(rejected)).toEqual([403, "other_email"]);
    expect(await memberOf(user)).toBeNull();
    expect((await preview(code)).status).toBe(200);
  });

  test("is rejected as the operator, and with a name", async () => {
    const { code } = await invite();
    const asOperator = await signIn(gateway, { key: gateway.adminKey });
    expect(reasonOf(await accept(code, undefined, asOperator))).toEqual([409, "no_user"]);
    const asOwner = await signIn(gateway, { key: keys.owner });
    expect((await accept(code, "Olga", asOwner)).status).toBe(400);
  });

  test("as a member keeps role and session and joins the teams; without one to join, the link stays valid", async () => {
    const session = await signIn(gateway, { key: keys.admin });
    const { code } = await invite({ role: "billing", teams: [{ id: data, is_lead: true }] });
    const { body, cookie } = await accept(code, undefined, session);
    expect([body.key, cookie]).toEqual([null, ""]);
    expect(await memberOf(ids.admin)).toEqual({ role: "admin", source: "manual" });
    expect(await teamMembers(data)).toEqual([{ user_id: ids.admin, is_lead: true, source: "invitation" }]);
    expect(await sessionOf(session.cookie)).toMatchObject({ account: { id: organization } });
    const next = await invite({ teams: [{ id: data }] });
    expect(reasonOf(await accept(next.code, undefined, session))).toEqual([409, "member"]);
    expect((await preview(next.code)).status).toBe(200);
  });
});

test("invitations that ended are deleted after 90 days", async () => {
  const calendar = createTestClock(Date.UTC(2026, 10, 10, 12));
  const site = await startTestGateway({ clock: calendar });
  const tools = createAccountTools(site);
  const id = await tools.organization(await tools.user());
  const path = `/organizations/${id}/invitations`;
  // While the clock leaps, the gateway may take its store for unavailable.
  const count = async () => (await callAdmin(site, site.adminKey, "GET", path)).rows?.length;
  const made = await callAdmin(site, site.adminKey, "POST", path, { expires_in_hours: 24 });
  const keptUntil = Date.parse(String(made.data["expires_at"])) + 90 * DAY_MS;
  calendar.leap(90 * DAY_MS);
  // The sweep runs once an hour.
  await eventually("the invitation is deleted", async () => {
    calendar.leap(HOUR_MS);
    return (await count()) === 0 || calendar.now() > keptUntil + 7 * DAY_MS;
  });
  expect(await count()).toBe(0);
  expect(calendar.now()).toBeGreaterThan(keptUntil);
  await site.stop();
});
