import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type AskableApi, CLIENT_APIS, yamlForAllApis } from "../support/clients/client-apis.ts";
import { ABORT_WATCH_DELAY_MS } from "../support/clients/raw-client.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { prepareData } from "../support/gateway/prepared-data.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import {
  documentOf,
  healthy,
  opening,
  type Play,
  startVendor,
  USAGE,
  type Vendor,
} from "../support/vendors/vendor.ts";

const [CHAT] = CLIENT_APIS as readonly [AskableApi];
const MINUTE_MS = 60_000;

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

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
/** Secrets of the keys by account. */
let keys: readonly (readonly string[])[];

beforeEach(() => {
  vendor = startVendor(answerAll);
  clock = createTestClock();
});
afterEach(async () => {
  await gateway.stop();
  vendor.stop();
});

/** Starts a gateway with two accounts, the first with two keys. */
async function start(limits: string, accounts = [{ moreKeys: 1 }, {}]): Promise<void> {
  const data = await prepareData(accounts);
  keys = data.keys;
  gateway = await startTestGateway({
    clock,
    dataDir: data.dataDir,
    key: data.keys[0]?.[0] ?? "",
    yaml: yamlForAllApis(vendor.baseUrl, `limits: ${limits}`),
  });
}

interface Asking {
  readonly api?: AskableApi;
  readonly key?: string;
  readonly model?: string;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

function ask({
  api = CHAT,
  key = gateway.key,
  model = api.model,
  more,
  signal,
}: Asking = {}): Promise<Response> {
  return fetch(
    `${gateway.base.replace("/gateway", api.path.startsWith("/fim") ? "" : "/gateway")}${api.path}`,
    {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify(api.body(model, more)),
      ...(signal ? { signal } : {}),
    },
  );
}

async function limitStatus(response: Response): Promise<Record<string, string | number | null>> {
  await response.text();
  const read = (name: string) => response.headers.get(name);
  return {
    status: response.status,
    requests: `${read("x-ratelimit-remaining-requests")}/${read("x-ratelimit-limit-requests")}`,
    tokens: `${read("x-ratelimit-remaining-tokens")}/${read("x-ratelimit-limit-tokens")}`,
    retryAfter: read("retry-after"),
  };
}

describe("the limit of requests a minute", () => {
  test.each(CLIENT_APIS.map((api) => [api.name, api] as const))(
    "applies to %s, is in the headers of every response, and rejects in the format of the API",
    async (_name, api) => {
      await start("{per_key: {requests_per_minute: 2}}");
      expect(await limitStatus(await ask({ api }))).toEqual({
        status: 200,
        requests: "1/2",
        tokens: "null/null",
        retryAfter: null,
      });
      clock.advance(10_000);
      expect(await limitStatus(await ask({ api }))).toMatchObject({ status: 200, requests: "0/2" });
      const rejected = await ask({ api });
      const body = await rejected.json();
      expect(api.readError(body)).toMatchObject({ message: expect.stringContaining("2 requests a minute") });
      expect(JSON.stringify(body)).toContain("rate_limit");
      expect(JSON.stringify(body)).toContain('"limit_source":"key"');
      expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "50"]);
      expect(rejected.headers.get("x-ratelimit-remaining-requests")).toBe("0");
      expect(rejected.headers.get("x-ratelimit-reset-requests")).toBe("60s");
      expect(vendor.calls).toHaveLength(2);
      clock.advance(50_000);
      expect(await limitStatus(await ask({ api }))).toMatchObject({ status: 200, requests: "0/2" });
    },
  );

  test("is separate for each key, and an account's is shared by its keys", async () => {
    await start("{per_key: {requests_per_minute: 2}, per_account: {requests_per_minute: 3}}");
    const [first = "", second = ""] = keys[0] ?? [];
    expect(await limitStatus(await ask({ key: first }))).toMatchObject({ requests: "1/2" });
    expect(await limitStatus(await ask({ key: first }))).toMatchObject({ requests: "0/2" });
    expect((await ask({ key: first })).status).toBe(429);
    // The account has fewer requests left than the second key; the headers have the tightest limit.
    expect(await limitStatus(await ask({ key: second }))).toMatchObject({ status: 200, requests: "0/3" });
    const rejected = await ask({ key: second });
    expect(await rejected.json()).toMatchObject({ error: { metadata: { limit_source: "account" } } });
    expect((await ask({ key: keys[1]?.[0] ?? "" })).status).toBe(200);
  });

