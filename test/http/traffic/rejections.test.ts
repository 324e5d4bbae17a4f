import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../../support/gateway/management.ts";

const MESSAGES = [{ role: "user", content: "the parrot keeps the harbour key" }];
const CHAT = { model: "sandbox/echo", messages: MESSAGES };
/** A key of the right form that this gateway has never made. */
const UNKNOWN_KEY = "sk-proj-of-another-gateway";

let gateway: TestGateway;
let create: AccountTools;
let accountId: string;
let key: string;
let managing: string;

beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: "limits:\n  body_bytes: 20000\n  anonymous_requests_per_hour: 1000\n",
  });
  create = createAccountTools(gateway);
  accountId = await create.user("Ada", { overdraft: null });
  key = await create.key(accountId);
  managing = await create.key(accountId, { kind: "management" });
});
afterAll(() => gateway.stop());

/** Sends a request that is rejected, and returns what the operator reads of it. */
async function reject(body: unknown, headers: Readonly<Record<string, string>> = {}, from = gateway) {
  const response = await postChat(from, body, headers);
  const answer = (await response.json()) as { error: { message: string } };
  const id = response.headers.get("x-request-id") ?? "";
  const found = await callAdmin(from, from.adminKey, "GET", `/rejections/${id}`);
  expect(found.status).toBe(200);
  return { id, status: response.status, message: answer.error.message, found: found.data };
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

describe("a rejected request", () => {
  test("with an invalid field is found by its id, with the field, the message, the caller and what to do", async () => {
    const { id, status, message, found } = await reject(
      { ...CHAT, temperature: "hot" },
      { ...bearer(key), "user-agent": "claude-cli/2.1.329 (external, cli)" },
    );
    expect(status).toBe(400);
    expect(found).toMatchObject({
      id,
      status: 400,
      outcome: "rejected",
      error_type: "invalid_request",
      message,
      field: "temperature",
      requested_model: "sandbox/echo",
      api: "chat.completions",
      method: "POST",
      path: "/api/gateway/chat/completions",
      account_id: accountId,
      account_name: "Ada",
      user_id: accountId,
      key_name: "test",
      key_fingerprint: null,
      client: "claude-code",
      client_version: "2.1.329",
      user_agent: "claude-cli/2.1.329 (external, cli)",
      count: 1,
    });
    expect(found["advice"]).toContain("temperature");
    expect(found["address_hash"]).toMatch(/^[0-9a-f]{32}$/);
  });

  test("for a model that is not served names the model and similar ones", async () => {
    const { status, found } = await reject({ ...CHAT, model: "sandbox/echos" }, bearer(key));
    expect([status, found["error_type"], found["requested_model"]]).toEqual([
      400,
      "invalid_model",
      "sandbox/echos",
    ]);
    expect(found["message"]).toContain("sandbox/echo");
  });

  test("with an unknown key has a fingerprint, the same for the same key, and nothing of the key", async () => {
    const [first, second] = [
      await reject(CHAT, bearer(UNKNOWN_KEY)),
      await reject(CHAT, bearer(UNKNOWN_KEY)),
    ];
    const other = await reject(CHAT, bearer("sk-another"));
    expect(first.status).toBe(401);
    expect(first.found).toMatchObject({ error_type: "authentication", key_id: null, account_id: null });
    expect(first.found["key_fingerprint"]).toMatch(/^kf_[0-9a-f]{16}$/);
    expect(second.found["key_fingerprint"]).toBe(first.found["key_fingerprint"]);
    expect(other.found["key_fingerprint"]).not.toBe(first.found["key_fingerprint"]);
    expect(JSON.stringify([first.found, gateway.log])).not.toContain(UNKNOWN_KEY);
  });

  test("with a revoked key names the key and its account", async () => {
    const revoked = await create.key(accountId, { name: "old laptop" });
    const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", `/keys?account_id=${accountId}`);
    const { id } = rows.find(({ name }) => name === "old laptop") as { id: string };
    await callAdmin(gateway, gateway.adminKey, "DELETE", `/keys/${id}`);
    const { status, found } = await reject(CHAT, bearer(revoked));
    expect(status).toBe(401);
    expect(found).toMatchObject({
      key_id: id,
      key_name: "old laptop",
      account_id: accountId,
      key_fingerprint: null,
    });
    expect(found["advice"]).toContain("revoked");
  });

  test("without credits names the source of the limit", async () => {
    const poor = await create.key(await create.user("Poor", { overdraft: 0 }));
    const { status, found } = await reject(CHAT, bearer(poor));
    expect([status, found["error_type"], found["limit_source"]]).toEqual([
      402,
      "insufficient_credits",
      "account",
    ]);
  });

  test("for a model that the key may not use is a 403", async () => {
    const narrow = await create.key(accountId, { models: ["openai/*"] });
    const { status, found } = await reject(CHAT, bearer(narrow));
    expect([status, found["error_type"]]).toEqual([403, "model_not_allowed"]);
  });

  test("at a path that no API has is recorded if it has a key or a body, and not for a browser that looks around", async () => {
    const call = (method: string, path: string, headers = {}) =>
      fetch(gateway.url + path, { method, headers });
    const strayed = await call("POST", "/v1/v1/chat/completions", bearer(key));
    const wrongMethod = await call("GET", "/v1/chat/completions", bearer(key));
    const scanned = await call("GET", "/wp-login.php");
    const managed = await call("GET", "/api/admin/nothing", bearer(gateway.adminKey));
    const idOf = ({ headers }: Response) => headers.get("x-request-id") ?? "";
    const find = async (response: Response) =>
      (await callAdmin(gateway, gateway.adminKey, "GET", `/rejections/${idOf(response)}`)).body;
    expect(await find(strayed)).toMatchObject({
      data: { status: 404, path: "/v1/v1/chat/completions", api: null, account_id: accountId },
    });
    expect(await find(wrongMethod)).toMatchObject({
      data: { status: 405, error_type: "method_not_allowed" },
    });
    for (const response of [scanned, managed]) expect((await find(response))["data"]).toBeUndefined();
  });

  test("with a body over the limit is a 413", async () => {
    const { status, found } = await reject({ ...CHAT, user: "x".repeat(30_000) }, bearer(key));
    expect([status, found["error_type"], found["requested_model"]]).toEqual([413, "payload_too_large", null]);
    expect(found["advice"]).toContain("limits.body_bytes");
  });

  test("over a rate limit names the limit, its kind and its scope", async () => {
    const limited = await create.key(accountId, { rate_limit: { requests_per_minute: 1 } });
    await (await postChat(gateway, CHAT, bearer(limited))).text();
    const { status, found } = await reject(CHAT, bearer(limited));
    expect(status).toBe(429);
    expect(found).toMatchObject({ limit_source: "key", limit_kind: "requests", limit: 1 });
  });

  test("leaves a log line with the same fields", async () => {
    const { id, found } = await reject(
      { ...CHAT, temperature: "hot" },
      { ...bearer(key), "user-agent": "curl/8.14.1" },
    );
    const line = gateway.log.find(({ fields }) => fields?.["request_id"] === id);
    expect(line?.fields).toMatchObject({
      error: "invalid_request",
      message: found["message"],
      field: "temperature",
      requested_model: "sandbox/echo",
      api: "chat.completions",
      path: "/api/gateway/chat/completions",
      client: "curl",
      client_version: "8.14.1",
      account_id: accountId,
    });
  });
});
