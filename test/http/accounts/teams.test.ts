import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createIdSource } from "../../../src/base/secrets/ids.ts";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { makeKey as makeKeyRecord } from "../../../src/core/accounts/manage/manage-keys.ts";
import { ON_POSTGRES } from "../../support/databases/test-databases.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type AccountTools,
  type ApiAnswer,
  callAdmin,
  createAccountTools,
} from "../../support/gateway/management.ts";
import { createTestClock } from "../../support/test-clock.ts";

const HOUR_MS = 3_600_000;

const clock = createTestClock(Date.UTC(2026, 10, 10, 12));
let gateway: TestGateway;
let create: AccountTools;
let organization: string;
/** Management keys by person: an owner, a lead of the team, and two members, of whom one is in the team. */
let keys: Readonly<Record<"owner" | "lead" | "ada" | "bob", string>>;
let ids: Readonly<Record<"owner" | "lead" | "ada" | "bob", string>>;
let team: string;

beforeAll(async () => {
  gateway = await startTestGateway({ clock });
  create = createAccountTools(gateway);
  const owner = await create.user("Olga");
  organization = await create.organization(owner);
  await callAdmin(gateway, gateway.adminKey, "POST", `/accounts/${organization}/credits`, { amount: 10 });
  const people = {
    owner,
    lead: await create.user("Lea"),
    ada: await create.user("Ada"),
    bob: await create.user("Bob"),
  };
  for (const name of ["lead", "ada", "bob"] as const)
    await create.member(organization, people[name], "member");
  const sign = (user_id: string) => create.key(organization, { kind: "management", user_id });
  ids = people;
  keys = {
    owner: await sign(owner),
    lead: await sign(people.lead),
    ada: await sign(people.ada),
    bob: await sign(people.bob),
  };
  team = (await call("owner", "POST", "/teams", { name: "Search" })).data.id;
  await call("owner", "PUT", `/teams/${team}/members/${people.lead}`, { is_lead: true });
  await call("lead", "PUT", `/teams/${team}/members/${people.ada}`, {});
});
afterAll(() => gateway.stop());

type Person = keyof typeof keys;

/** Calls the API of the organization. */
const call = (person: Person, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callAdmin(gateway, keys[person], method, `/organizations/${organization}${path}`, body);
const admin = (person: Person, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callAdmin(gateway, keys[person], method, path, body);

/** Makes an inference key. Returns its secret and id. */
async function makeKey(person: Person, more: Readonly<Record<string, unknown>> = {}) {
  const made = await admin(person, "POST", "/keys", { name: "laptop", ...more });
  return {
    status: made.status,
    body: made.body,
    secret: made.body["key"] as string,
    id: made.data?.id,
    data: made.data,
  };
}

const chat = (secret: string, more: Readonly<Record<string, unknown>> = {}) =>
  postChat(
    { ...gateway, key: secret },
    { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }], ...more },
  );
/** Returns what a key says about itself. */
async function describeKey(secret: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(`${gateway.base}/key`, { headers: { authorization: `Bearer ${secret}` } });
  return ((await answer.json()) as { data: Readonly<Record<string, unknown>> }).data;
}

const reasonOf = async (response: Response) =>
  ((await response.json()) as { error: { metadata: Readonly<Record<string, unknown>> } }).error.metadata;

