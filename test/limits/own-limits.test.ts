import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { changeKey } from "../../src/core/accounts/manage/manage-keys.ts";
import type { KeyRecord } from "../../src/core/accounts/records/records.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { documentOf, healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const AS_CONFIGURED = { requests_per_minute: null, tokens_per_minute: null, concurrent: null };

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
let create: AccountTools;

beforeAll(async () => {
  vendor = startVendor(healthy("Alpha"));
  clock = createTestClock();
  gateway = await startTestGateway({
    clock,
    yaml: `
limits:
  per_key: {requests_per_minute: 5}
  models:
    "acme/hot*": {requests_per_minute: 2}
    "*:free": {requests_per_minute: 3, tokens_per_minute: 1000}
    "acme/exempt": {}
  per_model: {requests_per_minute: 4}
providers:
  vendor:
    base_url: ${vendor.baseUrl}
    models: [{id: acme/a}, {id: acme/exempt}, {id: "acme/hot:free"}, {id: "acme/warm:free"}, {id: "acme/plain"}]`,
  });
  create = createAccountTools(gateway);
});
// Resets the limits of every model.
beforeEach(() => {
  vendor.perform(healthy("Alpha"));
  clock.leap(60_000);
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

const operator = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

/** Creates a user with an overdraft, an inference key and a management key. */
async function makeUser(more: Readonly<Record<string, unknown>> = {}) {
  const user = await create.user("Ada", { overdraft: null, ...more });
  const made = await operator("POST", "/keys", { name: "k", account_id: user });
  const management = await create.key(user, { kind: "management" });
  return {
    user,
    keyId: made.data.id,
    secret: made.body["key"] as string,
    asUser: (method: string, path: string, body?: unknown) =>
      callAdmin(gateway, management, method, path, body),
  };
}

function ask(secret: string | null, model = "acme/exempt"): Promise<Response> {
  return fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
    },
    body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "Hello!" }] }),
  });
}

/** Returns the limit of requests from the response headers; 0 for none. */
async function limitOf(secret: string): Promise<number> {
  const response = await ask(secret);
  await response.text();
  return Number(response.headers.get("x-ratelimit-limit-requests"));
}

async function rejectionOf(response: Response) {
  const { error } = (await response.json()) as { error: { metadata: Record<string, unknown> } };
  return [
    response.status,
    error.metadata["limit_source"],
    error.metadata["limit_kind"],
    error.metadata["limit"],
  ];
}

