import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { MemberRecord } from "../../../src/core/accounts/records/records.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import {
  type ReturnedBrowser,
  restartWithProvider,
  signInThroughProvider,
} from "../../support/gateway/provider-sign-in.ts";
import { callWithSession } from "../../support/gateway/sign-in.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";

let provider: TestOidcProvider;
let gateway: TestGateway;
let organization: string;
/** An organization that rules name, without a member at first. */
let empty: string;
let search: string;
let data: string;

/** Starts the gateway again with the ids of the organizations, which are known only after the first start. */
beforeAll(async () => {
  provider = await startOidcProvider();
  const first = await startTestGateway();
  const create = createAccountTools(first);
  organization = await create.organization(await create.user("owner"));
  empty = await create.organization(undefined, { name: "Empty" });
  const team = async (name: string) =>
    (await callAdmin(first, first.adminKey, "POST", `/organizations/${organization}/teams`, { name })).data
      .id;
  search = await team("Search");
  data = await team("Data");
  const rule = (value: string, of: string, more: object) => ({
    ...{ claim: "groups", value, organization: of },
    ...more,
  });
  gateway = await restartWithProvider(first, provider, {
    create_users: true,
    rules: [
      rule("engineering", organization, { role: "member" }),
      rule("admins", organization, { role: "admin" }),
      rule("search", organization, { role: "member", teams: ["SEARCH"] }),
      rule("search leads", organization, { role: "member", teams: [search], lead: true }),
      rule("data", organization, { role: "member", teams: ["Data", "Serch"] }),
      rule("founders", empty, { role: "owner" }),
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  provider.stop();
});
let count = 0;
let sub: string;
beforeEach(() => {
  count += 1;
  sub = `person ${count}`;
  gateway.log.length = 0;
});

const manage = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);
const signInWith = (...groups: string[]) => signInThroughProvider(gateway, provider, { sub, groups });
const sessionOf = async (returned: ReturnedBrowser) =>
  (await callWithSession(gateway, returned, { path: "/api/console/session" })).status;

/** Links the person of the test to a new user. Returns the user's id. */
async function linkUser(): Promise<string> {
  const user = await createAccountTools(gateway).user(sub);
  await manage("POST", `/users/${user}/identities`, { subject: sub });
  return user;
}

/** Signs the person in for the first time. Returns the id of the user. */
async function join(...groups: string[]): Promise<string> {
  const returned = await signInWith(...groups);
  const { body } = await callWithSession(gateway, returned, { path: "/api/console/session" });
  return (body["user"] as { id: string }).id;
}

async function memberOf(user: string, of = organization) {
  const { rows } = await manage("GET", `/organizations/${of}/members?limit=100`);
  const member = rows.find(({ user_id }) => user_id === user);
  return member === undefined ? null : { role: member.role, source: member["source"] };
}

async function teamMemberOf(user: string, team: string) {
  const { rows } = await manage("GET", `/organizations/${organization}/teams/${team}/members?limit=100`);
  const member = rows.find(({ user_id }) => user_id === user);
  return member === undefined ? null : { is_lead: member["is_lead"], source: member["source"] };
}

/** Makes an inference key of a user. Returns whether it is valid now. */
async function makeKey(user: string, more: object = {}): Promise<() => Promise<boolean>> {
  const made = await manage("POST", "/keys", {
    ...{ name: "laptop", account_id: organization, user_id: user },
    ...more,
  });
  const headers = { authorization: `Bearer ${made.body["key"]}` };
  return async () => (await fetch(`${gateway.base}/key`, { headers })).status === 200;
}

const lastChanges = async () => (await manage("GET", "/audit?limit=1")).rows[0]?.["changes"];

describe("a membership that was made by hand", () => {
  test("stays with its role when no rule grants one, or another one", async () => {
    const user = await linkUser();
    await manage("PUT", `/organizations/${organization}/members/${user}`, { role: "billing" });
    for (const groups of [[], ["admins"], ["engineering"]]) {
      expect((await signInWith(...groups)).status).toBe(303);
      expect(await memberOf(user)).toEqual({ role: "billing", source: "manual" });
      expect(await lastChanges()).not.toHaveProperty("roles");
    }
  });

  test("replaces one that a rule has given, and is then no longer changed", async () => {
    const user = await join("engineering");
    expect((await manage("DELETE", `/organizations/${organization}/members/${user}?force=true`)).status).toBe(
      200,
    );
    await manage("PUT", `/organizations/${organization}/members/${user}`, { role: "admin" });
    await signInWith("engineering");
    expect(await memberOf(user)).toEqual({ role: "admin", source: "manual" });
  });
});

describe("a membership that a rule has given", () => {
  test("ends with its keys and sessions at the next sign-in to which no rule applies", async () => {
    const user = await join("engineering");
    expect(await memberOf(user)).toEqual({ role: "member", source: "oidc" });
    const isValid = await makeKey(user);
    const before = await signInWith("engineering");
    expect([await isValid(), await sessionOf(before)]).toEqual([true, 200]);
    const without = await signInWith();
    expect([without.status, without.cookie]).toEqual([403, ""]);
    expect(await memberOf(user)).toBeNull();
    expect([await isValid(), await sessionOf(before)]).toEqual([false, 401]);
  });

  test("is not ended by hand without force=true, which the error names", async () => {
    const user = await join("engineering");
    const path = `/organizations/${organization}/members/${user}`;
    const rejected = await manage("DELETE", path);
    expect([rejected.status, rejected.body["error"]]).toMatchObject([409, { metadata: { source: "oidc" } }]);
    expect(JSON.stringify(rejected.body)).toContain("force=true");
    expect(await memberOf(user)).not.toBeNull();
    expect((await manage("DELETE", `${path}?force=true`)).status).toBe(200);
    expect(await memberOf(user)).toBeNull();
  });

  test("takes another daily limit by hand, and no other role", async () => {
    const user = await join("engineering");
    const path = `/organizations/${organization}/members/${user}`;
    const rejected = await manage("PUT", path, { role: "admin", daily_limit: 5 });
    expect([rejected.status, rejected.body["error"]]).toMatchObject([409, { metadata: { field: "role" } }]);
    const limited = await manage("PUT", path, { role: "member", daily_limit: 5 });
    expect([limited.status, limited.data]).toMatchObject([
      200,
      { role: "member", daily_limit: 5, source: "oidc" },
    ]);
    await signInWith("admins");
    const { rows } = await manage("GET", `/organizations/${organization}/members?limit=100`);
    expect(rows.find(({ user_id }) => user_id === user)).toMatchObject({ role: "admin", daily_limit: 5 });
  });

  test("stays if it is that of the last owner, and the sign-in records no change", async () => {
    const user = await join("founders");
    expect(await memberOf(user, empty)).toEqual({ role: "owner", source: "oidc" });
    for (const groups of [["engineering"], []]) {
      expect((await signInWith(...groups)).status).toBe(303);
      expect(await memberOf(user, empty)).toEqual({ role: "owner", source: "oidc" });
      expect(JSON.stringify(await lastChanges())).not.toContain(empty);
    }
  });
});

test("the key of a person's sessions gets no new secret, and revoking it ends the sessions", async () => {
  const returned = await signInWith("admins");
  const { body } = await callWithSession(gateway, returned, { path: "/api/console/session" });
  const { rows } = await manage("GET", `/keys?user_id=${(body["user"] as { id: string }).id}`);
  const path = `/keys/${rows[0]?.id}`;
  const rotated = await manage("POST", `${path}/rotate`, {});
  expect([rotated.status, rotated.body["key"]]).toEqual([409, undefined]);
  expect(await sessionOf(returned)).toBe(200);
  expect((await manage("DELETE", path)).status).toBe(200);
  expect(await sessionOf(returned)).toBe(401);
});

describe("a membership of a version before sources", () => {
  /** Stores a membership without a source for the person of the test. */
  async function store(fields: Partial<MemberRecord> = {}): Promise<string> {
    const user = await linkUser();
    const stores = await openTestStores(gateway.dataDir);
    const member = { organizationId: organization, userId: user, role: "member", dailyLimit: 7 } as const;
    await stores.accounts.putMember({ ...member, source: null, createdAt: 0, ...fields });
    await stores.close();
    return user;
  }

  test.each(["member", "admin"] as const)(
    "is taken over by a rule that grants a role, from %s",
    async (role) => {
      const user = await store({ role });
      await signInWith("engineering");
      expect(await memberOf(user)).toEqual({ role: "member", source: "oidc" });
      expect((await signInWith()).status).toBe(403);
      expect(await memberOf(user)).toBeNull();
    },
  );

  test("is ended by a sign-in to which no rule applies", async () => {
    const user = await store();
    expect((await signInWith()).status).toBe(403);
    expect(await memberOf(user)).toBeNull();
  });

  test("counts as made by hand for the API", async () => {
    const user = await store();
    const path = `/organizations/${organization}/members/${user}`;
    expect((await manage("PUT", path, { role: "billing" })).data).toMatchObject({ source: "manual" });
    expect((await manage("DELETE", path)).status).toBe(200);
  });
});

describe("teams that rules name", () => {
  test("are joined by name or id, led if a rule says so, and left with the keys of the team", async () => {
    const user = await join("search");
    expect(await teamMemberOf(user, search)).toEqual({ is_lead: false, source: "oidc" });
    expect(await lastChanges()).toMatchObject({ teams: { [search]: "member" } });
    await signInWith("search", "search leads");
    expect(await teamMemberOf(user, search)).toEqual({ is_lead: true, source: "oidc" });
    expect(await lastChanges()).toEqual({ signed_in_by: "oidc", teams: { [search]: "lead" } });
    await signInWith("search leads", "search");
    expect(await lastChanges()).toEqual({ signed_in_by: "oidc" });
    const [inside, outside] = [await makeKey(user, { team_id: search }), await makeKey(user)];
    await signInWith("engineering");
    expect(await teamMemberOf(user, search)).toBeNull();
    expect(await lastChanges()).toEqual({ signed_in_by: "oidc", teams: { [search]: null } });
    expect([await inside(), await outside()]).toEqual([false, true]);
  });

  test("are also joined by a member who was added by hand", async () => {
    const user = await linkUser();
    await manage("PUT", `/organizations/${organization}/members/${user}`, { role: "billing" });
    await signInWith("search");
    expect(await teamMemberOf(user, search)).toEqual({ is_lead: false, source: "oidc" });
    expect(await memberOf(user)).toEqual({ role: "billing", source: "manual" });
  });

  test("keep members who were added by hand, with the part that they have", async () => {
    const user = await join("engineering");
    await manage("PUT", `/organizations/${organization}/teams/${search}/members/${user}`, {});
    for (const groups of [["engineering"], ["search leads"]]) {
      await signInWith(...groups);
      expect(await teamMemberOf(user, search)).toEqual({ is_lead: false, source: "manual" });
    }
  });

  test("that do not exist are ignored with a warning, and the others are joined", async () => {
    const user = await join("data");
    expect(await teamMemberOf(user, data)).toEqual({ is_lead: false, source: "oidc" });
    expect(gateway.log.filter(({ level }) => level === "warn")).toMatchObject([
      { fields: { organization_id: organization, team: "Serch" } },
    ]);
  });

  test("are left by hand only with force=true, and get no lead by hand whom the rule does not name", async () => {
    const user = await join("search");
    const path = `/organizations/${organization}/teams/${search}/members/${user}`;
    const rejected = await manage("PUT", path, { is_lead: true });
    expect([rejected.status, rejected.body["error"]]).toMatchObject([
      409,
      { metadata: { field: "is_lead" } },
    ]);
    expect((await manage("PUT", path, { is_lead: false })).data).toMatchObject({ source: "oidc" });
    expect((await manage("DELETE", path)).status).toBe(409);
    expect((await manage("DELETE", `${path}?force=true`)).status).toBe(200);
    expect(await teamMemberOf(user, search)).toBeNull();
  });
});