describe("a team", () => {
  test("restricts its keys by its policy, beside that of the organization, and no other keys", async () => {
    await call("owner", "PATCH", `/teams/${team}`, { policy: { denied_models: ["sandbox/echo"] } });
    const [inside, outside] = [await makeKey("ada", { team_id: team }), await makeKey("ada")];
    const rejected = await chat(inside.secret);
    expect([rejected.status, (await reasonOf(rejected))["rule"]]).toEqual([403, "team.denied_models"]);
    expect((await chat(outside.secret)).status).toBe(200);
    await call("owner", "PATCH", `/teams/${team}`, { policy: { denied_models: [] } });
    expect((await chat(inside.secret)).status).toBe(200);
  });

  test("has a rate limit of all its keys together", async () => {
    const { id } = (
      await call("owner", "POST", "/teams", { name: "Few", rate_limit: { requests_per_minute: 2 } })
    ).data;
    const [one, other] = [await makeKey("owner", { team_id: id }), await makeKey("owner", { team_id: id })];
    const statuses = [];
    for (const { secret } of [one, other, one]) statuses.push((await chat(secret)).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(await reasonOf(await chat(other.secret))).toMatchObject({ limit_source: "team", limit: 2 });
    expect((await call("owner", "PATCH", `/teams/${id}`, { rate_limit: null })).status).toBe(200);
    expect((await chat(one.secret)).status).toBe(200);
  });

  test("has budgets, which its keys reach and other keys of the same person do not", async () => {
    const [inside, outside] = [await makeKey("ada", { team_id: team }), await makeKey("ada")];
    const budget = { account_id: organization, team_id: team, limit: "0.000001", period: "day" };
    const made = await admin("owner", "POST", "/budgets", budget);
    expect(made.data).toMatchObject({ subject: "team", team_id: team, name: "Search by day" });
    const rejected = await chat(inside.secret);
    expect([rejected.status, (await reasonOf(rejected))["limit_source"]]).toEqual([402, "budget"]);
    expect((await chat(outside.secret)).status).toBe(200);
    const ofKey = await describeKey(inside.secret);
    expect(ofKey["team"]).toEqual({ id: team, name: "Search" });
    expect(ofKey["budgets"]).toMatchObject([{ id: made.data.id, subject: "team", state: "reached" }]);
    expect((await describeKey(outside.secret))["budgets"]).toEqual([]);
    await admin("owner", "DELETE", `/budgets/${made.data.id}`);
  });

  test("adds its tags, and those of the organization and the key, to each request", async () => {
    await call("owner", "PATCH", `/teams/${team}`, { tags: ["team:search"] });
    await admin("owner", "PATCH", `/organizations/${organization}`, { tags: ["company"] });
    const { secret } = await makeKey("ada", { team_id: team, tags: ["laptop"] });
    const answer = await postChat(
      { ...gateway, key: secret },
      { model: "sandbox/echo", messages: [{ role: "user", content: "Hi" }] },
      { "x-gateway-tags": "job:1,company" },
    );
    const id = answer.headers.get("x-gateway-generation-id") ?? "";
    await answer.text();
    const { data } = await admin("owner", "GET", `/generations/${id}`);
    expect(data["tags"]).toEqual(["job:1", "company", "laptop", "team:search"]);
  });

  test("has a name that no other team of the organization has, and needs members of the organization", async () => {
    expect((await call("owner", "POST", "/teams", { name: "SEARCH" })).status).toBe(409);
    const stranger = await create.user("Eve");
    const added = await call("owner", "PUT", `/teams/${team}/members/${stranger}`, {});
    expect([added.status, added.body["error"]]).toMatchObject([400, { metadata: { field: "user_id" } }]);
    const key = await makeKey("owner", { team_id: team, user_id: ids.bob });
    expect([key.status, key.body["error"]]).toMatchObject([400, { metadata: { field: "team_id" } }]);
  });

  test("ends the keys of a member who leaves it, and keeps the others", async () => {
    await call("lead", "PUT", `/teams/${team}/members/${ids.bob}`, {});
    const [inside, outside] = [await makeKey("bob", { team_id: team }), await makeKey("bob")];
    const left = await call("lead", "DELETE", `/teams/${team}/members/${ids.bob}`);
    expect(left.data).toMatchObject({ revoked_keys: 1 });
    expect([(await chat(inside.secret)).status, (await chat(outside.secret)).status]).toEqual([401, 200]);
  });

  test("ends a key that is stored just after its person has left", async () => {
    const stores = await openTestStores(gateway.dataDir);
    const random = createSystemRandom();
    const { key, secret } = makeKeyRecord(
      { ...stores, random, clock, ids: createIdSource(clock, random) },
      { name: "late", kind: "inference", accountId: organization, userId: ids.bob, teamId: team },
    );
    await stores.keys.insertKey(key);
    await stores.close();
    const answer = await chat(secret);
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("has left the team")]);
  });

  test("has keys that do not act for another organization of their person", async () => {
    const other = await create.organization(ids.ada, { name: "Other" });
    const { secret } = await makeKey("ada", { team_id: team });
    const answer = await fetch(`${gateway.base}/key`, {
      headers: { authorization: `Bearer ${secret}`, "x-gateway-organization": other },
    });
    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining("a team of another organization"),
    ]);
  });

  test("that is deleted has no valid keys, and its name can be given again", async () => {
    const { id } = (await call("owner", "POST", "/teams", { name: "Short" })).data;
    const service = await makeKey("owner", { team_id: id });
    expect((await chat(service.secret)).status).toBe(200);
    expect((await call("owner", "DELETE", `/teams/${id}`)).data).toMatchObject({ revoked_keys: 1 });
    expect((await chat(service.secret)).status).toBe(401);
    expect((await call("owner", "GET", `/teams/${id}`)).status).toBe(404);
    expect((await call("owner", "POST", "/teams", { name: "short" })).status).toBe(201);
  });
});

