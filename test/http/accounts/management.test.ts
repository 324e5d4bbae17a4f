import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openGatewayDatabase } from "../../support/databases/gateway-database.ts";
import { ON_POSTGRES } from "../../support/databases/test-databases.ts";
import { queryTables } from "../../support/databases/test-tables.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type AccountTools,
  type ApiAnswer,
  callAdmin,
  createAccountTools,
} from "../../support/gateway/management.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

let gateway: TestGateway;
let clock: TestClock;
let create: AccountTools;

beforeAll(async () => {
  clock = createTestClock();
  gateway = await startTestGateway({ clock });
  create = createAccountTools(gateway);
});
afterAll(() => gateway.stop());

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  callAdmin(gateway, gateway.adminKey, method, path, body, headers);

function expectError(answer: ApiAnswer, status: number, type: string, word: RegExp): void {
  const { message } = answer.body["error"] as { message: string };
  expect([answer.status, answer.body["error_type"], message]).toEqual([
    status,
    type,
    expect.stringMatching(word),
  ]);
}

describe("a user", () => {
  test("is created prepaid and without restrictions, and is returned with its memberships", async () => {
    const made = await call("POST", "/users", { name: "  Ada " });
    expect([made.status, made.data]).toEqual([
      201,
      {
        id: expect.stringMatching(/^user_\w{26}$/),
        name: "Ada",
        email: null,
        external_id: null,
        overdraft: 0,
        policy: {
          allowed_models: null,
          denied_models: [],
          allowed_providers: null,
          denied_providers: [],
          deny_data_collection: false,
          zero_retention: false,
          own_keys_only: false,
          prompt_caching: "auto",
        },
        rate_limit: { requests_per_minute: null, tokens_per_minute: null, concurrent: null },
        plan: null,
        prompt_log: null,
        cache: null,
        tags: null,
        created_at: new Date(clock.now()).toISOString(),
        closed_at: null,
      },
    ] as never);
    const organization = await create.organization(made.data.id);
    const shown = await call("GET", `/users/${made.data.id}`);
    expect(shown.data).toMatchObject({
      ...made.data,
      memberships: [{ organization_id: organization, role: "owner", daily_limit: null }],
    });
  });

  test("keeps fields that an update omits, also inside of its policy", async () => {
    const id = await create.user("Ada", {
      overdraft: 0.000000001,
      policy: { denied_models: ["meta-llama/*"] },
    });
    const changed = await call("PATCH", `/users/${id}`, { policy: { zero_retention: true } });
    expect(changed.data).toMatchObject({
      name: "Ada",
      overdraft: 0.000000001,
      policy: { denied_models: ["meta-llama/*"], zero_retention: true },
    });
    expect((await call("PATCH", `/users/${id}`, { overdraft: null })).data["overdraft"]).toBeNull();
  });

  test("has an e-mail, stored in lower case, and an external id, by which lists find it", async () => {
    const made = await call("POST", "/users", {
      name: "Eve",
      email: " Eve@Example.com ",
      external_id: "C-7",
    });
    expect([made.status, made.data]).toMatchObject([201, { email: "eve@example.com", external_id: "C-7" }]);
    const ids = async (path: string) =>
      ((await call("GET", path)).body["data"] as { id: string }[]).map(({ id }) => id);
    expect(await ids("/users?email=EVE@example.com")).toEqual([made.data.id]);
    expect(await ids("/users?external_id=C-7")).toEqual([made.data.id]);
    expect(await ids("/users?external_id=c-7")).toEqual([]);
    expect(await ids("/organizations?external_id=C-7")).toEqual([]);
    expectError(await call("GET", "/organizations?email=eve@example.com"), 400, "invalid_request", /email/);
    const freed = await call("PATCH", `/users/${made.data.id}`, { email: null, external_id: null });
    expect(freed.data).toMatchObject({ name: "Eve", email: null, external_id: null });
    expect(await ids("/users?email=eve@example.com")).toEqual([]);
  });

  test("cannot have the e-mail of another user, nor the external id of another account", async () => {
    const held = { email: "held@example.com", external_id: "held" };
    const holder = await create.user("Holder", held);
    const other = await create.user("Other");
    const conflict = (field: string) => ({ status: 409, body: { error: { metadata: { field } } } });
    expect(await call("POST", "/users", { name: "x", email: "HELD@example.com" })).toMatchObject(
      conflict("email"),
    );
    expect(await call("PATCH", `/users/${other}`, { email: held.email })).toMatchObject(conflict("email"));
    expect(await call("POST", "/organizations", { name: "x", external_id: "held" })).toMatchObject(
      conflict("external_id"),
    );
    expect((await call("PATCH", `/users/${holder}`, held)).data).toMatchObject(held);
  });

  test("cannot set the e-mail and the external id of the own account, which the operator sets", async () => {
    const id = await create.user("Mallory");
    const key = await create.key(id, { kind: "management" });
    for (const field of ["email", "external_id"]) {
      const answer = await callAdmin(gateway, key, "PATCH", `/users/${id}`, { [field]: "boss@example.com" });
      expectError(answer, 403, "permission_denied", new RegExp(field));
    }
    expect((await callAdmin(gateway, key, "PATCH", `/users/${id}`, { name: "Mal" })).status).toBe(200);
  });

  test("can be closed and reopened", async () => {
    const id = await create.user();
    const closed = await call("PATCH", `/users/${id}`, { closed: true });
    expect(closed.data["closed_at"]).toBe(new Date(clock.now()).toISOString());
    clock.advance(1_000);
    const again = await call("PATCH", `/users/${id}`, { closed: true });
    expect(again.data["closed_at"]).toBe(closed.data["closed_at"]);
    expect((await call("PATCH", `/users/${id}`, { closed: false })).data["closed_at"]).toBeNull();
  });

  test("whose account is closed cannot call the management API, and the operator account cannot be closed", async () => {
    const id = await create.user();
    const key = await create.key(id, { kind: "management" });
    expect((await callAdmin(gateway, key, "GET", `/users/${id}`)).status).toBe(200);
    await call("PATCH", `/users/${id}`, { closed: true });
    expect((await callAdmin(gateway, key, "GET", `/users/${id}`)).status).toBe(403);
    expect((await callAdmin(gateway, key, "PATCH", `/users/${id}`, { closed: false })).status).toBe(403);
    expectError(
      await call("PATCH", "/users/acct_default", { closed: true }),
      400,
      "invalid_request",
      /operator account/,
    );
  });

  test.each<[string, unknown, RegExp]>([
    ["no name", {}, /name/],
    ["an e-mail that is none", { name: "x", email: "ada" }, /email.*e-mail address/],
    ["an empty external id", { name: "x", external_id: " " }, /external_id/],
    ["an external id with a line break", { name: "x", external_id: "a\nb" }, /external_id.*control/],
    ["an unknown field", { name: "x", role: "owner" }, /role/],
    ["a monthly limit", { name: "x", monthly_limit: 1 }, /monthly_limit/],
    ["an unknown field of the policy", { name: "x", policy: { models: [] } }, /models/],
    ["a negative overdraft", { name: "x", overdraft: -1 }, /overdraft/],
    ["an overdraft that is no number", { name: "x", overdraft: "one" }, /overdraft/],
    ["too many patterns", { name: "x", policy: { denied_models: Array(201).fill("a") } }, /denied_models/],
  ])("with %s is rejected with an error that names the field", async (_name, body, word) => {
    expectError(await call("POST", "/users", body), 400, "invalid_request", word);
  });
});