describe("a key's own limit", () => {
  test("replaces the configured limit from the next request on if the operator set it, higher or lower", async () => {
    const { keyId, secret } = await makeUser();
    expect(await limitOf(secret)).toBe(5);
    const set = (rate_limit: unknown) => operator("PATCH", `/keys/${keyId}`, { rate_limit });
    const wider = await set({ requests_per_minute: 9 });
    expect(wider.data).toMatchObject({
      rate_limit: { ...AS_CONFIGURED, requests_per_minute: 9 },
      rate_limit_set_by: "operator",
    });
    expect(await limitOf(secret)).toBe(9);
    await set({ requests_per_minute: 3 });
    expect(await limitOf(secret)).toBe(3);
    const rejected = await ask(secret);
    expect(rejected.headers.get("retry-after")).toBe("60");
    expect(await rejectionOf(rejected)).toEqual([429, "key", "requests_per_minute", 3]);
    expect((await set(null)).data).toMatchObject({ rate_limit: AS_CONFIGURED, rate_limit_set_by: null });
    expect(await limitOf(secret)).toBe(5);
  });

  test("keeps members that a change omits, and null resets a member to the configured limit", async () => {
    const { keyId, secret } = await makeUser();
    const set = (rate_limit: unknown) => operator("PATCH", `/keys/${keyId}`, { rate_limit });
    await set({ requests_per_minute: 9, tokens_per_minute: 100_000 });
    const { data } = await set({ requests_per_minute: null, concurrent: 7 });
    expect(data["rate_limit"]).toEqual({
      requests_per_minute: null,
      tokens_per_minute: 100_000,
      concurrent: 7,
    });
    expect((await operator("PATCH", `/keys/${keyId}`, { name: "K" })).data["rate_limit"]).toEqual(
      data["rate_limit"],
    );
    const listed = await operator("GET", "/keys?limit=100");
    expect(listed.rows.find(({ id }) => id === keyId)?.["rate_limit"]).toEqual(data["rate_limit"]);
    const self = await fetch(`${gateway.base}/key`, { headers: { authorization: `Bearer ${secret}` } });
    expect(await self.json()).toMatchObject({
      data: { rate_limit: { requests_per_minute: 5, tokens_per_minute: 100_000, concurrent: 7 } },
    });
  });

  test("can only tighten the configured limit, or add one, if the account set it", async () => {
    const { keyId, secret, asUser } = await makeUser();
    const set = (rate_limit: unknown) => asUser("PATCH", `/keys/${keyId}`, { rate_limit });
    expect((await set({ requests_per_minute: 1_000 })).data["rate_limit_set_by"]).toBe("account");
    expect(await limitOf(secret)).toBe(5);
    await set({ requests_per_minute: 2 });
    expect(await rejectionOf(await ask(secret).then(() => ask(secret)))).toEqual([
      429,
      "key",
      "requests_per_minute",
      2,
    ]);
    clock.leap(60_000);
    await set({ tokens_per_minute: 30 });
    const answer = await ask(secret);
    expect([answer.status, answer.headers.get("x-ratelimit-limit-tokens")]).toEqual([200, "30"]);
    clock.leap(60_000);
    await set({ tokens_per_minute: null, requests_per_minute: null, concurrent: 1 });
    vendor.perform(async (call) => {
      await call.gate();
      await call.respond(200, documentOf("late"));
    });
    const waiting = ask(secret);
    const call = await vendor.call(0);
    await call.atGate;
    expect(await rejectionOf(await ask(secret))).toEqual([429, "key", "concurrent", 1]);
    call.openGate();
    expect((await waiting).status).toBe(200);
  });

  test("replaces the account's limit entirely if the operator set it, and then only the operator can change it", async () => {
    const { keyId, secret, asUser } = await makeUser();
    await asUser("PATCH", `/keys/${keyId}`, {
      rate_limit: { requests_per_minute: 1_000, tokens_per_minute: 10 },
    });
    const taken = await operator("PATCH", `/keys/${keyId}`, { rate_limit: { concurrent: 3 } });
    expect(taken.data["rate_limit"]).toEqual({ ...AS_CONFIGURED, concurrent: 3 });
    expect(await limitOf(secret)).toBe(5);
    for (const rate_limit of [null, {}, { concurrent: 1 }, { requests_per_minute: 1 }])
      expect((await asUser("PATCH", `/keys/${keyId}`, { rate_limit })).status).toBe(403);
    expect((await asUser("PATCH", `/keys/${keyId}`, { name: "K" })).data["rate_limit"]).toEqual(
      taken.data["rate_limit"],
    );
    await operator("PATCH", `/keys/${keyId}`, { rate_limit: null });
    expect((await asUser("PATCH", `/keys/${keyId}`, { rate_limit: { concurrent: 1 } })).status).toBe(200);
  });

  test("can be set when the key is created", async () => {
    const { user, asUser } = await makeUser();
    const rate_limit = { requests_per_minute: 1 };
    for (const [call, setBy] of [
      [operator, "operator"],
      [asUser, "account"],
    ] as const) {
      const made = await call("POST", "/keys", { name: "k", account_id: user, rate_limit });
      expect(made.data).toMatchObject({
        rate_limit: { ...AS_CONFIGURED, ...rate_limit },
        rate_limit_set_by: setBy,
      });
      expect(await limitOf(made.body["key"] as string)).toBe(1);
    }
  });

  test("applies within a second if another process set it", async () => {
    const { keyId, secret } = await makeUser();
    expect(await limitOf(secret)).toBe(5);
    const stores = await openTestStores(gateway.dataDir);
    const key = (await stores.keys.findKey(keyId)) as KeyRecord;
    const known = () => {
      throw new Error("no model is named");
    };
    const change = { rateLimit: { setBy: "operator", limit: { requestsPerMinute: 900 } } } as const;
    await changeKey(stores, known, { key, change });
    await stores.close();
    clock.advance(1_000);
    await eventually("the other limit", async () => (await limitOf(secret)) === 900);
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ["if it is zero", { rate_limit: { requests_per_minute: 0 } }],
    ["if it is a fraction", { rate_limit: { concurrent: 0.5 } }],
    ["if it is text", { rate_limit: { tokens_per_minute: "10" } }],
    ["if it has an unknown member", { rate_limit: { requests_per_hour: 5 } }],
    ["for a management key", { kind: "management", rate_limit: { concurrent: 1 } }],
  ])("is rejected %s, with the name of the field", async (_what, body) => {
    const answer = await operator("POST", "/keys", { name: "k", ...body });
    expect(answer.status).toBe(400);
    expect(answer.body["error"]).toMatchObject({
      message: expect.stringContaining("rate_limit"),
      metadata: { field: expect.stringContaining("rate_limit") },
    });
  });
});

