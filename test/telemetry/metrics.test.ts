import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ExtensionPoints } from "../../src/core/generation/call/extension.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { scrape } from "../support/servers/scrape.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import {
  answerHello,
  type RecordingVendor,
  startRecordingVendor,
  yamlFor,
} from "../support/vendors/recording-vendor.ts";

const CHAT = { model: "acme/model", messages: [{ role: "user", content: "Hello!" }] };
const TOKEN = "metrics-token-0123456789";

let vendor: RecordingVendor;
beforeAll(() => {
  vendor = startRecordingVendor();
});
afterAll(() => vendor.stop());

let gateway: TestGateway;
afterEach(() => gateway.stop());

async function ask(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await postChat(gateway, body, headers);
  await response.arrayBuffer();
  return response.status;
}

describe("the metrics of requests", () => {
  beforeEach(async () => {
    vendor.reset();
    gateway = await startTestGateway({ yaml: yamlFor(vendor), repeats: 0 });
  });

  test("count a streamed answer with its attempt, tokens, cost and times", async () => {
    expect(await ask({ ...CHAT, stream: true })).toBe(200);
    const metrics = await scrape(gateway);
    const of = { model: "acme/model", provider: "vendor" };
    const request = { api: "chat.completions", ...of, outcome: "completed" };
    expect(metrics.value("gateway_requests_total", request)).toBe(1);
    expect(metrics.value("gateway_attempts_total", { provider: "vendor", result: "ok" })).toBe(1);
    expect(metrics.value("gateway_tokens_total", { model: "acme/model", kind: "prompt" })).toBe(3);
    expect(metrics.value("gateway_tokens_total", { model: "acme/model", kind: "completion" })).toBe(2);
    expect(metrics.value("gateway_cost_usd_total", { ...of, kind: "paid" })).toBe(0);
    expect(metrics.value("gateway_time_to_first_token_seconds_count", of)).toBe(1);
    expect(metrics.value("gateway_request_duration_seconds_count", { outcome: "completed" })).toBe(1);
    expect(metrics.value("gateway_overhead_seconds_count", { api: "chat.completions" })).toBe(1);
    expect(metrics.value("gateway_inflight")).toBe(0);
  });

  test("count a request that fails at every provider as failed, and each attempt with its error", async () => {
    vendor.reset(() => new Response("broken", { status: 500 }));
    expect(await ask(CHAT)).toBe(502);
    const metrics = await scrape(gateway);
    expect(metrics.value("gateway_requests_total", { outcome: "failed", provider: "vendor" })).toBe(1);
    expect(metrics.value("gateway_attempts_total", { result: "upstream_error" })).toBe(1);
    expect(metrics.value("gateway_tokens_total")).toBeNull();
  });

  test("count a rate limit of the provider as a failure, because the caller is not at fault", async () => {
    vendor.reset(() => Response.json({ error: { message: "slow down" } }, { status: 429 }));
    expect(await ask(CHAT)).toBeGreaterThanOrEqual(429);
    const metrics = await scrape(gateway);
    expect(metrics.value("gateway_requests_total", { outcome: "failed", provider: "vendor" })).toBe(1);
  });

  test("count a rejected request by its error code, and never have a model that the catalog does not have", async () => {
    const invented = `acme/"invented"\n${"x".repeat(100)}`;
    expect(await ask({ ...CHAT, model: invented })).toBe(400);
    expect(await ask(CHAT, { authorization: "Bearer gw_wrong" })).toBe(401);
    expect(await ask({ ...CHAT, temperature: 9 })).toBe(400);
    const metrics = await scrape(gateway);
    expect(metrics.text).not.toContain("invented");
    expect(metrics.value("gateway_refused_total", { rule: "invalid_model" })).toBe(1);
    expect(metrics.value("gateway_refused_total", { rule: "authentication" })).toBe(1);
    expect(metrics.value("gateway_refused_total", { rule: "invalid_request" })).toBe(1);
    expect(metrics.value("gateway_requests_total", { model: "other", outcome: "rejected" })).toBe(1);
    expect(metrics.value("gateway_requests_total", { model: "none", outcome: "rejected" })).toBe(1);
    // A body that is not valid may still name a model.
    expect(metrics.value("gateway_requests_total", { model: CHAT.model, outcome: "rejected" })).toBe(1);
    expect(metrics.value("gateway_overhead_seconds_count")).toBeNull();
  });

  test("count each token as one kind, and have no series of a kind that did not occur", async () => {
    const kinds = async () => {
      const { series } = await scrape(gateway);
      const tokens = series.filter(({ name }) => name === "gateway_tokens_total");
      return Object.fromEntries(tokens.map(({ labels, value }) => [labels["kind"], value]));
    };
    expect(await ask(CHAT)).toBe(200);
    expect(await kinds()).toEqual({ prompt: 3, completion: 2 });
    vendor.reset(async (request) => {
      const answer = (await answerHello(request).json()) as Record<string, unknown>;
      const usage = {
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 25 },
        completion_tokens: 30,
        completion_tokens_details: { reasoning_tokens: 12 },
      };
      return Response.json({ ...answer, usage });
    });
    expect(await ask(CHAT)).toBe(200);
    expect(await kinds()).toEqual({
      prompt: 3 + 35,
      prompt_cached: 40,
      prompt_cache_write: 25,
      completion: 2 + 18,
      reasoning: 12,
    });
  });

  test("count repairs of tool calls", async () => {
    const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
    const messages = [
      ...CHAT.messages,
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_other", content: "lost" },
      { role: "user", content: "Go on." },
    ];
    expect(await ask({ ...CHAT, messages })).toBe(200);
    const metrics = await scrape(gateway);
    expect(metrics.value("gateway_repairs_total", { kind: "placeholders_added" })).toBe(1);
    expect(metrics.value("gateway_repairs_total", { kind: "orphan_results_removed" })).toBe(1);
  });

  test("have no label of a key, user or account", async () => {
    await ask(CHAT);
    const { series } = await scrape(gateway);
    const labels = new Set(series.flatMap((one) => Object.keys(one.labels)));
    expect([...labels].filter((label) => /key|user|account|address/.test(label))).toEqual([]);
    expect(series.map(({ labels: values }) => Object.values(values).join()).join()).not.toMatch(
      /key_|acct_|user_|org_/,
    );
  });
});