  test("does not count rejected requests, and every rejection has its status", async () => {
    await start("{per_key: {requests_per_minute: 2}}");
    const rejections: [Asking, number][] = [
      [{ model: "acme/unknown" }, 400],
      [{ more: { temperature: 9 } }, 400],
      [{ more: { provider: { zdr: true } } }, 400],
    ];
    for (const [asking, status] of rejections)
      expect(await limitStatus(await ask(asking))).toMatchObject({ status, requests: "2/2" });
    vendor.perform((call) => call.respond(500, {}));
    expect(await limitStatus(await ask())).toMatchObject({ status: 502, requests: "1/2" });
  });

  test("of a model is shared by all its callers", async () => {
    await start("{per_model: {requests_per_minute: 1}}");
    expect((await ask()).status).toBe(200);
    const rejected = await ask({ key: keys[1]?.[0] ?? "" });
    expect(rejected.status).toBe(429);
    expect(await rejected.json()).toMatchObject({ error: { metadata: { limit_source: "gateway" } } });
    expect((await ask({ api: CLIENT_APIS[3] as AskableApi })).status).toBe(200);
  });

  test("does not apply if none is configured, and responses then have no header of it", async () => {
    await start("{}");
    expect(await limitStatus(await ask())).toMatchObject({
      status: 200,
      requests: "null/null",
      tokens: "null/null",
    });
  });
});

describe("the limit of tokens a minute", () => {
  test("counts an estimate, which is corrected by the used tokens", async () => {
    await start("{per_key: {tokens_per_minute: 1000}}");
    const words = { max_tokens: 600 };
    expect(await limitStatus(await ask({ more: words }))).toMatchObject({ status: 200, tokens: "398/1000" });
    // The vendor reports 15 used tokens.
    expect(await limitStatus(await ask({ more: words }))).toMatchObject({
      tokens: `${1000 - USAGE.total_tokens - 602}/1000`,
    });
    const large = await ask({ more: { messages: [{ role: "user", content: "x".repeat(4_100) }] } });
    expect(large.status).toBe(429);
    expect(await large.json()).toMatchObject({ error: { message: expect.stringContaining("Shorten") } });
  });

  test("counts the prompt alone of a request whose answer has no tokens", async () => {
    await start("{per_key: {tokens_per_minute: 1000}}");
    const api = CLIENT_APIS.find(({ name }) => name === "embeddings");
    if (api === undefined) throw new Error("there is no API of embeddings");
    expect(await limitStatus(await ask({ api, more: { input: "x".repeat(40) } }))).toMatchObject({
      status: 200,
      tokens: "990/1000",
    });
  });

  test("admits many small requests without max_tokens, sequential and concurrent", async () => {
    await start("{per_key: {tokens_per_minute: 2000}}");
    for (let used = USAGE.total_tokens; used <= 20 * USAGE.total_tokens; used += USAGE.total_tokens) {
      const response = await ask();
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    }
    vendor.perform(async (call) => {
      await call.gate();
      await call.respond(200, documentOf("Alpha"));
    });
    const several = [ask(), ask({ more: { max_tokens: 32_000 } }), ask({ more: { stream: true } })];
    await eventually("all have reached the vendor", () => vendor.calls.length === several.length);
    for (const call of vendor.calls) call.openGate();
    for (const one of several) expect((await one).status).toBe(200);
  });

  test("is corrected for streams too, and its count is undone for failed requests", async () => {
    await start("{per_key: {tokens_per_minute: 1000}}");
    await (await ask({ more: { stream: true, max_tokens: 500 } })).text();
    vendor.perform((call) => call.respond(500, {}));
    await (await ask({ more: { max_tokens: 500 } })).text();
    vendor.perform(answerAll);
    expect(await limitStatus(await ask({ more: { max_tokens: 100 } }))).toMatchObject({
      tokens: `${1000 - USAGE.total_tokens - 102}/1000`,
    });
  });
});