describe("an account's own limit", () => {
  test("is shared by all its keys, and only the operator can set it", async () => {
    const { user, secret, asUser } = await makeUser({ rate_limit: { requests_per_minute: 2 } });
    const second = await create.key(user);
    expect((await ask(secret)).status).toBe(200);
    expect((await ask(second)).status).toBe(200);
    expect(await rejectionOf(await ask(second))).toEqual([429, "account", "requests_per_minute", 2]);
    for (const rate_limit of [null, {}, { requests_per_minute: 1 }])
      expect((await asUser("PATCH", `/users/${user}`, { rate_limit })).status).toBe(403);
    expect((await asUser("GET", `/users/${user}`)).data["rate_limit"]).toMatchObject({
      requests_per_minute: 2,
    });
    const freed = await operator("PATCH", `/users/${user}`, { rate_limit: { requests_per_minute: null } });
    expect(freed.data["rate_limit"]).toEqual(AS_CONFIGURED);
    expect((await ask(second)).status).toBe(200);
  });

  test("of an organization applies to requests that it pays for, and an owner cannot set it", async () => {
    const { user, secret } = await makeUser();
    const organization = await create.organization(user, {
      overdraft: null,
      rate_limit: { concurrent: 4, requests_per_minute: 1 },
    });
    const path = `/organizations/${organization}`;
    expect((await operator("GET", path)).data["rate_limit"]).toMatchObject({ concurrent: 4 });
    const owner = await create.key(organization, { kind: "management", user_id: user });
    expect((await callAdmin(gateway, owner, "PATCH", path, { rate_limit: { concurrent: 9 } })).status).toBe(
      403,
    );
    const theirs = await create.key(organization, { user_id: user });
    expect((await ask(theirs)).status).toBe(200);
    expect(await rejectionOf(await ask(theirs))).toEqual([429, "account", "requests_per_minute", 1]);
    expect((await ask(secret)).status).toBe(200);
  });

  test("is in the audit log like a key's limit, with the key that set it", async () => {
    const { user, keyId, asUser } = await makeUser();
    const rate_limit = { requests_per_minute: 7 };
    await operator("PATCH", `/users/${user}`, { rate_limit });
    await asUser("PATCH", `/keys/${keyId}`, { rate_limit });
    const { rows } = await operator("GET", `/audit?account_id=${user}&limit=2`);
    const changes = { before: { rate_limit: { requests_per_minute: null } }, after: { rate_limit } };
    expect(rows.map(({ action, target, user_id, changes }) => [action, target, user_id, changes])).toEqual([
      ["PATCH /api/admin/keys/:id", keyId, user, changes],
      ["PATCH /api/admin/users/:id", user, null, changes],
    ] as never);
  });
});

