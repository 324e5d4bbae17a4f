import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../src/base/time/time.ts";
import { takeLimits } from "../../src/core/generation/admit/take-limits.ts";
import type { GenerationCall, GenerationDeps } from "../../src/core/generation/call/call.ts";
import type { Admission } from "../../src/core/generation/prepare/admission.ts";
import { MemoryRateLimiter } from "../../src/core/limits/memory-rate-limiter.ts";
import { type LimitScope, NO_LIMIT, type RateLimiter } from "../../src/core/limits/rate-limiter.ts";
import { makeDeployment } from "../routing/make-deployment.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createAccountTools } from "../support/gateway/management.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
let key: string;
/** Requests a minute of the caller are bounded too. */
let bounded: string;

beforeAll(async () => {
  vendor = startVendor(healthy("Alpha"));
  clock = createTestClock();
  const prices = 'prices: {prompt: "0", completion: "0"}';
  gateway = await startTestGateway({
    clock,
    yaml: `
limits:
  models:
    "acme/first": {requests_per_minute: 1}
    "acme/second": {requests_per_minute: 2}
    "acme/short": {tokens_per_minute: 10}
    "acme/tiny": {requests_per_minute: 1}
named_routes:
  acme-group: {kind: group, targets: [{model: acme/first, weight: 1}, {model: acme/second, weight: 1}], sticky: session}
tiers:
  - {id: gateway-auto/mine, name: Mine, rule: {by: header, header: x-mode, cases: [{values: [x], pick: {models: [acme/third]}}], else: {models: [acme/first, acme/second, acme/third]}}}
  - {id: gateway-auto/long, name: Long, rule: {by: header, header: x-mode, cases: [{values: [x], pick: {models: [acme/third]}}], else: {models: [acme/tiny, acme/third]}}}
providers:
  vendor:
    base_url: ${vendor.baseUrl}
    models: [${["first", "second", "third", "short"].map((name) => `{id: acme/${name}, name: up-${name}, ${prices}}`).join(", ")}, {id: acme/tiny, context_length: 100, ${prices}}]`,
  });
  const tools = createAccountTools(gateway);
  const user = await tools.user("Ada", { overdraft: null });
  key = await tools.key(user);
  bounded = await tools.key(user, { rate_limit: { requests_per_minute: 1 } });
});
beforeEach(() => {
  vendor.perform(healthy("Alpha"));
  clock.leap(60_000);
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

interface Answered {
  readonly status: number;
  readonly model: string | undefined;
  readonly text: string;
  readonly route: string | null;
}

async function ask(body: Readonly<Record<string, unknown>>, secret = key): Promise<Answered> {
  const response = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hello!" }], ...body }),
  });
  const text = await response.text();
  const { model } = JSON.parse(text) as { readonly model?: string };
  return { status: response.status, model, text, route: response.headers.get("x-gateway-route") };
}

const modelsOf = (answers: readonly Answered[]) => answers.map(({ status, model }) => model ?? status);

async function askTimes(times: number, body: Readonly<Record<string, unknown>>): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (let at = 0; at < times; at++) answers.push(await ask(body));
  return answers;
}

describe("a model whose limit is used up", () => {
  test.each([
    ["models", { model: "acme/first", models: ["acme/second", "acme/third"] }],
    ["a tier", { model: "gateway-auto/mine" }],
  ])("is left out for the next one of %s", async (_what, body) => {
    const answers = await askTimes(5, body);
    expect(modelsOf(answers)).toEqual([
      "acme/first",
      "acme/second",
      "acme/second",
      "acme/third",
      "acme/third",
    ]);
    expect(answers[3]?.route).toContain("out=model_limit");
  });

  test("is left out for another one of a group, until all are used up", async () => {
    const answers = await askTimes(4, { model: "acme-group", session_id: "s" });
    expect(modelsOf(answers).sort()).toEqual([429, "acme/first", "acme/second", "acme/second"]);
    expect(answers[3]?.text).toContain('"limit_source":"gateway"');
  });

  test("is left out if its tokens are used up", async () => {
    const answers = await askTimes(2, { model: "acme/short", models: ["acme/third"] });
    expect(modelsOf(answers)).toEqual(["acme/short", "acme/third"]);
  });

  test("is not used up by requests to a tier that are too long for it", async () => {
    const content = "A long text. ".repeat(100);
    const long = { model: "gateway-auto/long", messages: [{ role: "user", content }] };
    expect(modelsOf(await askTimes(2, long))).toEqual(["acme/third", "acme/third"]);
    expect(modelsOf(await askTimes(2, { model: "gateway-auto/long", max_tokens: 5 }))).toEqual([
      "acme/tiny",
      "acme/third",
    ]);
  });

  test("is a 429 if the request names no other", async () => {
    expect(modelsOf(await askTimes(2, { model: "acme/first" }))).toEqual(["acme/first", 429]);
  });

  test("does not let a caller pass its own limit", async () => {
    const body = { model: "acme/first", models: ["acme/third"] };
    expect((await ask(body, bounded)).status).toBe(200);
    const rejected = await ask(body, bounded);
    expect([rejected.status, rejected.text]).toEqual([429, expect.stringContaining('"limit_source":"key"')]);
  });

  test("counts what falls back to it after a failure, and is skipped by then", async () => {
    await ask({ model: "acme/first" });
    vendor.perform(async (call) => {
      if (call.body["model"] === "up-second") return healthy("Alpha")(call);
      await call.respond(500, { error: { message: "down", type: "server_error" } });
    });
    const body = { model: "acme/third", models: ["acme/first", "acme/second"] };
    expect((await ask(body)).model).toBe("acme/second");
    expect(vendor.calls.map(({ body: sent }) => sent["model"])).not.toContain("up-first");
  });
});

test.each(["at once", "later"] as const)(
  "the limits of models are the same if the counts arrive %s",
  async (when) => {
    const own = new MemoryRateLimiter({ leaseMs: MINUTE_MS });
    const rateLimiter = {
      admit: (...args: Parameters<RateLimiter["admit"]>) =>
        when === "later" ? Promise.resolve(own.admit(...args)) : own.admit(...args),
    };
    const deps = {
      rateLimiter,
      clock: createTestClock(),
      settings: {
        holdBounds: { tokens: 100 },
        listLimits: (_: unknown, modelId: string): LimitScope[] => [
          { source: "gateway", id: modelId, limit: { ...NO_LIMIT, requestsPerMinute: 1 } },
        ],
      },
    } as unknown as GenerationDeps;
    const request = { action: "embeddings", maxTokens: null, prompt: { textBytes: 10 }, answers: 1 };
    const call = { principal: { kind: "key" }, request } as unknown as GenerationCall;
    const deployments = ["acme/first", "acme/second"].map((id) => [makeDeployment(id, "vendor")]);
    let generations = 0;
    const take = async () => {
      const admission = { modelId: "acme/first", deployments } as unknown as Admission;
      return takeLimits(deps, call, { id: `gen_${generations++}`, admission });
    };
    const full = { requests: { limit: 1, remaining: 0 } };
    const first = await take();
    expect(first).toMatchObject({ limitStatus: full, freeLimit: null });
    expect(first.modelId).toBeUndefined();
    expect(await take()).toMatchObject({ limitStatus: full, modelId: "acme/second" });
    await expect(take()).rejects.toMatchObject({ failure: { code: "rate_limit_exceeded", retryAfterS: 60 } });
  },
);