describe("a member", () => {
  test("makes, renames, rotates and ends own inference keys, and no others", async () => {
    const made = await makeKey("bob", { spend_limit: 5 });
    expect(made.data).toMatchObject({ user_id: ids.bob, kind: "inference", spend_limit: 5 });
    expect((await admin("bob", "PATCH", `/keys/${made.id}`, { name: "desk", spend_limit: 4 })).status).toBe(
      200,
    );
    const wider = await admin("bob", "PATCH", `/keys/${made.id}`, { spend_limit: 6 });
    expect([wider.status, wider.body["error"]]).toMatchObject([403, { metadata: { field: "spend_limit" } }]);
    const rotated = await admin("bob", "POST", `/keys/${made.id}/rotate`, {});
    expect((await chat(rotated.body["key"] as string)).status).toBe(200);
    expect((await admin("ada", "DELETE", `/keys/${made.id}`)).status).toBe(404);
    expect((await admin("bob", "DELETE", `/keys/${made.id}`)).status).toBe(200);
  });

  test.each([
    ["a management key", { kind: "management" }],
    ["a key for another user", { user_id: "user_other" }],
    ["a key whose requests are stored", { prompt_log: 3_600 }],
  ])("makes no %s", async (_, more) => {
    expect((await makeKey("bob", more)).status).toBe(403);
  });

  test("makes keys within what the organization allows: how many, how long, and how much", async () => {
    const bounds = { count: 3, days: 30, spend_limit: 20 };
    await admin("owner", "PATCH", `/organizations/${organization}`, { member_keys: bounds });
    const made = await makeKey("bob");
    expect(made.data).toMatchObject({
      spend_limit: 20,
      spend_limit_period: "month",
      expires_at: new Date(clock.now() + 30 * 24 * HOUR_MS).toISOString(),
    });
    const fieldOf = async (more: Readonly<Record<string, unknown>>) => {
      const { status, body } = await makeKey("bob", more);
      return [status, (body["error"] as { metadata: { field?: string } }).metadata.field];
    };
    expect(await fieldOf({ spend_limit: 21, spend_limit_period: "month" })).toEqual([403, "spend_limit"]);
    expect(await fieldOf({ spend_limit: 10, spend_limit_period: "day" })).toEqual([
      403,
      "spend_limit_period",
    ]);
    expect((await makeKey("bob", { prompt_log: 60 })).body["error"]).toMatchObject({
      message: "Only owners and admins may set prompt_log of a key. Omit it.",
      metadata: { field: "prompt_log" },
    });
    const late = new Date(clock.now() + 31 * 24 * HOUR_MS).toISOString();
    expect(await fieldOf({ expires_at: late })).toEqual([403, "expires_at"]);
    const many = await Promise.all(Array.from({ length: 6 }, () => makeKey("bob")));
    const valid = (await admin("bob", "GET", "/keys?limit=100")).rows.filter(
      ({ revoked_at, kind }) => revoked_at === null && kind === "inference",
    );
    expect(valid).toHaveLength(3);
    expect(many.filter(({ status }) => status === 409).length).toBeGreaterThanOrEqual(4);
    await admin("owner", "PATCH", `/organizations/${organization}`, { member_keys: { count: 0 } });
    expect((await makeKey("ada")).status).toBe(403);
    const open = { count: 10, days: null, spend_limit: null };
    await admin("owner", "PATCH", `/organizations/${organization}`, { member_keys: open });
  });

  test("of a lead is the lead's own, unless it is made for the team's programs or for another member", async () => {
    expect((await makeKey("lead", { team_id: team })).data).toMatchObject({ user_id: ids.lead });
    expect((await makeKey("lead", { team_id: team, user_id: null })).data).toMatchObject({ user_id: null });
    const ofAda = await makeKey("lead", { team_id: team, user_id: ids.ada });
    expect(ofAda.data).toMatchObject({ user_id: ids.ada });
    expect((await makeKey("lead", { user_id: null })).status).toBe(403);
  });

  test("sees own teams, and the lead also the keys of the team", async () => {
    const inside = await makeKey("ada", { team_id: team });
    const namesOf = async (person: Person) =>
      (await call(person, "GET", "/teams")).rows.map(({ name }) => name);
    expect([await namesOf("ada"), await namesOf("bob")]).toEqual([["Search"], []]);
    const listed = (person: Person) => admin(person, "GET", `/keys?team_id=${team}&limit=100`);
    expect((await listed("lead")).rows.map(({ id }) => id)).toContain(inside.id);
    expect((await listed("bob")).status).toBe(404);
    expect((await admin("lead", "PATCH", `/keys/${inside.id}`, { spend_limit: 1 })).status).toBe(200);
    expect((await admin("lead", "DELETE", `/keys/${inside.id}`)).status).toBe(200);
  });
});

