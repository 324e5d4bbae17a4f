import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fail } from "../../../src/base/failures/errors.ts";
import { openEventStream } from "../../support/clients/read-event-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { createTestClock } from "../../support/test-clock.ts";

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
    expect(found).toMatchObject({ limit_source: "key", limit_kind: "requests_per_minute", limit: 1 });
  });

  test("that the gateway could not admit is a 503 that leads to the health of providers and gateway", async () => {
    const overloaded = await startTestGateway({
      extensions: [{ name: "overload", attach: () => fail("unavailable", "There is no memory left.") }],
    });
    const { status, found } = await reject(CHAT, {}, overloaded);
    expect([status, found["error_type"], found["requested_model"]]).toEqual([503, "unavailable", CHAT.model]);
    expect(found["advice"]).toContain("health");
    await overloaded.stop();
  });

  test("that demands zero data retention has no text of the request, its client's header or the message", async () => {
    const strict = await create.key(
      await create.user("Strict", { overdraft: null, policy: { zero_retention: true } }),
    );
    const rejected = [
      await reject({ ...CHAT, temperature: "hot" }, { ...bearer(strict), "user-agent": "secret-tool/1" }),
      await reject({ ...CHAT, temperature: "hot", provider: { zdr: true } }, bearer(key)),
      await reject({ ...CHAT, model: "no/model", provider: { zdr: true } }, bearer(key)),
    ];
    for (const { found } of rejected)
      expect(found).toMatchObject({
        status: 400,
        ...{ message: null, field: null, requested_model: null, path: null, user_agent: null },
      });
    expect(rejected[0]?.found["error_type"]).toBe("invalid_request");
    expect(JSON.stringify(gateway.log)).not.toContain("secret-tool");
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

describe("GET /api/admin/rejections", () => {
  const list = async (query = "", secret = gateway.adminKey) =>
    callAdmin(gateway, secret, "GET", `/rejections${query}`);

  test("lists rejected requests newest first, in pages and by filters", async () => {
    const { id } = await reject(
      { ...CHAT, temperature: "hot" },
      { ...bearer(key), "user-agent": "codex_exec/1.2" },
    );
    const first = await list("?limit=1");
    expect(first.rows.map((row) => row.id)).toEqual([id]);
    const next = await list(`?limit=1&after=${first.body["next"]}`);
    expect(String(next.rows[0]?.id) < id).toBe(true);
    const own = await list(`?account_id=${accountId}&status=400&client=codex&error_type=invalid_request`);
    expect(own.rows.map((row) => row.id)).toEqual([id]);
    expect((await list("?client=codex&status=401")).rows).toEqual([]);
    expect((await list("?client=no-family")).status).toBe(400);
  });

  test("shows the owner of an account only the requests of its keys", async () => {
    const strange = await create.key(await create.user("Stranger"), { kind: "management" });
    const { id } = await reject({ ...CHAT, temperature: "hot" }, bearer(key));
    const mine = (await list("?limit=100", managing)).rows;
    expect(mine.map((row) => row.id)).toContain(id);
    expect(new Set(mine.map(({ account_id }) => account_id))).toEqual(new Set([accountId]));
    expect((await list("", strange)).rows).toEqual([]);
    expect((await list(`?account_id=${accountId}`, strange)).status).toBe(404);
    expect((await callAdmin(gateway, strange, "GET", `/rejections/${id}`)).status).toBe(404);
    expect((await callAdmin(gateway, strange, "GET", `/generations/${id}`)).body).toMatchObject({
      error: { message: "There is no generation with that id." },
    });
  });

  test("shows a member of an organization only the requests of keys that are its own", async () => {
    const [owner, member] = [await create.user("Owner"), await create.user("Member")];
    const organization = await create.organization(owner);
    await create.member(organization, member, "member");
    const keyOf = (user_id: string, more = {}) => create.key(organization, { user_id, ...more });
    const theirs = await reject({ ...CHAT, temperature: "hot" }, bearer(await keyOf(owner)));
    const own = await reject({ ...CHAT, temperature: "hot" }, bearer(await keyOf(member)));
    const reading = await keyOf(member, { kind: "management" });
    expect((await list("", reading)).rows.map(({ id }) => id)).toEqual([own.id]);
    expect((await callAdmin(gateway, reading, "GET", `/rejections/${theirs.id}`)).status).toBe(404);
  });

  test("the lookup of a generation by the id of a rejected request says that it was rejected, and where to read why", async () => {
    const { id } = await reject({ ...CHAT, temperature: "hot" }, bearer(key));
    const found = await callAdmin(gateway, managing, "GET", `/generations/${id}`);
    expect(found.status).toBe(404);
    expect(found.body).toMatchObject({ error: { metadata: { rejection: id } } });
    expect(JSON.stringify(found.body)).toContain(`rejected with 400 invalid_request`);
  });

  test("the live feed has rejected requests as events, also alone", async () => {
    const open = async (query: string) => {
      const stream = await openEventStream(
        `${gateway.url}/api/admin/generations/stream${query}`,
        bearer(gateway.adminKey),
      );
      return {
        stream,
        idsOf: (name: string) =>
          stream.events
            .filter(({ event }) => event === name)
            .flatMap(({ data }) => (data as { data: { id: string }[] }).data.map(({ id }) => id)),
      };
    };
    const [all, only, completed] = [
      await open(""),
      await open("?outcome=rejected"),
      await open("?outcome=completed"),
    ];
    const { id } = await reject({ ...CHAT, temperature: "hot" }, bearer(key));
    await (await postChat(gateway, CHAT, bearer(key))).text();
    await eventually(
      "the events of both requests",
      () => all.idsOf("rejections").includes(id) && completed.idsOf("generations").length > 0,
    );
    expect(only.idsOf("rejections")).toContain(id);
    expect(only.idsOf("generations")).toEqual([]);
    expect(completed.idsOf("rejections")).toEqual([]);
    for (const { stream } of [all, only, completed]) stream.close();
  });
});

describe("many rejected requests", () => {
  test("of one key get twenty rows in a minute, and one row with the number of all others", async () => {
    const clock = createTestClock();
    const flooded = await startTestGateway({ clock });
    const flood = createAccountTools(flooded);
    const account = await flood.user("Ada", { overdraft: null });
    const headers = bearer(await flood.key(account));
    const send = (body: object) => postChat(flooded, { ...CHAT, ...body }, headers);
    for (let count = 0; count < 25; count++) await (await send({ temperature: "hot" })).text();
    for (let count = 0; count < 5; count++) await (await send({ top_p: "hot" })).text();
    clock.advance(60_000);
    const { rows } = await callAdmin(flooded, flooded.adminKey, "GET", "/rejections?limit=100");
    expect(rows.map(({ count, field }) => [count, field])).toEqual([
      [10, null],
      ...Array.from({ length: 20 }, () => [1, "temperature"]),
    ]);
    expect(rows[0]).toMatchObject({ account_id: account, status: 400, api: "chat.completions" });
    await flooded.stop();
  });

  test("of callers without a key, each with another key and from one address, get ten rows and a sum", async () => {
    const clock = createTestClock();
    const flooded = await startTestGateway({ clock });
    for (let count = 0; count < 200; count++)
      await (await postChat(flooded, CHAT, bearer(`sk-made-up-${count}`))).text();
    clock.advance(60_000);
    const { rows } = await callAdmin(flooded, flooded.adminKey, "GET", "/rejections?limit=100");
    expect(rows.map(({ count }) => count)).toEqual([190, ...Array.from({ length: 10 }, () => 1)]);
    expect(rows[0]).toMatchObject({ key_fingerprint: null, error_type: "authentication" });
    await flooded.stop();
  });

  test("are not recorded if storage.rejected_days is 0", async () => {
    const silent = await startTestGateway({ yaml: "storage:\n  rejected_days: 0\n" });
    const response = await postChat(silent, { ...CHAT, temperature: "hot" });
    expect(response.status).toBe(400);
    expect((await callAdmin(silent, silent.adminKey, "GET", "/rejections")).rows).toEqual([]);
    await silent.stop();
  });

  test("are written before the gateway ends, and deleted after storage.rejected_days", async () => {
    const clock = createTestClock();
    const yaml = "storage:\n  rejected_days: 2\n";
    const first = await startTestGateway({ clock, yaml });
    for (let count = 0; count < 22; count++)
      await (await postChat(first, { ...CHAT, temperature: "hot" })).text();
    await first.stop({ keepData: true });
    const second = await startTestGateway({ clock, yaml, dataDir: first.dataDir, key: first.key });
    const counts = async () =>
      (await callAdmin(second, second.adminKey, "GET", "/rejections?limit=100")).rows.map(
        ({ count }) => count,
      );
    expect(await counts()).toEqual([2, ...Array.from({ length: 20 }, () => 1)]);
    clock.leap(2 * 86_400_000);
    await eventually("the sweep has run", async () => {
      clock.leap(3_600_000);
      return (await counts()).length === 0 || clock.now() > 1_700_000_000_000 + 5 * 86_400_000;
    });
    expect(await counts()).toEqual([]);
    await second.stop();
  });
});

test("gateway_refused_total counts rejected requests by code, those at unknown paths too", async () => {
  const read = async () => {
    const text = await (await fetch(`${gateway.url}/metrics`, { headers: bearer(gateway.adminKey) })).text();
    return Number(/gateway_refused_total\{rule="not_found"\} (\d+)/.exec(text)?.[1] ?? 0);
  };
  const before = await read();
  await fetch(`${gateway.url}/v1/v1/chat/completions`, { method: "POST", headers: bearer(key) });
  expect(await read()).toBe(before + 1);
});