describe("the limit of concurrent requests", () => {
  /** The ways in which a generation ends, and how the test waits for the end. */
  const endings: readonly (readonly [
    string,
    Play,
    Asking,
    (response: Promise<Response>) => Promise<unknown>,
  ])[] = [
    ["a complete answer", answerAll, {}, async (response) => (await response).text()],
    [
      "the end of a stream",
      answerAll,
      { more: { stream: true } },
      async (response) => (await response).text(),
    ],
    ["a failure", (call) => call.respond(500, {}), {}, async (response) => (await response).text()],
    [
      "a rejection by the provider",
      (call) => call.respond(400, {}),
      {},
      async (response) => (await response).text(),
    ],
    [
      "a connection that the provider resets",
      (call) => call.connection.reset(),
      {},
      async (response) => (await response).text(),
    ],
    [
      "a truncated stream",
      async (call) => {
        await call.begin();
        await call.events(...opening("Alpha"));
        call.connection.reset();
      },
      { more: { stream: true } },
      async (response) => (await response).text(),
    ],
  ];
  test.each(endings)("no longer counts a request after %s", async (_how, play, asking, read) => {
    await start("{per_key: {concurrent: 1}}");
    for (let i = 0; i < 3; i++) {
      vendor.perform(play);
      await read(ask(asking));
    }
    vendor.perform(answerAll);
    expect(await eventually("the lease to end", async () => (await ask()).status === 200)).toBe(true);
  });

  test("rejects further requests while others run, with a short time to wait", async () => {
    await start("{per_account: {concurrent: 1}}");
    vendor.perform(async (call) => {
      await call.gate();
      await call.respond(200, documentOf("late"));
    });
    const waiting = ask();
    await (await vendor.call(0)).atGate;
    const rejected = await ask();
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await rejected.json()).toMatchObject({
      error: { metadata: { limit_source: "account", limit_kind: "concurrent", limit: 1 } },
    });
    (await vendor.call(0)).openGate();
    expect((await waiting).status).toBe(200);
    vendor.perform(answerAll);
    expect((await ask()).status).toBe(200);
  });

  test("no longer counts a request whose client left before the first byte or in the middle of a stream", async () => {
    await start("{per_key: {concurrent: 1}}");
    for (const begins of [false, true]) {
      const leaving = new AbortController();
      vendor.perform(async (call) => {
        if (begins) {
          await call.begin();
          await call.events(...opening("Alpha"));
        }
        await call.gate();
      });
      const asked = ask({ signal: leaving.signal, more: { stream: true } }).catch(() => null);
      await (await vendor.call(0)).atGate;
      if (begins) await asked;
      clock.advance(ABORT_WATCH_DELAY_MS);
      leaving.abort();
      await asked;
      vendor.perform(answerAll);
      expect(await eventually("the lease to end", async () => (await ask()).status === 200)).toBe(true);
    }
  });
});

describe("of 500 concurrent requests", () => {
  test("as many are admitted as the limit allows, and none is counted twice or lost", async () => {
    await start(
      "{per_key: {requests_per_minute: 40}, per_account: {requests_per_minute: 60, concurrent: 100}}",
    );
    const all = [keys[0]?.[0], keys[0]?.[1]].flatMap((key) =>
      Array.from({ length: 250 }, () => ask({ key: key ?? "" })),
    );
    const statuses = await Promise.all(all.map(async (response) => (await response).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(440);
    expect(vendor.calls).toHaveLength(60);
    clock.advance(MINUTE_MS + 1_000);
    expect((await ask()).status).toBe(200);
  });

  test("never more than the concurrent limit reach the provider at a time", async () => {
    await start("{per_key: {concurrent: 10}}");
    let [running, most] = [0, 0];
    vendor.perform(async (call) => {
      running += 1;
      most = Math.max(most, running);
      await turnEventLoop();
      running -= 1;
      await call.respond(200, documentOf("Alpha"));
    });
    const statuses = await Promise.all(Array.from({ length: 500 }, async () => (await ask()).status));
    expect(most).toBeLessThanOrEqual(10);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    vendor.perform(answerAll);
    expect((await ask()).status).toBe(200);
  });
});

test("a request that the balance does not cover does not count for rate limits", async () => {
  const data = await prepareData([{ overdraft: 0 }]);
  keys = data.keys;
  gateway = await startTestGateway({
    clock,
    dataDir: data.dataDir,
    key: keys[0]?.[0] ?? "",
    yaml: `
limits: {per_key: {requests_per_minute: 1, concurrent: 1}}
providers:
  vendor:
    base_url: ${vendor.baseUrl}
    models: [{id: acme/paid, prices: {prompt: "0.001", completion: "0.001"}}, {id: "acme/gift:free"}]`,
  });
  for (let i = 0; i < 3; i++)
    expect(await limitStatus(await ask({ model: "acme/paid" }))).toMatchObject({
      status: 402,
      requests: "1/1",
    });
  expect(await limitStatus(await ask({ model: "acme/gift:free" }))).toMatchObject({
    status: 200,
    requests: "0/1",
  });
});