describe("what a team and an organization set for their keys", () => {
  test("counts for present and future keys, and the key and the team come before the organization", async () => {
    const { id } = (await call("owner", "POST", "/teams", { name: "Logged" })).data;
    const [inTeam, outside] = [await makeKey("owner", { team_id: id }), await makeKey("owner")];
    const storedFor = async (): Promise<unknown[]> => {
      const later = await makeKey("owner", { team_id: id });
      const keys = [inTeam, outside, later, await makeKey("owner", { prompt_log: 0 })];
      return Promise.all(keys.map(async ({ secret }) => (await describeKey(secret))["prompt_log"]));
    };
    expect(await storedFor()).toEqual([null, null, null, null]);
    await admin("owner", "PATCH", `/organizations/${organization}`, { prompt_log: 3_600 });
    expect(await storedFor()).toEqual([3_600, 3_600, 3_600, null]);
    await call("owner", "PATCH", `/teams/${id}`, { prompt_log: 0 });
    expect(await storedFor()).toEqual([null, 3_600, null, null]);
    await admin("owner", "PATCH", `/organizations/${organization}`, { prompt_log: null });
    await call("owner", "PATCH", `/teams/${id}`, { prompt_log: 60 });
    expect(await storedFor()).toEqual([60, null, 60, null]);
  });

  test("stores bodies and caches answers as they say, but nothing under zero retention", async () => {
    const { id } = (await call("owner", "POST", "/teams", { name: "Cached", prompt_log: 600, cache: 600 }))
      .data;
    const { secret } = await makeKey("owner", { team_id: id });
    const ask = async () => {
      const answer = await chat(secret);
      await answer.text();
      const generation = answer.headers.get("x-gateway-generation-id") ?? "";
      const bodies = await admin("owner", "GET", `/generations/${generation}/bodies`);
      return [answer.headers.get("x-gateway-cache"), bodies.status];
    };
    expect([await ask(), await ask()]).toEqual([
      ["miss", 200],
      ["hit", 200],
    ]);
    await call("owner", "PATCH", `/teams/${id}`, { policy: { zero_retention: true } });
    expect((await ask())[1]).toBe(404);
  });
});

