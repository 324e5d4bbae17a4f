import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { InferencePrincipal } from "../../src/core/accounts/records/principal.ts";
import { FreeLimit } from "../../src/core/limits/free-limit.ts";
import { MemoryRateLimiter } from "../../src/core/limits/memory-rate-limiter.ts";
import type { RateLimiter } from "../../src/core/limits/rate-limiter.ts";
import { type AskableApi, CLIENT_APIS } from "../support/clients/client-apis.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { type PreparedAccount, prepareData } from "../support/gateway/prepared-data.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, type Play, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const HOUR_MS = 3_600_000;
const FREE = "acme/gift:free";
const PAID = "acme/paid";
const [CHAT] = CLIENT_APIS as readonly [AskableApi];

/** Answers with vectors or text, as requested. */
const answerAll: Play = (call) =>
  "input" in call.body
    ? call.respond(200, {
        object: "list",
        data: [{ object: "embedding", index: 0, embedding: [0.5] }],
        model: "up",
        usage: { prompt_tokens: 3, total_tokens: 3 },
      })
    : healthy("Alpha")(call);

/** Fails for models with these upstream names, and answers for all others. */
const failFor =
  (...names: readonly string[]): Play =>
  (call) =>
    names.includes(call.body["model"] as string)
      ? call.respond(500, { error: { message: "No." } })
      : answerAll(call);

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
/** Secrets of the keys by account. */
let keys: readonly (readonly string[])[];

/** Starts a gateway with these accounts, or again on the data of the last one. */
async function start(limits: string, accounts: readonly PreparedAccount[] | "again" = [{}]): Promise<void> {
  const data = accounts === "again" ? { dataDir: gateway.dataDir, keys } : await prepareData(accounts);
  keys = data.keys;
  gateway = await startTestGateway({
    clock,
    dataDir: data.dataDir,
    key: data.keys[0]?.[0] ?? "",
    yaml: `
limits: ${limits}
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models:
      - {id: "${FREE}", name: gift}
      - {id: "acme/other:free", name: other}
      - {id: "acme/embed:free", name: embed, output: embedding}
      - {id: ${PAID}, name: paid, prices: {prompt: "0.000001", completion: "0.000002"}}
  openai: {base_url: "${vendor.baseUrl}", models: [{id: "acme/own:free", name: own}]}
tiers:
  - {id: gateway-auto/small, name: Small, description: Small., rule: {by: balance, paid: {models: [${PAID}]}, else: {models: ["${FREE}"]}}}
`,
  });
}

interface Asking {
  readonly model?: string;
  readonly key?: string;
  readonly api?: AskableApi;
  readonly more?: Readonly<Record<string, unknown>>;
}