describe("the overhead of a request", () => {
  let clock: TestClock;
  const start = async (points: ExtensionPoints = {}) => {
    clock = createTestClock();
    const extensions = [{ name: "under-test", attach: () => points }];
    gateway = await startTestGateway({ yaml: yamlFor(vendor), clock, extensions });
  };

  test.each([
    ["a whole answer", { ...CHAT, stream: false }],
    ["a stream", { ...CHAT, stream: true }],
  ])("of %s does not contain the time until the provider answers", async (_, body) => {
    await start();
    vendor.reset((request) => {
      clock.advance(3_000);
      return answerHello(request);
    });
    expect(await ask(body)).toBe(200);
    const metrics = await scrape(gateway);
    expect(metrics.value("gateway_overhead_seconds_sum")).toBe(0);
    expect(metrics.value("gateway_request_duration_seconds_sum")).toBe(3);
  });

  test("contains the time that the gateway spends before the provider is called", async () => {
    await start({
      async beforeRoute() {
        clock.advance(70);
        return { kind: "continue" };
      },
    });
    vendor.reset((request) => {
      clock.advance(1_000);
      return answerHello(request);
    });
    expect(await ask(CHAT)).toBe(200);
    const metrics = await scrape(gateway);
    expect(metrics.value("gateway_overhead_seconds_sum")).toBeCloseTo(0.07, 9);
    expect(metrics.value("gateway_request_duration_seconds_sum")).toBeCloseTo(1.07, 9);
    expect(metrics.value("gateway_overhead_seconds_bucket", { le: "0.064" })).toBe(0);
    expect(metrics.value("gateway_overhead_seconds_bucket", { le: "0.128" })).toBe(1);
  });
});