describe("GET /api/admin/me", () => {
  test("says who a member is, what they may do, and what is left", async () => {
    await admin("owner", "PUT", `/organizations/${organization}/members/${ids.ada}`, {
      role: "member",
      daily_limit: 3,
    });
    const budget = { account_id: organization, user_id: ids.ada, limit: 7, period: "month" };
    await admin("owner", "POST", "/budgets", budget);
    const { data } = await admin("ada", "GET", "/me");
    expect(data).toMatchObject({
      role: "member",
      rights: ["own", "call", "own_keys"],
      account: { id: organization, kind: "organization" },
      user: { id: ids.ada, name: "Ada" },
      teams: [{ id: team, name: "Search", is_lead: false }],
      own_keys: { count: 10, days: null, spend_limit: null },
      daily_limit: 3,
      budgets: [{ subject: "member", limit: 7 }],
      prompt_log: null,
      zero_retention: false,
    });
    const used = (data["own_keys"] as { used: number }).used;
    await makeKey("ada");
    expect((await admin("ada", "GET", "/me")).data).toMatchObject({ own_keys: { used: used + 1 } });
    expect((await admin("owner", "GET", "/me")).data).toMatchObject({ role: "owner", own_keys: null });
  });
});

describe("a rotated key", () => {
  // Gateways on PostgreSQL: test/gateways/changes-everywhere.test.ts. There, the clock of the database decides who is live.
  test.skipIf(ON_POSTGRES)("answers with both secrets until the overlap ends", async () => {
    const made = await makeKey("ada");
    const rotated = await admin("ada", "POST", `/keys/${made.id}/rotate`, { overlap_hours: 2 });
    const next = rotated.body["key"] as string;
    expect(rotated.data).toMatchObject({
      id: made.id,
      previous_hint: made.data["hint"],
      previous_used_at: null,
    });
    expect([(await chat(made.secret)).status, (await chat(next)).status]).toEqual([200, 200]);
    clock.advance(2 * HOUR_MS - 1);
    expect((await chat(made.secret)).status).toBe(200);
    clock.advance(1);
    expect([(await chat(made.secret)).status, (await chat(next)).status]).toEqual([401, 200]);
  });

  test("has one secret at once without an overlap, and at most two", async () => {
    const made = await makeKey("ada");
    const leaked = await admin("ada", "POST", `/keys/${made.id}/rotate`, { overlap_hours: 0 });
    expect((await chat(made.secret)).status).toBe(401);
    const second = leaked.body["key"] as string;
    const third = (await admin("ada", "POST", `/keys/${made.id}/rotate`, {})).body["key"] as string;
    const fourth = (await admin("ada", "POST", `/keys/${made.id}/rotate`, {})).body["key"] as string;
    const statuses = [];
    for (const secret of [second, third, fourth]) statuses.push((await chat(secret)).status);
    expect(statuses).toEqual([401, 200, 200]);
    await admin("ada", "DELETE", `/keys/${made.id}`);
    expect([(await chat(third)).status, (await chat(fourth)).status]).toEqual([401, 401]);
    expect((await admin("ada", "POST", `/keys/${made.id}/rotate`, {})).status).toBe(409);
  });
});