async function ask({ model = FREE, key = gateway.key, api = CHAT, more }: Asking = {}) {
  const response = await fetch(`${gateway.base}${api.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(api.body(model, more)),
  });
  const text = await response.text();
  const read = (name: string) => response.headers.get(name);
  return {
    status: response.status,
    requests: `${read("x-ratelimit-remaining-requests")}/${read("x-ratelimit-limit-requests")}`,
    reset: read("x-ratelimit-reset-requests"),
    retryAfter: read("retry-after"),
    model: read("x-gateway-model"),
    route: read("x-gateway-route"),
    text,
  };
}

async function askTimes(times: number, asking: Asking = {}): Promise<void> {
  for (let time = 0; time < times; time++) expect((await ask(asking)).status).toBe(200);
}

/** Returns the limit from `GET key`. */
async function limitOf(key = gateway.key): Promise<unknown> {
  const response = await fetch(`${gateway.base}/key`, { headers: { authorization: `Bearer ${key}` } });
  return ((await response.json()) as { data: Record<string, unknown> }).data["free_model_limit"];
}

describe("an account's limit on free models", () => {
  beforeEach(() => {
    vendor = startVendor(answerAll);
    clock = createTestClock();
  });
  afterEach(async () => {
    await gateway.stop();
    vendor.stop();
  });

  test("is 200 requests per hour by default, and responses say how many remain and when to retry", async () => {
    await start("{}");
    expect(await ask()).toMatchObject({ status: 200, requests: "199/200", reset: "3600s" });
    await askTimes(99);
    clock.leap(HOUR_MS / 2);
    await askTimes(100);
    const rejected = await ask();
    expect(rejected).toMatchObject({ status: 429, requests: "0/200", reset: "3600s", retryAfter: "1800" });
    expect(JSON.parse(rejected.text)).toMatchObject({
      error: {
        code: 429,
        type: "rate_limit_exceeded",
        message: expect.stringContaining("200 requests per hour to free models"),
        metadata: { limit_source: "account", limit_kind: "free_requests_per_hour", limit: 200 },
      },
    });
    // The first hundred requests have left the sliding window, the second hundred have not.
    clock.leap(HOUR_MS / 2);
    await askTimes(100);
    expect(await ask()).toMatchObject({ status: 429, retryAfter: "1800" });
    expect(vendor.calls).toHaveLength(300);
  });

  test("is shared by all keys of the account, and separate for another account", async () => {
    await start("{free_requests_per_hour: 2}", [{ moreKeys: 1 }, {}]);
    const [[one, other], [stranger]] = keys as unknown as [[string, string], [string]];
    await askTimes(1, { key: one });
    await askTimes(1, { key: other });
    expect([await ask({ key: one }), await ask({ key: other })]).toMatchObject([
      { status: 429 },
      { status: 429 },
    ]);
    await askTimes(2, { key: stranger });
    expect((await ask({ key: stranger })).status).toBe(429);
  });

  test("neither counts nor limits requests to paid models, and does not count rejected requests", async () => {
    await start("{free_requests_per_hour: 1}");
    expect(await ask({ model: PAID })).toMatchObject({ status: 200, requests: "null/null" });
    expect((await ask({ model: "acme/none:free" })).status).toBe(400);
    expect((await ask({ more: { temperature: 9 } })).status).toBe(400);
    await askTimes(1);
    expect((await ask()).status).toBe(429);
    expect((await ask({ model: PAID })).status).toBe(200);
  });

  test("counts a request whose provider failed, once even if several free models were called", async () => {
    await start("{free_requests_per_hour: 2}");
    vendor.perform(failFor("gift"));
    expect(await ask({ more: { models: ["acme/other:free"] } })).toMatchObject({
      status: 200,
      model: "acme/other:free",
      requests: "1/2",
    });
    expect(await ask()).toMatchObject({ status: 502, requests: "0/2" });
    expect((await ask()).status).toBe(429);
  });

  test.each(
    CLIENT_APIS.filter(({ name }) => name !== "fill in the middle").map((api) => [api.name, api] as const),
  )("applies to %s, and rejects in the format of the API", async (_name, api) => {
    await start("{free_requests_per_hour: 1}");
    const model = api.path === "/embeddings" ? "acme/embed:free" : FREE;
    expect(await ask({ api, model })).toMatchObject({ status: 200, requests: "0/1" });
    const rejected = await ask({ api, model });
    expect([rejected.status, rejected.retryAfter]).toEqual([429, "3600"]);
    expect(api.readError(JSON.parse(rejected.text)).message).toContain("1 requests per hour to free models");
    expect(vendor.calls).toHaveLength(1);
  });

  test("counts requests to gateway-auto/free, and to a tier that resolves to a free model", async () => {
    await start("{free_requests_per_hour: 2}", [{ overdraft: 0 }, {}]);
    const [[poor], [rich]] = keys as unknown as [[string], [string]];
    await askTimes(1, { key: poor, model: "gateway-auto/free" });
    expect(await ask({ key: poor, model: "gateway-auto/small" })).toMatchObject({
      status: 200,
      requests: "0/2",
    });
    for (const model of ["gateway-auto/free", "gateway-auto/small"])
      expect((await ask({ key: poor, model })).status).toBe(429);
    await askTimes(3, { key: rich, model: "gateway-auto/small" });
    expect(await limitOf(rich)).toEqual({ requests_per_hour: 2, remaining: 2 });
  });

  test("skips a free fallback once it is used up, and counts a fallback only if it is called", async () => {
    await start("{free_requests_per_hour: 1}");
    const more = { models: [FREE] };
    await askTimes(3, { model: PAID, more });
    vendor.perform(failFor("paid"));
    expect(await ask({ model: PAID, more })).toMatchObject({ status: 200, model: FREE, requests: "0/1" });
    const failed = await ask({ model: PAID, more });
    expect(failed).toMatchObject({ status: 502, requests: "null/null" });
    expect(failed.route).toBe("vendor-a;why=only, vendor-a;out=free_limit");
  });

  test("lets the paid fallback of a free model answer once it is used up", async () => {
    await start("{free_requests_per_hour: 1}");
    const more = { models: [PAID] };
    expect((await ask({ more })).model).toBe(FREE);
    expect(await ask({ more })).toMatchObject({ status: 200, model: PAID });
    expect((await ask()).status).toBe(429);
  });

  test("is exact for concurrent requests", async () => {
    await start("{free_requests_per_hour: 3}");
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9);
    expect(vendor.calls).toHaveLength(3);
  });

  test("undoes the counts of other limits for a request that it rejects", async () => {
    await start("{free_requests_per_hour: 1, per_key: {requests_per_minute: 3}}");
    expect(await ask()).toMatchObject({ status: 200, requests: "0/1" });
    for (let time = 0; time < 5; time++) expect((await ask()).status).toBe(429);
    expect(await ask({ model: PAID })).toMatchObject({ status: 200, requests: "1/3" });
  });

  test("does not apply if it is configured as 0", async () => {
    await start("{free_requests_per_hour: 0}");
    expect(await ask()).toMatchObject({ status: 200, requests: "null/null" });
    await askTimes(210);
    expect(await limitOf()).toBeNull();
  });

  test("does not count requests that a BYOK key answers", async () => {
    await start("{free_requests_per_hour: 1}");
    const own = { provider: "openai", key: "own-openai-0123456789" };
    await callAdmin(gateway, gateway.adminKey, "POST", "/accounts/user_0/provider-keys", own);
    await askTimes(3, { model: "acme/own:free" });
    expect(await ask()).toMatchObject({ status: 200, requests: "0/1" });
    await askTimes(1, { model: "acme/own:free" });
  });

  test("keeps its count after a restart, whichever model answered", async () => {
    await start("{free_requests_per_hour: 3}");
    await askTimes(1);
    clock.advance(60_000);
    vendor.perform(failFor("gift"));
    expect((await ask({ more: { models: [PAID] } })).model).toBe(PAID);
    vendor.perform(failFor("paid"));
    expect((await ask({ model: PAID, more: { models: [FREE] } })).model).toBe(FREE);
    vendor.perform(answerAll);
    await askTimes(2, { model: PAID });
    await gateway.stop({ keepData: true });
    await start("{free_requests_per_hour: 3}", "again");
    expect(await limitOf()).toEqual({ requests_per_hour: 3, remaining: 0 });
    expect(await ask()).toMatchObject({ status: 429, retryAfter: String(3_600 - 60) });
    clock.leap(HOUR_MS - 60_000);
    await askTimes(1);
    expect((await ask()).status).toBe(429);
  });

  test("is shown by GET key and by the explanation of a route", async () => {
    await start("{free_requests_per_hour: 2}");
    expect(await limitOf()).toEqual({ requests_per_hour: 2, remaining: 2 });
    await askTimes(2);
    expect(await limitOf()).toEqual({ requests_per_hour: 2, remaining: 0 });
    const response = await fetch(`${gateway.base}/route/explain`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify(CHAT.body(FREE, {})),
    });
    expect(await response.json()).toMatchObject({
      data: {
        candidates: [],
        left_out: [{ provider: "vendor-a", model: FREE, reason: "free_limit", retry_after: 3_600 }],
        error: { type: "rate_limit_exceeded" },
      },
    });
  });
});

test("the limit on free models is the same for counts that are kept by another process and arrive later", async () => {
  const own = new MemoryRateLimiter({ leaseMs: 60_000 });
  const later: RateLimiter = Object.assign(Object.create(own), {
    count: async (...args: Parameters<RateLimiter["count"]>) => own.count(...args),
    peek: async (...args: Parameters<RateLimiter["peek"]>) => own.peek(...args),
  });
  const limit = new FreeLimit(later, 1);
  const principal = { kind: "key", account: { id: "user_a" } } as InferencePrincipal;
  expect(await limit.peek(principal, 0)).toMatchObject({ allowed: true, limit: 1, remaining: 1 });
  expect(await limit.admit(principal, 0)).toMatchObject({ allowed: true, remaining: 0 });
  expect(await limit.admit(principal, 0)).toMatchObject({ allowed: false, retryAfterMs: HOUR_MS });
  expect(await limit.peek(principal, 0)).toMatchObject({ allowed: false, remaining: 0 });
});