describe("a list", () => {
  test("is returned in pages that contain every element once, newest first", async () => {
    const made: string[] = [];
    for (let i = 0; i < 5; i++) {
      clock.advance(1);
      made.push(await create.organization());
    }
    const seen: string[] = [];
    let next: unknown = null;
    do {
      const page: ApiAnswer = await call("GET", `/organizations?limit=2${next ? `&after=${next}` : ""}`);
      expect(page.rows.length).toBeLessThanOrEqual(2);
      seen.push(...page.rows.map(({ id }) => id));
      next = page.body["next"];
    } while (next !== null);
    expect(seen.slice(0, 5)).toEqual(made.toReversed());
    expect(new Set(seen).size).toBe(seen.length);
  });

  test.each(["limit=0", "limit=101", "limit=x", "after=", "page=2"])(
    "is rejected with the invalid query ?%s",
    async (query) => {
      expect((await call("GET", `/organizations?${query}`)).status).toBe(400);
    },
  );
});

describe("an organization", () => {
  test("has members with a role and a daily limit each", async () => {
    const [owner, other] = [await create.user(), await create.user()];
    const id = await create.organization(owner, { monthly_limit: 12.5 });
    const member = await call("PUT", `/organizations/${id}/members/${other}`, {
      role: "billing",
      daily_limit: 0.25,
    });
    expect(member.data).toEqual({
      organization_id: id,
      user_id: other,
      role: "billing",
      daily_limit: 0.25,
      source: "manual",
      created_at: new Date(clock.now()).toISOString(),
    } as never);
    clock.advance(1_000);
    const changed = await call("PUT", `/organizations/${id}/members/${other}`, { role: "admin" });
    expect(changed.data).toEqual({ ...member.data, role: "admin", daily_limit: null });
    const { rows } = await call("GET", `/organizations/${id}/members`);
    expect(rows.map(({ user_id, role }) => [user_id, role]).sort()).toEqual(
      [
        [owner, "owner"],
        [other, "admin"],
      ].sort(),
    );
    expect((await call("GET", `/organizations/${id}`)).data["monthly_limit"]).toBe(12.5);
  });

  test("keeps its last owner on removal, demotion and closing of the owner's account", async () => {
    const [owner, other] = [await create.user(), await create.user()];
    const id = await create.organization(owner);
    const path = (user: string) => `/organizations/${id}/members/${user}`;
    await create.member(id, other, "admin");
    expectError(await call("DELETE", path(owner)), 409, "conflict", /owner/);
    expectError(await call("PUT", path(owner), { role: "admin" }), 409, "conflict", /owner/);
    expectError(
      await call("PATCH", `/users/${owner}`, { closed: true }),
      409,
      "conflict",
      /only owner of an organization/,
    );
    await create.member(id, other, "owner");
    const both = await Promise.all([owner, other].map((user) => call("DELETE", path(user))));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const { rows } = await call("GET", `/organizations/${id}/members`);
    expect(rows.map(({ role }) => role)).toEqual(["owner"]);
    // A closed organization needs no owner.
    await call("PATCH", `/organizations/${id}`, { closed: true });
    const last = rows[0]?.user_id as string;
    expect((await call("PATCH", `/users/${last}`, { closed: true })).status).toBe(200);
  });

  test("does not count an owner whose account is closed", async () => {
    const [owner, other] = [await create.user(), await create.user()];
    const id = await create.organization(owner);
    await create.member(id, other, "owner");
    expect((await call("PATCH", `/users/${other}`, { closed: true })).status).toBe(200);
    expect((await call("DELETE", `/organizations/${id}/members/${owner}`)).status).toBe(409);
  });

  test.each<[string, (ids: { org: string; user: string }) => [string, string, unknown], number]>([
    [
      "an unknown user as a member",
      ({ org }) => ["PUT", `/organizations/${org}/members/user_none`, { role: "member" }],
      400,
    ],
    [
      "an organization as a member",
      ({ org }) => ["PUT", `/organizations/${org}/members/${org}`, { role: "member" }],
      400,
    ],
    [
      "the operator as a member",
      ({ org }) => ["PUT", `/organizations/${org}/members/acct_default`, { role: "member" }],
      400,
    ],
    [
      "an unknown role",
      ({ org, user }) => ["PUT", `/organizations/${org}/members/${user}`, { role: "root" }],
      400,
    ],
    ["no role", ({ org, user }) => ["PUT", `/organizations/${org}/members/${user}`, {}], 400],
    [
      "members of a user",
      ({ user }) => ["PUT", `/organizations/${user}/members/${user}`, { role: "member" }],
      404,
    ],
    [
      "the members of an unknown organization",
      () => ["GET", "/organizations/org_none/members", undefined],
      404,
    ],
    [
      "the removal of a user who is not a member",
      ({ org, user }) => ["DELETE", `/organizations/${org}/members/${user}`, undefined],
      404,
    ],
    ["a user as an organization", ({ user }) => ["GET", `/organizations/${user}`, undefined], 404],
    ["an organization as a user", ({ org }) => ["PATCH", `/users/${org}`, { name: "x" }], 404],
    ["an unknown owner", () => ["POST", "/organizations", { name: "x", owner: "user_none" }], 400],
  ])("rejects %s", async (_name, make, status) => {
    const ids = { org: await create.organization(), user: await create.user() };
    const [method, path, body] = make(ids);
    expect((await call(method, path, body)).status).toBe(status);
  });
});

