import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { createTestClock } from "../../support/test-clock.ts";

const clock = createTestClock(Date.UTC(2026, 10, 10, 12));
let gateway: TestGateway;
let organization: string;
/** Management keys and ids by person: an owner, the lead of the team "Search", a member of it, and one outside of it. */
let secrets: Readonly<Record<Person, string>>;
let ids: Readonly<Record<Person, string>>;
let team: string;

const PEOPLE = ["owner", "lead", "ada", "bob"] as const;
type Person = (typeof PEOPLE)[number];

const call = (person: Person, method: string, path: string, body?: unknown) =>
  callAdmin(gateway, secrets[person], method, path, body);
const ofOrganization = (path: string) => `/organizations/${organization}${path}`;

beforeAll(async () => {
  gateway = await startTestGateway({ clock });
  const create = createAccountTools(gateway);
  const users = await Promise.all(
    PEOPLE.map(async (name) => [name, await create.user(name, { email: `${name}@example.com` })] as const),
  );
  ids = Object.fromEntries(users) as Record<Person, string>;
  organization = await create.organization(ids.owner);
  for (const name of ["lead", "ada", "bob"] as const) await create.member(organization, ids[name], "member");
  const signed = PEOPLE.map(
    async (name) =>
      [name, await create.key(organization, { kind: "management", user_id: ids[name] })] as const,
  );
  secrets = Object.fromEntries(await Promise.all(signed)) as Record<Person, string>;
  team = (await call("owner", "POST", ofOrganization("/teams"), { name: "Search" })).data.id;
  await call("owner", "PUT", ofOrganization(`/teams/${team}/members/${ids.lead}`), { is_lead: true });
  await call("lead", "PUT", ofOrganization(`/teams/${team}/members/${ids.ada}`), {});
});
afterAll(() => gateway.stop());

describe("a member of an organization", () => {
  test("is listed with their teams, and whether they lead them", async () => {
    const { rows } = await call("owner", "GET", ofOrganization("/members"));
    const teamsOf = (person: Person) => rows.find(({ user_id }) => user_id === ids[person])?.["teams"];
    expect(teamsOf("lead")).toEqual([{ id: team, name: "Search", is_lead: true }]);
    expect(teamsOf("ada")).toEqual([{ id: team, name: "Search", is_lead: false }]);
    expect(teamsOf("bob")).toEqual([]);
  });

  test("is read by those who may read the organization and by the member, and by no other member", async () => {
    const path = ofOrganization(`/members/${ids.ada}`);
    const read = await call("owner", "GET", path);
    expect(read.data).toMatchObject({
      ...{ user_id: ids.ada, user_name: "ada", email: "ada@example.com", role: "member", spent_today: 0 },
      teams: [{ id: team, name: "Search", is_lead: false }],
    });
    expect((await call("ada", "GET", path)).data).toEqual(read.data);
    expect((await call("bob", "GET", path)).status).toBe(404);
    expect((await call("owner", "GET", ofOrganization("/members/user_none"))).status).toBe(404);
  });
});

describe("the candidates of a team", () => {
  const path = () => ofOrganization(`/teams/${team}/candidates`);

  test("are the members outside of the team, found by a part of their name or address", async () => {
    const { rows } = await call("lead", "GET", path());
    expect(rows.map(({ user_id }) => user_id).sort()).toEqual([ids.bob, ids.owner].sort());
    const { rows: found } = await call("lead", "GET", `${path()}?search=BOB%40`);
    expect(found as unknown).toEqual([{ user_id: ids.bob, user_name: "bob" }]);
  });

  test("come in pages", async () => {
    const first = await call("owner", "GET", `${path()}?limit=1`);
    const second = await call("owner", "GET", `${path()}?limit=1&after=${first.body["next"]}`);
    expect(second.body["next"]).toBe(null);
    const found = [...first.rows, ...second.rows].map(({ user_id }) => user_id);
    expect(found.sort()).toEqual([ids.bob, ids.owner].sort());
  });

  test("are shown to those who may add them only", async () => {
    expect((await call("ada", "GET", path())).status).toBe(403);
    expect((await call("bob", "GET", path())).status).toBe(404);
  });
});

test("keys are listed and read with the names of their users and teams", async () => {
  const body = { name: "laptop", account_id: organization, user_id: ids.ada, team_id: team };
  const { data } = await call("owner", "POST", "/keys", body);
  const { rows } = await call("owner", "GET", `/keys?team_id=${team}`);
  const names = { user_name: "ada", team_name: "Search" };
  expect(rows).toMatchObject([{ id: data.id, ...names }]);
  expect((await call("ada", "GET", `/keys/${data.id}`)).data).toMatchObject(names);
  const service = await call("owner", "POST", "/keys", { name: "batch" });
  expect((await call("owner", "GET", `/keys/${service.data.id}`)).data).toMatchObject({
    ...{ user_name: null, team_name: null },
  });
});

describe("console sessions", () => {
  const listOf = (person: Person, of: Person) => call(person, "GET", `/sessions?user_id=${ids[of]}`);

  test("are listed by their user for those who manage people, and otherwise only the caller's own", async () => {
    for (const person of ["owner", "ada"] as const)
      await fetch(`${gateway.url}/api/console/session`, {
        method: "POST",
        headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ key: secrets[person] }),
      });
    expect((await listOf("owner", "ada")).rows.map(({ user }) => user)).toEqual([
      { id: ids.ada, name: "ada" },
    ]);
    expect((await listOf("ada", "ada")).rows.length).toBe(1);
    const rejected = await listOf("ada", "owner");
    expect([rejected.status, rejected.body["error"]]).toMatchObject([
      404,
      { metadata: { field: "user_id" } },
    ]);
  });

  test("say which rights and teams the signed-in person has", async () => {
    const response = await fetch(`${gateway.url}/api/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ key: secrets.lead }),
    });
    const me = await call("lead", "GET", "/me");
    expect(await response.json()).toMatchObject({
      rights: ["own", "call", "own_keys"],
      teams: [{ id: team, name: "Search", is_lead: true }],
    });
    expect(me.data["rights"]).toEqual(["own", "call", "own_keys"]);
  });
});

describe("the audit log", () => {
  test("names the keys, people, accounts and teams that its entries are about", async () => {
    await call("owner", "PUT", ofOrganization(`/teams/${team}/members/${ids.bob}`), {});
    const { body, rows } = await call("owner", "GET", "/audit?limit=5");
    const names = body["names"] as Readonly<Record<string, string>>;
    expect([names[team], names[ids.bob], names[ids.owner], names[organization]]).toEqual([
      ...["Search", "bob", "owner", "Acme"],
    ]);
    expect(names[String(rows[0]?.["key_id"])]).toBe("test");
  });

  test("does not name the operator's keys to an account", async () => {
    const body = { name: "operator's secret project", kind: "management" };
    const made = await callAdmin(gateway, gateway.adminKey, "POST", "/keys", body);
    const secret = String(made.body["key"]);
    await callAdmin(gateway, secret, "PATCH", ofOrganization(""), { plan: "gold" });
    const namesOf = async (key: string) => {
      const answer = await callAdmin(gateway, key, "GET", `/audit?limit=5&account_id=${organization}`);
      expect(answer.rows[0]?.["key_id"]).toBe(made.data.id);
      return answer.body["names"] as Readonly<Record<string, string>>;
    };
    expect((await namesOf(secrets.owner))[made.data.id]).toBe(undefined);
    expect((await namesOf(gateway.adminKey))[made.data.id]).toBe("operator's secret project");
  });
});
