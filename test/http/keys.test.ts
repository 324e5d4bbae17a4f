import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  // Nobody here is to meet the limit.
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

async function expectError(response: Response, status: number, type: string): Promise<string> {
  const { error } = (await response.json()) as { error: { type: string; code: number; message: string } };
  expect([response.status, error.type, error.code]).toEqual([status, type, status]);
  expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  return error.message;
}

/** A key that looks right and is in no store. */
const UNKNOWN = "gw_0000000000000000000000000000000000000000000000000";

describe("a key", () => {
  test.each<[string, (key: string) => Headers]>([
    ["Bearer", (key) => ({ authorization: `Bearer ${key}` })],
    ["bearer", (key) => ({ authorization: `bearer ${key}` })],
    ["BEARER", (key) => ({ authorization: `BEARER ${key}` })],
    ["several spaces", (key) => ({ authorization: `Bearer   ${key}  ` })],
    ["x-api-key alone", (key) => ({ "x-api-key": key })],
    ["X-API-Key in capitals", (key) => ({ "X-API-Key": ` ${key} ` })],
    ["both", (key) => ({ authorization: `Bearer ${key}`, "x-api-key": key })],
    ["both, x-api-key being nonsense", (key) => ({ authorization: `Bearer ${key}`, "x-api-key": "x" })],
    ["an empty Authorization beside it", (key) => ({ authorization: "", "x-api-key": key })],
    ["anonymous beside it", (key) => ({ authorization: "Bearer anonymous", "x-api-key": key })],
  ])("is taken from %s", async (_name, headers) => {
    expect((await chat(headers(gateway.key))).status).toBe(200);
  });

  test.each<[string, Headers]>([
    ["nothing", {}],
    ["an empty Authorization", { authorization: "" }],
    ["Bearer and nothing", { authorization: "Bearer" }],
    ["Bearer and spaces", { authorization: "Bearer   " }],
    ["an empty x-api-key", { "x-api-key": "" }],
    ["anonymous", { authorization: "Bearer anonymous" }],
    ["Anonymous", { authorization: "bearer Anonymous" }],
    ["anonymous as x-api-key", { "x-api-key": "anonymous" }],
    ["anonymous twice", { authorization: "Bearer anonymous", "x-api-key": "anonymous" }],
  ])("is none with %s: free models answer, others ask for one", async (_name, headers) => {
    expect((await chat(headers, "sandbox/echo:free")).status).toBe(200);
    const message = await expectError(await chat(headers), 401, "authentication");
    expect(message).toContain("API key");
  });

  test.each<[string, Headers]>([
    ["an invented one", { authorization: "Bearer sk-invented" }],
    ["one that was never made", { authorization: `Bearer ${UNKNOWN}` }],
    ["an invented x-api-key", { "x-api-key": "invented" }],
    ["Basic", { authorization: "Basic dXNlcjpwYXNz" }],
    ["no scheme", { authorization: "invented" }],
    ["Bearer glued to it", { authorization: "Bearer:x" }],
    ["two words", { authorization: "Bearer a b" }],
    ["other letters", { authorization: "Bearer gw_ÄÖÜ" }],
    ["a very long one", { authorization: `Bearer ${"x".repeat(8_000)}` }],
  ])("that is not valid is refused even on a free model: %s", async (_name, headers) => {
    await expectError(await chat(headers, "sandbox/echo:free"), 401, "authentication");
    await expectError(await chat(headers), 401, "authentication");
  });

  test("of the right form but with a letter changed is refused", async () => {
    const last = gateway.key.at(-1) === "A" ? "B" : "A";
    const changed = gateway.key.slice(0, -1) + last;
    await expectError(await chat({ authorization: `Bearer ${changed}` }), 401, "authentication");
  });

  test("does no harm to lists, however wrong it is", async () => {
    for (const authorization of ["Bearer wrong", "Basic x", "nonsense", `Bearer ${gateway.adminKey}`]) {
      for (const path of ["", "/models", "/models?all=true", "/models/sandbox/echo", "/providers"]) {
        const response = await fetch(gateway.base + path, { headers: { authorization } });
        expect([path, response.status]).toEqual([path, 200]);
      }
    }
  });

  test("is never repeated in an answer", async () => {
    const response = await chat({ authorization: "Bearer sk-secret-secret" });
    expect(await response.text()).not.toContain("sk-secret-secret");
  });
});