describe("an API key of an account", () => {
  test("belongs to a member or to no user in an organization, and to the user in a user's account", async () => {
    const [owner, stranger] = [await create.user(), await create.user()];
    const id = await create.organization(owner);
    const make = (body: object) => call("POST", "/keys", { name: "k", ...body });
    expect((await make({ account_id: id, user_id: owner })).data.user_id).toBe(owner);
    expect((await make({ account_id: id })).data.user_id).toBeNull();
    expectError(await make({ account_id: id, user_id: stranger }), 400, "invalid_request", /user_id/);
    expect((await make({ account_id: stranger })).data.user_id).toBe(stranger);
    expectError(await make({ account_id: stranger, user_id: owner }), 400, "invalid_request", /user_id/);
    await call("PATCH", `/organizations/${id}`, { closed: true });
    expectError(await make({ account_id: id }), 400, "invalid_request", /account_id/);
  });

  test("can change its name, spending limit, models and expiry time until it is revoked", async () => {
    const account_id = await create.user();
    const made = await call("POST", "/keys", {
      name: "k",
      account_id,
      spend_limit: 1,
      models: ["meta-llama/*"],
    });
    const path = `/keys/${made.data.id}`;
    const expires_at = new Date(clock.now() + 1_000).toISOString();
    const changed = await call("PATCH", path, { name: "K", spend_limit: 0.1, expires_at });
    expect(changed.data).toEqual({ ...made.data, name: "K", spend_limit: 0.1, expires_at });
    const freed = await call("PATCH", path, { spend_limit: null, models: null, expires_at: null });
    expect(freed.data).toEqual({ ...made.data, name: "K", spend_limit: null, models: null });
    expectError(await call("PATCH", path, { hint: "x" }), 400, "invalid_request", /hint/);
    expectError(
      await call("PATCH", path, { expires_at: "2001-01-01T00:00:00Z" }),
      400,
      "invalid_request",
      /ex/,
    );
    await call("DELETE", path);
    expectError(await call("PATCH", path, { name: "x" }), 409, "conflict", /revoked/);
    expect((await call("PATCH", "/keys/key_none", { name: "x" })).status).toBe(404);
  });
});