test("the time to the first token is from the request to the token, and zero if no time passed", async () => {
  const clock = createTestClock();
  vendor.reset();
  gateway = await startTestGateway({ yaml: yamlFor(vendor), clock });
  const seconds = async () => {
    expect(await ask({ ...CHAT, stream: true })).toBe(200);
    return (await scrape(gateway)).value("gateway_time_to_first_token_seconds_sum");
  };
  expect(await seconds()).toBe(0);
  vendor.reset((request) => {
    clock.advance(250);
    return answerHello(request);
  });
  expect(await seconds()).toBeCloseTo(0.25, 9);
});

describe("GET /metrics", () => {
  const read = async (headers: Readonly<Record<string, string>> = {}): Promise<number> =>
    (await fetch(`${gateway.url}/metrics`, { headers })).status;
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

  test("is for management keys of the operator only, by default also on the same machine", async () => {
    gateway = await startTestGateway({ yaml: "sandbox: on" });
    expect(await read()).toBe(401);
    expect(await read(bearer(gateway.key))).toBe(403);
    expect(await read(bearer("gw_wrong"))).toBe(401);
    expect(await read(bearer(gateway.adminKey))).toBe(200);
  });

  test("accepts the configured token, which opens nothing else", async () => {
    gateway = await startTestGateway({ yaml: "sandbox: on", environment: { GATEWAY_METRICS_TOKEN: TOKEN } });
    expect(await read(bearer(TOKEN))).toBe(200);
    expect(await read(bearer(`${TOKEN}x`))).toBe(401);
    const other = await fetch(`${gateway.url}/api/admin/keys`, { headers: bearer(TOKEN) });
    expect(other.status).toBe(401);
  });

  test("needs no token from an allowed address, unless a proxy names another client", async () => {
    gateway = await startTestGateway({ yaml: "sandbox: on\nmetrics:\n  allow: [127.0.0.0/8]" });
    expect(await read()).toBe(200);
    for (const name of ["x-forwarded-for", "forwarded", "x-real-ip", "via"])
      expect([name, await read({ [name]: "203.0.113.1" })]).toEqual([name, 401]);
  });

  test("is answered with 404 if metrics are disabled", async () => {
    gateway = await startTestGateway({ yaml: "sandbox: on\nmetrics:\n  enabled: false" });
    expect(await read(bearer(gateway.adminKey))).toBe(404);
  });

  test("is switched off and on by a reload, and counts from before are kept", async () => {
    let yaml = "sandbox: on";
    gateway = await startTestGateway({ yaml, readYaml: () => yaml });
    const ask = async () => {
      const body = { model: "sandbox/echo", messages: [{ role: "user", content: "Hi" }] };
      await (await postChat(gateway, body)).arrayBuffer();
    };
    const reload = (text: string) => {
      yaml = text;
      return callAdmin(gateway, gateway.adminKey, "POST", "/settings/reload", {});
    };
    await ask();
    const { data } = await reload("sandbox: on\nmetrics: {enabled: false}");
    expect(data.changes).toMatchObject([{ name: "metrics.enabled", needs_restart: false }]);
    expect(await read(bearer(gateway.adminKey))).toBe(404);
    await ask();
    await reload("sandbox: on");
    await ask();
    expect((await scrape(gateway)).value("gateway_requests_total")).toBe(2);
  });

  test("appears with a reload at a gateway that started without metrics", async () => {
    let yaml = "sandbox: on\nmetrics: {enabled: false}";
    gateway = await startTestGateway({ yaml, readYaml: () => yaml });
    yaml = "sandbox: on";
    await callAdmin(gateway, gateway.adminKey, "POST", "/settings/reload", {});
    expect((await scrape(gateway)).names).toContain("gateway_requests_total");
  });

  test("stops the start with an explanation for an address that is none", async () => {
    gateway = await startTestGateway({ yaml: "sandbox: on" });
    const start = startTestGateway({ yaml: "metrics:\n  allow: [everyone]" });
    expect(start).rejects.toThrow(
      /gateway\.yaml:2:3: metrics\.allow "everyone" is neither an address nor a range/,
    );
    await start.catch(() => {});
  });
});