describe("the two kinds of key", () => {
  test("a management key does not infer, neither the operator's nor a made one", async () => {
    const { key } = await createKey({ name: "m", kind: "management" });
    for (const secret of [gateway.adminKey, key]) {
      for (const model of ["sandbox/echo", "sandbox/echo:free"]) {
        const response = await chat({ authorization: `Bearer ${secret}` }, model);
        expect(await expectError(response, 403, "permission_denied")).toContain("inference key");
      }
    }
    expect((await admin("/keys", {}, key)).status).toBe(200);
  });

  test("an inference key does not manage, and without a key nobody does", async () => {
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

/** A gateway whose time stands where a test puts it. */
function startAt(time: { now: number }): Promise<TestGateway> {
  const never = () => ({ cancel: () => {} });
  return startTestGateway({ clock: { now: () => time.now, after: never, every: never } });
}

/** Speaks to a gateway's management API; with a body it posts. */
function manage(to: TestGateway, path: string, body?: unknown): Promise<Response> {
  return fetch(`${to.url}/api/admin${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": to.adminKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

describe("managing keys", () => {
  test("making one gives 201, the secret once, and never the hash", async () => {
    const { key, data } = await createKey({ name: " laptop " });
    expect(key).toMatch(/^gw_[A-Za-z0-9]{46,}$/);
    expect(data).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]+$/),
      name: "laptop",
      kind: "inference",
      hint: `${key.slice(0, 7)}…${key.slice(-4)}`,
      account_id: expect.any(String),
      user_id: null,
      spend_limit: null,
      models: null,
      rate_limit: { requests_per_minute: null, tokens_per_minute: null, concurrent: null },
      rate_limit_set_by: null,
      prompt_log: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      expires_at: null,
      revoked_at: null,
    });
    const hash = new Bun.CryptoHasher("sha256").update(key).digest("hex");
    const list = await (await admin("/keys")).text();
    expect(list).toContain(data.id);
    for (const secret of [key, hash, "hash"]) expect(list).not.toContain(secret);
    expect((await chat({ authorization: `Bearer ${key}` })).status).toBe(200);
  });

  test("the list has the newest first and tells keys apart", async () => {
    const time = { now: Date.parse("2030-01-01T00:00:00Z") };
    const own = await startAt(time);
    const made: KeyAnswer[] = [];
    for (const body of [{ name: "one" }, { name: "two", kind: "management" }, { name: "three" }]) {
      time.now += 1;
      made.push((await (await manage(own, "/keys", body)).json()) as KeyAnswer);
    }
    const { data } = (await (await manage(own, "/keys")).json()) as { data: unknown[] };
    expect(data.slice(0, 3)).toEqual(made.toReversed().map((answer) => answer.data));
    expect(made.map((answer) => answer.data["kind"])).toEqual(["inference", "management", "inference"]);
    await own.stop();
  });

  test("a revoked key is refused at once, and stays in the list", async () => {
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

  test("revoking what does not exist is 404", async () => {
    await expectError(await admin("/keys/key_none", { method: "DELETE" }), 404, "not_found");
  });

  test("expires_at is kept, and a key ends with it", async () => {
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
    ["an empty name", { name: "  " }, /name/],
    ["a long name", { name: "x".repeat(201) }, /name/],
    ["a name of the wrong type", { name: 5 }, /name/],
    ["an unknown kind", { name: "x", kind: "root" }, /kind/],
    ["an unknown field", { name: "x", budget: 5 }, /budget/],
    ["a spending limit below zero", { name: "x", spend_limit: -1 }, /spend_limit/],
    ["a spending limit finer than a nanodollar", { name: "x", spend_limit: 1e-10 }, /spend_limit/],
    ["a spending limit for management", { name: "x", kind: "management", spend_limit: 1 }, /spend_limit/],
    ["models for management", { name: "x", kind: "management", models: ["a"] }, /models/],
    ["an empty pattern", { name: "x", models: [""] }, /models/],
    ["an account that is none", { name: "x", account_id: "user_none" }, /account_id/],
    ["a user of nobody's account", { name: "x", user_id: "user_none" }, /user_id/],
    ["a misspelt field", { name: "x", expiresAt: "2040-01-01T00:00:00Z" }, /expiresAt/],
    ["a time of the wrong form", { name: "x", expires_at: "tomorrow" }, /expires_at/],
    ["a time as a number", { name: "x", expires_at: 1_900_000_000 }, /expires_at/],
    ["a time in the past", { name: "x", expires_at: "2020-01-01T00:00:00Z" }, /expires_at/],
    ["an array", [], /object/],
    ["null", "null", /object/],
    ["no JSON", "{name: x}", /JSON/],
    ["nothing", "", /name/],
  ])("is refused with %s, and the field is named", async (_name, body, message) => {
    const before = await (await admin("/keys")).text();
    expect(await expectError(await create(body), 400, "invalid_request")).toMatch(message);
    expect(await (await admin("/keys")).text()).toBe(before);
  });
});