describe("a POST with an Idempotency-Key", () => {
  const post = (name: string, body: unknown, key = gateway.adminKey, path = "/users") =>
    callAdmin(gateway, key, "POST", path, body, { "idempotency-key": name });
  const countUsers = async () => (await call("GET", "/users?limit=100")).rows.length;

  test("is executed once and answered the same for a day", async () => {
    const before = await countUsers();
    const first = await post("make-1", { name: "Once" });
    const again = await post("make-1", { name: "Once" });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expect(await countUsers()).toBe(before + 1);
    clock.leap(24 * 3_600_000 + 1);
    const later = await post("make-1", { name: "Once" });
    expect(later.data.id).not.toBe(first.data.id);
  });

  test("is rejected with another body, or while the first request is running", async () => {
    await post("make-2", { name: "Two" });
    expectError(await post("make-2", { name: "Three" }), 409, "conflict", /another request/);
    expectError(
      await post("make-2", { name: "Two" }, gateway.adminKey, "/organizations"),
      409,
      "conflict",
      /./,
    );
    const before = await countUsers();
    const many = await Promise.all(Array.from({ length: 8 }, () => post("make-3", { name: "Many" })));
    expect(await countUsers()).toBe(before + 1);
    const made = many.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map(({ data }) => data.id)).size).toBe(1);
    for (const { status } of many) expect([201, 409]).toContain(status);
  });

  test("can be repeated after it was rejected", async () => {
    const user = await create.user();
    const body = { name: "Later", owner: user };
    await call("PATCH", `/users/${user}`, { closed: true });
    expect((await post("make-4", body, gateway.adminKey, "/organizations")).status).toBe(400);
    await call("PATCH", `/users/${user}`, { closed: false });
    expect((await post("make-4", body, gateway.adminKey, "/organizations")).status).toBe(201);
  });

  test("is independent of requests with another API key", async () => {
    const another = (await call("POST", "/keys", { name: "m", kind: "management" })).body["key"] as string;
    const first = await post("make-5", { name: "Five" });
    const second = await post("make-5", { name: "Five" }, another);
    expect([second.status, second.data.id === first.data.id]).toEqual([201, false]);
  });

  test("that creates a key is not replayed, because secrets are never stored", async () => {
    const first = await post("key-1", { name: "k" }, gateway.adminKey, "/keys");
    expect(first.status).toBe(201);
    const again = await post("key-1", { name: "k" }, gateway.adminKey, "/keys");
    expectError(again, 409, "conflict", /secret/);
    const rows = ON_POSTGRES
      ? await queryTables(gateway.dataDir, "SELECT * FROM stored_responses")
      : await queryTables(gateway.dataDir, "SELECT * FROM kept_answers");
    expect(JSON.stringify(rows)).not.toContain(first.body["key"] as string);
  });

  test.each(["", "x".repeat(256), "two words"])("is rejected with the invalid key %p", async (name) => {
    expectError(await post(name, { name: "x" }), 400, "invalid_request", /Idempotency-Key/);
  });
});

