import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  // High enough not to affect these tests.
  gateway = await startTestGateway({ yaml: "limits: { anonymous_requests_per_hour: 10000 }" });
});
afterAll(() => gateway.stop());

type Headers = Record<string, string>;

function chat(headers: Headers, model = "sandbox/echo"): Promise<Response> {
  return fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }] }),
  });
}

function admin(path: string, init: RequestInit = {}, key = gateway.adminKey): Promise<Response> {
  return fetch(`${gateway.url}/api/admin${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });
}

function create(body: unknown): Promise<Response> {
  return admin("/keys", { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
}

interface KeyAnswer {
  readonly key: string;
  readonly data: Record<string, unknown> & { id: string };
}

async function createKey(body: unknown): Promise<KeyAnswer> {
  const response = await create(body);
  expect(response.status).toBe(201);
  return (await response.json()) as KeyAnswer;
}

async function listKeyIds(): Promise<readonly string[]> {
  const { data } = (await (await admin("/keys")).json()) as { data: readonly { id: string }[] };
  return data.map(({ id }) => id);
}

async function expectError(response: Response, status: number, type: string): Promise<string> {
  const { error } = (await response.json()) as { error: { type: string; code: number; message: string } };
  expect([response.status, error.type, error.code]).toEqual([status, type, status]);
  expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  return error.message;
}

/** A well-formed key that does not exist. */
const UNKNOWN = "gw_0000000000000000000000000000000000000000000000000";

describe("an API key", () => {
  test.each<[string, (key: string) => Headers]>([
    ["Bearer", (key) => ({ authorization: `Bearer ${key}` })],
    ["bearer", (key) => ({ authorization: `bearer ${key}` })],
    ["BEARER", (key) => ({ authorization: `BEARER ${key}` })],
    ["Bearer with several spaces", (key) => ({ authorization: `Bearer   ${key}  ` })],
    ["x-api-key alone", (key) => ({ "x-api-key": key })],
    ["X-API-Key in capitals", (key) => ({ "X-API-Key": ` ${key} ` })],
    ["both", (key) => ({ authorization: `Bearer ${key}`, "x-api-key": key })],
    [
      "both headers, with an invalid x-api-key",
      (key) => ({ authorization: `Bearer ${key}`, "x-api-key": "x" }),
    ],
    ["x-api-key next to an empty Authorization", (key) => ({ authorization: "", "x-api-key": key })],
    [
      "x-api-key next to Bearer anonymous",
      (key) => ({ authorization: "Bearer anonymous", "x-api-key": key }),
    ],
  ])("is read from %s", async (_name, headers) => {
    expect((await chat(headers(gateway.key))).status).toBe(200);
  });

  test.each<[string, Headers]>([
    ["no headers", {}],
    ["an empty Authorization", { authorization: "" }],
    ["Bearer and nothing", { authorization: "Bearer" }],
    ["Bearer and spaces", { authorization: "Bearer   " }],
    ["an empty x-api-key", { "x-api-key": "" }],
    ["anonymous", { authorization: "Bearer anonymous" }],
    ["Anonymous", { authorization: "bearer Anonymous" }],
    ["anonymous as x-api-key", { "x-api-key": "anonymous" }],
    ["anonymous twice", { authorization: "Bearer anonymous", "x-api-key": "anonymous" }],
  ])(
    "is absent with %s, so that free models answer and others are rejected with 401",
    async (_name, headers) => {
      expect((await chat(headers, "sandbox/echo:free")).status).toBe(200);
      const message = await expectError(await chat(headers), 401, "authentication");
      expect(message).toContain("API key");
    },
  );

  test.each<[string, Headers]>([
    ["an invented one", { authorization: "Bearer sk-invented" }],
    ["a well-formed one that does not exist", { authorization: `Bearer ${UNKNOWN}` }],
    ["an invented x-api-key", { "x-api-key": "invented" }],
    ["Basic", { authorization: "Basic dXNlcjpwYXNz" }],
    ["no scheme", { authorization: "invented" }],
    ["a colon after Bearer", { authorization: "Bearer:x" }],
    ["two words", { authorization: "Bearer a b" }],
    ["non-ASCII letters", { authorization: "Bearer gw_ÄÖÜ" }],
    ["a very long one", { authorization: `Bearer ${"x".repeat(8_000)}` }],
  ])("that is invalid is rejected even on a free model: %s", async (_name, headers) => {
    await expectError(await chat(headers, "sandbox/echo:free"), 401, "authentication");
    await expectError(await chat(headers), 401, "authentication");
  });

  test("with one changed letter is rejected", async () => {
    const last = gateway.key.at(-1) === "A" ? "B" : "A";
    const changed = gateway.key.slice(0, -1) + last;
    await expectError(await chat({ authorization: `Bearer ${changed}` }), 401, "authentication");
  });

  test("that is invalid does not affect public lists", async () => {
    for (const authorization of ["Bearer wrong", "Basic x", "nonsense", `Bearer ${gateway.adminKey}`]) {
      for (const path of ["", "/models", "/models?all=true", "/models/sandbox/echo", "/providers"]) {
        const response = await fetch(gateway.base + path, { headers: { authorization } });
        expect([path, response.status]).toEqual([path, 200]);
      }
    }
  });

  test("never occurs in a response", async () => {
    const response = await chat({ authorization: "Bearer sk-secret-secret" });
    expect(await response.text()).not.toContain("sk-secret-secret");
  });
});

describe("the two kinds of key", () => {
  test("a management key cannot make generations, whether it is the operator's or a created one", async () => {
    const { key } = await createKey({ name: "m", kind: "management" });
    for (const secret of [gateway.adminKey, key]) {
      for (const model of ["sandbox/echo", "sandbox/echo:free"]) {
        const response = await chat({ authorization: `Bearer ${secret}` }, model);
        expect(await expectError(response, 403, "permission_denied")).toContain("inference key");
      }
    }
    expect((await admin("/keys", {}, key)).status).toBe(200);
  });

  test("an inference key, an invalid key or no key cannot call the management API", async () => {
    for (const [path, method] of [
      ["/keys", "GET"],
      ["/keys", "POST"],
      ["/keys/key_1", "DELETE"],
    ] as const) {
      await expectError(await admin(path, { method }, gateway.key), 403, "permission_denied");
      await expectError(await admin(path, { method }, "anonymous"), 401, "authentication");
      await expectError(await admin(path, { method }, "wrong"), 401, "authentication");
      const bare = await fetch(`${gateway.url}/api/admin${path}`, { method });
      await expectError(bare, 401, "authentication");
    }
  });
});

/** Starts a gateway whose clock is `time`. */
function startAt(time: { now: number }): Promise<TestGateway> {
  const never = () => ({ cancel: () => {} });
  return startTestGateway({
    clock: { now: () => time.now, precise: () => time.now, after: never, every: never },
  });
}

/** Calls a gateway's management API, with POST if there is a body. */
function manage(to: TestGateway, path: string, body?: unknown): Promise<Response> {
  return fetch(`${to.url}/api/admin${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": to.adminKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

describe("managing keys", () => {
  test("the creation of a key returns 201 with the secret, which no list contains later", async () => {
    const { key, data } = await createKey({ name: " laptop " });
    expect(key).toMatch(/^gw_[A-Za-z0-9]{46,}$/);
    expect(data).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]+$/),
      name: "laptop",
      kind: "inference",
      hint: `${key.slice(0, 7)}…${key.slice(-4)}`,
      account_id: expect.any(String),
      user_id: null,
      team_id: null,
      spend_limit: null,
      spend_limit_period: "total",
      cache: null,
      models: null,
      rate_limit: { requests_per_minute: null, tokens_per_minute: null, concurrent: null },
      rate_limit_set_by: null,
      prompt_log: null,
      tags: null,
      rotated_at: null,
      previous_hint: null,
      previous_until: null,
      previous_used_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    });
    const hash = new Bun.CryptoHasher("sha256").update(key).digest("hex");
    const list = await (await admin("/keys")).text();
    expect(list).toContain(data.id);
    for (const secret of [key, hash, "hash"]) expect(list).not.toContain(secret);
    expect((await chat({ authorization: `Bearer ${key}` })).status).toBe(200);
  });

  test("the list of keys is sorted from newest to oldest", async () => {
    const time = { now: Date.parse("2030-01-01T00:00:00Z") };
    const own = await startAt(time);
    const made: KeyAnswer[] = [];
    for (const body of [{ name: "one" }, { name: "two", kind: "management" }, { name: "three" }]) {
      time.now += 1;
      made.push((await (await manage(own, "/keys", body)).json()) as KeyAnswer);
    }
    const { data } = (await (await manage(own, "/keys")).json()) as { data: unknown[] };
    expect(data.slice(0, 3)).toEqual(
      made.toReversed().map((answer) => ({
        ...answer.data,
        ...{ account_name: "default", user_name: null, team_name: null },
      })),
    );
    expect(made.map((answer) => answer.data["kind"])).toEqual(["inference", "management", "inference"]);
    await own.stop();
  });

  test("a revoked key is rejected at once and stays in the list", async () => {
    const { key, data } = await createKey({ name: "gone" });
    const headers = { authorization: `Bearer ${key}` };
    expect((await chat(headers)).status).toBe(200);
    const revoked = await admin(`/keys/${data.id}`, { method: "DELETE" });
    expect(revoked.status).toBe(200);
    const { data: told } = (await revoked.json()) as KeyAnswer;
    expect(told["revoked_at"]).toBeString();
    await expectError(await chat(headers), 401, "authentication");
    await expectError(await chat(headers, "sandbox/echo:free"), 401, "authentication");
    const again = (await (await admin(`/keys/${data.id}`, { method: "DELETE" })).json()) as KeyAnswer;
    expect(again.data["revoked_at"]).toBe(told["revoked_at"] as string);
    expect(await (await admin("/keys")).text()).toContain(data.id);
  });

  test("revoking an unknown key returns 404", async () => {
    await expectError(await admin("/keys/key_none", { method: "DELETE" }), 404, "not_found");
  });

  test("a key has its expires_at in UTC and is rejected from that time on", async () => {
    const time = { now: Date.parse("2030-01-01T00:00:00Z") };
    const own = await startAt(time);
    const made = await manage(own, "/keys", { name: "short", expires_at: "2030-01-01T02:00:00+01:00" });
    expect(made.status).toBe(201);
    const { key, data } = (await made.json()) as KeyAnswer;
    expect(data["expires_at"]).toBe("2030-01-01T01:00:00.000Z");
    const statusNow = async () =>
      (
        await fetch(`${own.base}/chat/completions`, {
          method: "POST",
          headers: { "x-api-key": key },
          body: Buffer.from(
            JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "x" }] }),
          ),
        })
      ).status;
    expect(await statusNow()).toBe(200);
    time.now += 3_599_999;
    expect(await statusNow()).toBe(200);
    time.now += 1;
    expect(await statusNow()).toBe(401);
    await own.stop();
  });

  test.each<[string, unknown, RegExp]>([
    ["no name", {}, /name/],
    ["a blank name", { name: "  " }, /name/],
    ["a long name", { name: "x".repeat(201) }, /name/],
    ["a name of the wrong type", { name: 5 }, /name/],
    ["an unknown kind", { name: "x", kind: "root" }, /kind/],
    ["an unknown field", { name: "x", budget: 5 }, /budget/],
    ["a spending limit below zero", { name: "x", spend_limit: -1 }, /spend_limit/],
    ["a spending limit finer than a nanodollar", { name: "x", spend_limit: 1e-10 }, /spend_limit/],
    [
      "a spending limit of a management key",
      { name: "x", kind: "management", spend_limit: 1 },
      /spend_limit/,
    ],
    ["models of a management key", { name: "x", kind: "management", models: ["a"] }, /models/],
    ["an empty pattern", { name: "x", models: [""] }, /models/],
    ["an unknown account", { name: "x", account_id: "user_none" }, /account_id/],
    ["an unknown user", { name: "x", user_id: "user_none" }, /user_id/],
    ["a misspelt field", { name: "x", expiresAt: "2040-01-01T00:00:00Z" }, /expiresAt/],
    ["an invalid time", { name: "x", expires_at: "tomorrow" }, /expires_at/],
    ["a time as a number", { name: "x", expires_at: 1_900_000_000 }, /expires_at/],
    ["a time in the past", { name: "x", expires_at: "2020-01-01T00:00:00Z" }, /expires_at/],
    ["an array", [], /object/],
    ["null", "null", /object/],
    ["invalid JSON", "{name: x}", /JSON/],
    ["an empty body", "", /name/],
  ])("a new key with %s is rejected, and the error names the field", async (_name, body, message) => {
    const before = await listKeyIds();
    expect(await expectError(await create(body), 400, "invalid_request")).toMatch(message);
    expect(await listKeyIds()).toEqual(before);
  });
});
