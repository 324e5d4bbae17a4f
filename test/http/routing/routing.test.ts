import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import {
  postChat,
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../../support/gateway/gateway.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";
import { healthy, startVendor, type Vendor, type VendorCall } from "../../support/vendors/vendor.ts";

const PRICED = 'prices: {prompt: "0.000001", completion: "0.000002"}';

let clock: TestClock;
let vendors: Readonly<Record<"alpha" | "beta", Vendor>>;
let gateway: TestGateway;

/** Starts two vendors of one model at one price; `acme/alone` is only at alpha. */
async function start(options: Omit<TestGatewayOptions, "clock"> = {}): Promise<void> {
  clock = createTestClock();
  vendors = { alpha: startVendor(healthy("Alpha")), beta: startVendor(healthy("Beta")) };
  const host = (vendor: Vendor, ...ids: string[]) =>
    `{base_url: "${vendor.baseUrl}", api_keys: [key], models: [${ids.map((id) => `{id: ${id}, ${PRICED}}`)}]}`;
  gateway = await startTestGateway({
    clock,
    ...options,
    yaml: `
providers:
  alpha: ${host(vendors.alpha, "acme/both", "acme/alone")}
  beta: ${host(vendors.beta, "acme/both")}
`,
  });
}

beforeEach(() => start());
afterEach(stop);

async function stop(): Promise<void> {
  await gateway.stop();
  for (const vendor of Object.values(vendors)) vendor.stop();
}

const ask = (more: Record<string, unknown> = {}, model = "acme/both") =>
  postChat(gateway, { model, messages: [{ role: "user", content: "Hi" }], ...more });

async function complete(more: Record<string, unknown> = {}, model?: string) {
  const response = await ask(more, model);
  await response.text();
  return {
    status: response.status,
    provider: response.headers.get("x-gateway-provider"),
    route: response.headers.get("x-gateway-route"),
    attempts: Number(response.headers.get("x-gateway-attempts")),
    retryAfter: response.headers.get("retry-after"),
    id: response.headers.get("x-gateway-generation-id") as string,
  };
}

async function explain(more: Record<string, unknown> = {}, query = "") {
  const response = await fetch(`${gateway.base}/route/explain${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/both", messages: [{ role: "user", content: "Hi" }], ...more }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: looked into by tests
  return { status: response.status, body: (await response.json()) as any };
}

const failing =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  (call: VendorCall) =>
    call.respond(status, { error: { message: "no" } }, headers);
const other = (slug: string) => (slug === "alpha" ? "beta" : "alpha") as "alpha" | "beta";

describe("a conversation", () => {
  test("stays with the provider that answered it while its prompt is cached there", async () => {
    const first = (await complete()).provider as "alpha" | "beta";
    // The provider that it hashes to fails once, so that the other one answers.
    vendors[first].perform(failing(500));
    expect((await complete()).provider).toBe(other(first));
    vendors[first].perform(healthy("First"));
    for (let turn = 0; turn < 5; turn++) {
      clock.leap(200_000);
      const { provider, route } = await complete();
      expect([provider, route]).toEqual([
        other(first),
        expect.stringContaining(`${other(first)};why=warm_cache`),
      ]);
    }
    clock.leap(301_000);
    expect((await complete()).provider).toBe(first);
  });

  test("is identified by its session id, or else by its prefix", async () => {
    const providerOf = async (more: Record<string, unknown>) => (await complete(more)).provider;
    const named = await Promise.all(
      Array.from({ length: 40 }, (_, at) => providerOf({ session_id: `s${at}` })),
    );
    expect(new Set(named)).toEqual(new Set(["alpha", "beta"]));
    const begun = (text: string, ...more: unknown[]) =>
      providerOf({ messages: [{ role: "user", content: text }, ...more] });
    for (let at = 0; at < 10; at++) {
      const first = await begun(`question ${at}`);
      const turns = [
        { role: "assistant", content: "Yes." },
        { role: "user", content: `and ${at}?` },
      ];
      expect(await begun(`question ${at}`, ...turns)).toBe(first);
    }
  });
});

describe("a provider that fails", () => {
  test("moves behind others at once, and gets its share of requests back after a minute", async () => {
    const first = (await complete()).provider as "alpha" | "beta";
    vendors[first].perform(failing(500));
    // Each conversation is new, so that cache affinity has no effect.
    let at = 0;
    const next = () => complete({ session_id: `s${at++}` });
    for (let request = 0; request < 40; request++) {
      expect((await next()).status).toBe(200);
      clock.advance(100);
    }
    expect(vendors[first].calls.length).toBeLessThan(5);
    expect((await next()).route).toBe(`${other(first)};why=price, ${first};why=degraded`);
    vendors[first].perform(healthy("Again"));
    clock.advance(60_000);
    const after = [];
    for (let request = 0; request < 40; request++) after.push((await next()).provider);
    expect(after.filter((provider) => provider === first).length).toBeGreaterThan(10);
  });

  test("is skipped if its circuit is open, even if other providers are more expensive", async () => {
    const named = { provider: { order: ["alpha"] } };
    vendors.alpha.perform(failing(500));
    for (let request = 0; request < 10; request++) expect((await complete(named)).status).toBe(200);
    const { route } = await complete(named);
    expect(route).toBe("beta;why=warm_cache, alpha;out=circuit_open");
    vendors.alpha.perform(healthy("Again"));
    clock.advance(40_000);
    expect((await complete(named)).route).toStartWith("alpha;why=order");
  });

  test("with a rate limit is not called before retry-after has passed, and requests are answered with the rest of the wait", async () => {
    vendors.alpha.perform(failing(429, { "retry-after": "20" }));
    expect(await complete({}, "acme/alone")).toMatchObject({ status: 429, retryAfter: "20", attempts: 1 });
    clock.advance(5_000);
    const refused = await complete({}, "acme/alone");
    expect(refused).toMatchObject({
      status: 429,
      retryAfter: "15",
      attempts: 0,
      route: "alpha;out=rate_limited",
    });
    expect(vendors.alpha.calls).toHaveLength(1);
    vendors.alpha.perform(healthy("Alpha"));
    clock.advance(15_000);
    expect((await complete({}, "acme/alone")).status).toBe(200);
  });

  test("is called again by the next request if it was only overloaded and no other provider serves the model", async () => {
    vendors.alpha.perform(failing(503));
    // Each request meets the overload once. From the second on it is known, and no request is delayed for it.
    for (let request = 1; request <= 12; request++) {
      const met = await complete({}, "acme/alone");
      expect(met).toMatchObject({ status: 503, retryAfter: "5", attempts: 1 });
      expect(vendors.alpha.calls).toHaveLength(request);
      clock.advance(100);
    }
    expect((await complete({}, "acme/alone")).route).toBe("alpha;why=last_resort");
    vendors.alpha.perform(healthy("Alpha"));
    expect((await complete({}, "acme/alone")).status).toBe(200);
    expect((await complete({}, "acme/alone")).route).toBe("alpha;why=only");
  });

  test("is called again by the next request if its overload has a retry-after and no other provider serves the model", async () => {
    vendors.alpha.perform(failing(503, { "retry-after": "20" }));
    expect(await complete({}, "acme/alone")).toMatchObject({ status: 503, retryAfter: "20", attempts: 1 });
    vendors.alpha.perform(healthy("Alpha"));
    clock.advance(1_000);
    expect(await complete({}, "acme/alone")).toMatchObject({ status: 200, attempts: 1 });
  });

  test("is skipped while it is overloaded if another provider serves the model", async () => {
    const first = (await complete()).provider as "alpha" | "beta";
    vendors[first].perform(failing(503, { "retry-after": "20" }));
    await complete();
    const calls = vendors[first].calls.length;
    clock.advance(1_000);
    const { status, provider, route } = await complete({ session_id: "another" });
    expect([status, provider, route]).toEqual([
      200,
      other(first),
      `${other(first)};why=price, ${first};out=overloaded`,
    ]);
    expect(vendors[first].calls).toHaveLength(calls);
  });

  test("because it rejects its key is not called with that key again", async () => {
    vendors.alpha.perform(failing(401));
    expect((await complete({}, "acme/alone")).status).toBe(502);
    expect(await complete({}, "acme/alone")).toMatchObject({
      status: 503,
      attempts: 0,
      route: "alpha;out=key_refused",
    });
  });

  test("because of an invalid request keeps its health", async () => {
    vendors.alpha.perform(failing(400));
    for (let request = 0; request < 20; request++)
      expect((await complete({}, "acme/alone")).status).toBe(400);
    vendors.alpha.perform(healthy("Alpha"));
    expect(await complete({}, "acme/alone")).toMatchObject({ status: 200, route: "alpha;why=only" });
  });
});

describe("retries of the only candidate", () => {
  test("are made after a pause if the failure was transient", async () => {
    await stop();
    await start({ repeats: 1 });
    let calls = 0;
    vendors.alpha.perform((call) => (calls++ === 0 ? failing(500)(call) : healthy("Alpha")(call)));
    const asked = complete({}, "acme/alone");
    await eventually("the second call", () => {
      clock.advance(50);
      return calls === 2;
    });
    expect(await asked).toMatchObject({ status: 200, attempts: 2 });
  });

  test("are not counted again for the same request during an overload, and are not made for a known overload", async () => {
    await stop();
    await start({ repeats: 1 });
    const askThrough = async () => {
      let isOver = false;
      const asked = complete({}, "acme/alone").finally(() => {
        isOver = true;
      });
      await eventually("the answer", () => {
        clock.advance(10);
        return isOver;
      });
      return asked;
    };
    vendors.alpha.perform(failing(503));
    expect(await askThrough()).toMatchObject({ status: 503, attempts: 2, route: "alpha;why=only" });
    // The second consecutive request: the overload is known only after its first attempt.
    expect(await askThrough()).toMatchObject({ status: 503, attempts: 2, route: "alpha;why=only" });
    expect(await askThrough()).toMatchObject({ status: 503, attempts: 1, route: "alpha;why=last_resort" });
  });

  test("send the same body as the first attempt, for one and for several candidates", async () => {
    await stop();
    await start({ repeats: 1 });
    for (const model of ["acme/both", "acme/alone"]) {
      for (const vendor of Object.values(vendors)) vendor.perform(failing(500));
      let isOver = false;
      const asked = complete({ user: "Ada", stream: true, session_id: model }, model).finally(() => {
        isOver = true;
      });
      await eventually("the answer", () => {
        clock.advance(10);
        return isOver;
      });
      expect((await asked).status).toBe(502);
      for (const { calls } of Object.values(vendors)) {
        expect(new Set(calls.map(({ body }) => JSON.stringify(body))).size).toBe(calls.length > 0 ? 1 : 0);
      }
      expect(vendors.alpha.calls).toHaveLength(2);
      expect(vendors.alpha.calls[0]?.body["messages"]).toEqual([{ role: "user", content: "Hi" }]);
      clock.advance(60_000);
    }
  });

  test("end when the provider's retry budget is spent", async () => {
    await stop();
    await start({ repeats: 1 });
    vendors.alpha.perform(failing(500));
    for (let request = 0; request < 30; request++) {
      let isOver = false;
      const asked = complete({}, "acme/alone").finally(() => {
        isOver = true;
      });
      await eventually("the answer", () => {
        clock.advance(10);
        return isOver;
      });
      expect((await asked).status).toBe(502);
    }
    // A tenth of the first attempts, and ten.
    expect(vendors.alpha.calls.length).toBe(30 + 10 + 3);
  });
});

describe("the route of a request", () => {
  test("is in the response header and in the generation record", async () => {
    const { id, route, provider } = await complete({ provider: { order: ["beta"] } });
    expect([provider, route]).toEqual(["beta", "beta;why=order, alpha;why=price"]);
    const response = await fetch(`${gateway.base}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    expect(((await response.json()) as { data: unknown }).data).toMatchObject({
      plan: [
        { provider_name: "beta", model: "acme/both", is_candidate: true, reason: "order" },
        { provider_name: "alpha", model: "acme/both", is_candidate: true, reason: "price" },
      ],
    });
  });

  test("can be explained without calling an upstream", async () => {
    const { status, body } = await explain({ provider: { order: ["beta"], ignore: ["alpha"] } });
    expect([status, vendors.alpha.calls.length, vendors.beta.calls.length]).toEqual([200, 0, 0]);
    expect(body.data).toMatchObject({
      requested_model: "acme/both",
      candidates: [
        {
          provider: "beta",
          model: "acme/both",
          upstream_model: "both",
          reason: "only",
          would_be_asked: true,
          health: { circuit: "closed", success: 1 },
        },
      ],
      left_out: [{ provider: "alpha", model: "acme/both", reason: "provider_rules" }],
      error: null,
    });
    expect(body.data.candidates[0].estimated_cost).toBeGreaterThan(0.001);
  });

  test("is explained with the health that each provider has for the model", async () => {
    vendors.alpha.perform(failing(500));
    const named = { provider: { order: ["alpha"] } };
    expect((await complete(named)).provider).toBe("beta");
    const { candidates } = (await explain(named)).body.data;
    const [alpha, beta] = ["alpha", "beta"].map((slug) =>
      candidates.find(({ provider }: { provider: string }) => provider === slug),
    );
    expect(alpha.health.circuit).toBe("closed");
    expect(alpha.health.success).toBeWithin(0.01, 0.99);
    expect(beta.health).toMatchObject({ circuit: "closed", success: 1 });
  });

  test("can be explained for every client API, even if there is no candidate", async () => {
    const messages = await explain({ max_tokens: 10 }, "?api=messages");
    expect(messages.body.data.candidates).toHaveLength(2);
    const noCandidates = await explain({ provider: { only: ["openai"] } });
    expect(noCandidates.body.data).toMatchObject({
      candidates: [],
      left_out: [{ reason: "provider_rules" }, { reason: "provider_rules" }],
      error: { type: "invalid_request" },
    });
    expect(await explain({}, "?api=telex")).toMatchObject({
      status: 400,
      body: { error: { metadata: { field: "api" } } },
    });
    expect((await explain({ model: "acme/none" })).status).toBe(400);
  });

  test("cannot be explained without a key", async () => {
    const response = await fetch(`${gateway.base}/route/explain`, { method: "POST", body: "{}" });
    expect(response.status).toBe(401);
    await response.text();
  });
});