describe("the audit log", () => {
  const list = (query = "") => call("GET", `/audit?limit=100${query}`);

  test("records the caller, action and changes without secrets", async () => {
    const owner = await create.user();
    const organization = await create.organization(owner);
    const secret = await create.key(organization, { kind: "management", user_id: owner });
    const made = await callAdmin(gateway, secret, "POST", "/keys", { name: "k", spend_limit: 2 });
    await callAdmin(gateway, secret, "PATCH", `/organizations/${organization}`, { monthly_limit: 5 });
    await callAdmin(gateway, secret, "DELETE", `/keys/${made.data.id}`);
    const refused = await callAdmin(gateway, secret, "PATCH", `/organizations/${organization}`, { name: 5 });
    expect(refused.status).toBe(400);
    const { rows } = await list(`&account_id=${organization}`);
    const by = { user_id: owner, account_id: organization };
    expect(rows.map(({ action }) => action)).toEqual([
      "DELETE /api/admin/keys/:id",
      "PATCH /api/admin/organizations/:id",
      "POST /api/admin/keys",
      "POST /api/admin/keys",
      "POST /api/admin/organizations",
    ]);
    expect(rows.slice(0, 3)).toMatchObject([
      { ...by, target: made.data.id, changes: { revoked: true } },
      {
        ...by,
        target: organization,
        changes: { before: { monthly_limit: null }, after: { monthly_limit: 5 } },
      },
      { ...by, target: made.data.id, changes: { name: "k", spend_limit: 2 } },
    ] as never);
    expect(rows[0]).toMatchObject({
      at: new Date(clock.now()).toISOString(),
      request_id: expect.stringMatching(/^req_/),
      key_id: expect.stringMatching(/^key_/),
    } as never);
    expect(rows[4]).toMatchObject({ key_id: "key_operator", user_id: null } as never);
    expect(JSON.stringify(rows)).not.toMatch(/gw_\w{20}/);
  });

  test("has the former values of changed fields, those within a policy too", async () => {
    const owner = await create.user();
    const organization = await create.organization(owner, { name: "Before" });
    const policy = { zero_retention: true, denied_models: [] };
    await call("PATCH", `/organizations/${organization}`, { name: "After", policy });
    const made = await call("POST", "/budgets", { account_id: organization, limit: 5 });
    await call("PATCH", `/budgets/${made.data.id}`, { limit: 7, warn_at: 0.5 });
    await call("PUT", `/organizations/${organization}/members/${owner}`, { role: "owner", daily_limit: 3 });
    await call("PATCH", `/organizations/${organization}`, { closed: true });
    const { rows } = await list(`&account_id=${organization}`);
    const patched = rows.filter(({ action }) => /^(PATCH|PUT) /.test(String(action)));
    expect(patched.map(({ changes }) => changes)).toEqual([
      { before: { closed: false }, after: { closed: true } },
      { before: { role: "owner", daily_limit: null }, after: { role: "owner", daily_limit: 3 } },
      { before: { limit: 5, warn_at: 0.8 }, after: { limit: 7, warn_at: 0.5 } },
      {
        before: { name: "Before", policy: { zero_retention: false, denied_models: [] } },
        after: { name: "After", policy },
      },
    ]);
  });

  test("is filtered by time, actor, actions and target", async () => {
    const owner = await create.user();
    const organization = await create.organization(owner);
    const secret = await create.key(organization, { kind: "management", user_id: owner });
    const { data } = await callAdmin(gateway, secret, "POST", "/keys", { name: "filtered" });
    clock.advance(60_000);
    const later = new Date(clock.now()).toISOString();
    await callAdmin(gateway, secret, "PATCH", `/keys/${data.id}`, { name: "renamed" });
    const actions = async (query: string) =>
      (await list(`&account_id=${organization}&${query}`)).rows.map(({ action }) => action);
    expect(await actions(`actor=${owner}`)).toEqual(["PATCH /api/admin/keys/:id", "POST /api/admin/keys"]);
    expect(await actions(`actor=${owner}&from=${later}`)).toEqual(["PATCH /api/admin/keys/:id"]);
    expect(await actions(`target=${data.id}&to=${later}`)).toEqual(["POST /api/admin/keys"]);
    expect(await actions("actor=command")).toEqual([]);
    const both = encodeURIComponent("PATCH /api/admin/keys/:id,POST /api/admin/organizations");
    expect(await actions(`action=${both}`)).toEqual([
      "PATCH /api/admin/keys/:id",
      "POST /api/admin/organizations",
    ]);
    const many = Array.from({ length: 17 }, (_, i) => `a${i}`).join(",");
    for (const query of [`action=${many}`, `from=${later}&to=${later}`]) {
      const { status, body } = await call("GET", `/audit?${query}`);
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(query.split("=")[0]!)]);
    }
  });

  test("is returned in pages, and contains a repeated request once", async () => {
    const body = { name: "Repeated" };
    const headers = { "idempotency-key": "audit-1" };
    const { data } = await call("POST", "/users", body, headers);
    await call("POST", "/users", body, headers);
    await call("PATCH", `/users/${data.id}`, { name: "Renamed" });
    const query = `&account_id=${data.id}`;
    const page = await call("GET", `/audit?limit=1${query}`);
    expect(page.rows.map(({ action }) => action)).toEqual(["PATCH /api/admin/users/:id"]);
    const rest = await call("GET", `/audit?limit=1&after=${page.body["next"]}${query}`);
    expect(rest.rows.map(({ action }) => action)).toEqual(["POST /api/admin/users"]);
    expect(rest.body["next"]).toBeNull();
  });

  // The trigger of PostgreSQL is tested with its store.
  test.skipIf(ON_POSTGRES)(
    "is valid until its table is modified directly, and then names the first broken entry",
    async () => {
      const verify = async () => (await call("GET", "/audit/verify")).data;
      await create.user();
      const whole = await verify();
      const { rows } = await list();
      expect(whole).toMatchObject({ holds: true, broken_at: null, last_hash: rows[0]?.["hash"] } as never);
      const database = openGatewayDatabase(gateway.dataDir);
      expect(() => database.exec("UPDATE audit_log SET action = 'x'")).toThrow("never changed");
      expect(() => database.exec("DELETE FROM audit_log")).toThrow("never taken back");
      database.exec("DROP TRIGGER audit_log_stays; UPDATE audit_log SET changes = '{}' WHERE place = 3");
      expect(await verify()).toMatchObject({ holds: false, broken_at: 3, entries: 2 } as never);
      database.close();
    },
  );
});