describe("rate limits by pattern of the model", () => {
  const askTimes = async (times: number, model: string, secret: string | null) => {
    for (let i = 0; i < times; i++) expect((await ask(secret, model)).status).toBe(200);
  };

  test("apply to callers without a key in addition to the limit of their address, and separately to each model", async () => {
    const first = await ask(null, "acme/warm:free");
    expect([first.status, first.headers.get("x-ratelimit-limit-requests")]).toEqual([200, "3"]);
    expect(first.headers.get("x-ratelimit-limit-tokens")).toBe("1000");
    await askTimes(2, "acme/warm:free", null);
    const rejected = await ask(null, "acme/warm:free");
    expect(rejected.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(await rejectionOf(rejected)).toEqual([429, "gateway", "requests_per_minute", 3]);
    await askTimes(2, "acme/hot:free", null);
    expect(await rejectionOf(await ask(null, "acme/hot:free"))).toEqual([
      429,
      "gateway",
      "requests_per_minute",
      2,
    ]);
    clock.leap(60_000);
    await askTimes(1, "acme/warm:free", null);
  });

  test("are shared by callers with and without a key; the first matching pattern applies, else the limit of every model", async () => {
    const { secret } = await makeUser();
    await askTimes(1, "acme/hot:free", null);
    await askTimes(1, "acme/hot:free", secret);
    expect(await rejectionOf(await ask(secret, "acme/hot:free"))).toEqual([
      429,
      "gateway",
      "requests_per_minute",
      2,
    ]);
    await askTimes(4, "acme/plain", secret);
    expect(await rejectionOf(await ask((await makeUser()).secret, "acme/plain"))).toEqual([
      429,
      "gateway",
      "requests_per_minute",
      4,
    ]);
  });

  test("without a number exempt a model", async () => {
    for (let i = 0; i < 2; i++) await askTimes(5, "acme/exempt", (await makeUser()).secret);
  });

  test("do not count a request that they reject for the limit of its address", async () => {
    const remaining = async (model: string) => {
      const response = await ask(null, model);
      await response.text();
      return Number(response.headers.get("x-ratelimit-remaining-requests"));
    };
    await askTimes(2, "acme/hot:free", null);
    // An unknown model is rejected before anything is counted; the response has the status of the address's limit.
    const before = await remaining("acme/unknown:free");
    for (let i = 0; i < 5; i++) expect((await ask(null, "acme/hot:free")).status).toBe(429);
    expect(await remaining("acme/unknown:free")).toBe(before);
    await askTimes(1, "acme/warm:free", null);
    expect(await remaining("acme/unknown:free")).toBe(before - 1);
  });
});

describe("a request to count tokens", () => {
  const count = (secret: string | null, model = "acme/warm:free") =>
    fetch(`${gateway.base}/messages/count_tokens`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(secret === null ? {} : { "x-api-key": secret }),
      },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "How many are these?" }] }),
    });

  test("counts as a request of its key, without tokens, and its response has the status of the limits", async () => {
    const { keyId, secret } = await makeUser();
    await operator("PATCH", `/keys/${keyId}`, {
      rate_limit: { requests_per_minute: 2, tokens_per_minute: 50 },
    });
    for (const remaining of ["1", "0"]) {
      const { status, headers } = await count(secret);
      expect([
        status,
        headers.get("x-ratelimit-remaining-requests"),
        headers.get("x-ratelimit-remaining-tokens"),
      ]).toEqual([200, remaining, "50"]);
    }
    const rejected = await count(secret);
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "60"]);
    expect(await rejected.json()).toMatchObject({
      type: "error",
      error: { type: "rate_limit_error", metadata: { limit_source: "key" } },
    });
    expect(await rejectionOf(await ask(secret))).toEqual([429, "key", "requests_per_minute", 2]);
  });

  test("counts for the account, but not if it is rejected for another reason", async () => {
    const { user, secret } = await makeUser({ rate_limit: { requests_per_minute: 1 } });
    const unknown = await count(secret, "acme/unknown");
    expect([unknown.status, unknown.headers.get("x-ratelimit-remaining-requests")]).toEqual([400, "1"]);
    expect((await count(secret)).status).toBe(200);
    expect((await count(await create.key(user))).status).toBe(429);
  });

  test("counts for an address without a key, but not for the model", async () => {
    const remaining: number[] = [];
    for (let i = 0; i < 4; i++) {
      const { status, headers } = await count(null, "acme/hot:free");
      expect(status).toBe(200);
      remaining.push(Number(headers.get("x-ratelimit-remaining-requests")));
    }
    const [first = 0] = remaining;
    expect(remaining).toEqual([first, first - 1, first - 2, first - 3]);
    expect((await ask(null, "acme/hot:free")).status).toBe(200);
  });
});
