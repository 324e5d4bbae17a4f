import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { KEY_A, startTwoVendors, type TwoVendors } from "../../faults/two-vendors.ts";
import { postChat } from "../../support/gateway/gateway.ts";
import { type ApiAnswer, callAdmin } from "../../support/gateway/management.ts";
import { healthy, opening, type Play } from "../../support/vendors/vendor.ts";

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(() => vendors.stop());
beforeEach(async () => {
  // Clears what earlier tests have left of affinity, too.
  await admin("POST", "/health/vendor-a/clear");
  vendors.reset();
  vendors.clock.leap(1_200_000);
});

type Row = Readonly<Record<string, unknown>> & {
  readonly provider: string;
  readonly endpoints: readonly Readonly<Record<string, unknown>>[];
  readonly keys: readonly Readonly<Record<string, unknown>>[];
  readonly last_failures: readonly Readonly<Record<string, unknown>>[];
};

function admin(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
  return callAdmin(vendors.gateway, vendors.gateway.adminKey, method, path, body);
}

async function fetchRow(provider = "vendor-a"): Promise<Row> {
  const { rows } = await admin("GET", "/health");
  return rows.find((row) => row["provider"] === provider) as unknown as Row;
}

async function ask(more: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  const messages = [{ role: "user", content: "Hi" }];
  const response = await postChat(vendors.gateway, { model: "acme/alone", messages, ...more });
  await response.text();
  return response;
}

const rejectWith =
  (status: number, message: string): Play =>
  (call) =>
    call.respond(status, { error: { message } });

describe("GET /api/admin/health", () => {
  test("a provider without attempts is unknown, has its keys, and nothing measured", async () => {
    expect(await fetchRow()).toMatchObject({
      provider: "vendor-a",
      state: "unknown",
      requests: 0,
      errors: 0,
      latency_ms: null,
      circuit: "closed",
      keys: [{ id: "vendor-a#0", state: "ok", until: null, models: [] }],
      endpoints: [],
      warm: 0,
    });
  });

  test("names the gateway that answers", async () => {
    const { body } = await admin("GET", "/health");
    expect(body["gateway_id"]).toMatch(/^gateway_/);
  });

  test("lists providers of the catalog without a key after those with one", async () => {
    const { rows } = await admin("GET", "/health");
    const states = rows.map((row) => row["state"] === "no_key");
    expect(states).toEqual(states.toSorted((a, b) => Number(a) - Number(b)));
    expect(rows.find((row) => row["provider"] === "openai")).toMatchObject({ state: "no_key", keys: [] });
  });

  test("a provider that answers is ok, with its endpoint and the name of the model there", async () => {
    await ask();
    await ask();
    expect(await fetchRow()).toMatchObject({
      state: "ok",
      requests: 2,
      errors: 0,
      endpoints: [{ model: "acme/alone", upstream_model: "up", state: "ok", requests: 2, uptime: 1 }],
    });
  });

  test("a failed request is listed with its generation and the provider's words, without secrets", async () => {
    vendors.a.perform(rejectWith(500, `The engine burnt down. Key ${KEY_A}.`));
    const response = await ask();
    const id = response.headers.get("x-gateway-generation-id");
    const { last_failures, ...row } = await fetchRow();
    expect(row).toMatchObject({ state: "degraded", requests: 1, errors: 1 });
    expect(last_failures[0]).toMatchObject({
      model: "acme/alone",
      upstream_model: "up",
      error_type: "upstream_error",
      status: 500,
      message: "The engine burnt down. Key [redacted].",
      generation_id: id,
      is_byok: false,
    });
    expect(JSON.stringify(last_failures)).not.toContain(KEY_A);
  });

  test("at most 20 failures of a provider are listed, the newest first", async () => {
    for (let time = 0; time < 23; time++) {
      vendors.a.perform(rejectWith(500, `Failure number ${time}.`));
      await ask();
      vendors.clock.leap(60_000);
    }
    const { last_failures } = await fetchRow();
    expect(last_failures).toHaveLength(20);
    expect(last_failures.map(({ message }) => message)).toEqual(
      Array.from({ length: 20 }, (_, index) => `Failure number ${22 - index}.`),
    );
  });

  test("a request that the provider rejects as invalid is no failure of the provider", async () => {
    const before = (await fetchRow()).last_failures.length;
    vendors.a.perform(rejectWith(400, "No such parameter."));
    await ask();
    expect(await fetchRow()).toMatchObject({ state: "unknown", errors: 0 });
    expect((await fetchRow()).last_failures).toHaveLength(before);
  });

  test("an answer that breaks off is listed as a failure", async () => {
    vendors.a.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Half"));
      call.connection.reset();
    });
    await ask({ stream: true });
    const [last] = (await fetchRow()).last_failures;
    expect(last).toMatchObject({ error_type: "upstream_error", status: 200 });
    expect(last?.["message"]).not.toContain("\n");
  });

  test("a provider whose circuit is open is down", async () => {
    vendors.a.perform(rejectWith(500, "Down."));
    for (let time = 0; time < 5; time++) await ask();
    expect(await fetchRow()).toMatchObject({
      state: "degraded",
      endpoints: [{ model: "acme/alone", state: "down", circuit: "open" }],
    });
    for (let time = 0; time < 5; time++) await ask({ model: "acme/both" });
    expect(await fetchRow()).toMatchObject({ state: "down", circuit: "open" });
  });

  test("a provider that rejects its only key is down, with the end of the key's cooldown", async () => {
    vendors.a.perform(rejectWith(401, "Incorrect API key."));
    await ask();
    const { state, keys, last_failures } = await fetchRow();
    expect(state).toBe("down");
    const until = new Date(vendors.clock.now() + 60_000).toISOString();
    expect(keys).toEqual([{ id: "vendor-a#0", state: "key_refused", until, models: [] }]);
    expect(last_failures[0]).toMatchObject({ status: 401, message: "Incorrect API key." });
  });

  test("a rate limit cools the key down for one model", async () => {
    vendors.a.perform(rejectWith(429, "Slow down."));
    await ask();
    const { state, keys } = await fetchRow();
    expect(state).toBe("degraded");
    expect(keys[0]).toMatchObject({ state: "ok", models: [{ model: "acme/alone", state: "rate_limited" }] });
  });

  test("conversations with a warm cache are counted", async () => {
    // Only conversations with a choice of endpoints are remembered.
    await ask({ model: "acme/both", session_id: "first" });
    await ask({ model: "acme/both", session_id: "second" });
    expect(await fetchRow()).toMatchObject({ warm: 2 });
  });
});

describe("POST /api/admin/health/{provider}/clear", () => {
  test("closes circuits, ends cooldowns and forgets conversations, and is in the audit log", async () => {
    await ask({ model: "acme/both", session_id: "first" });
    vendors.a.perform(rejectWith(500, "Down."));
    for (let time = 0; time < 5; time++) await ask();
    vendors.a.perform(rejectWith(401, "Incorrect API key."));
    await ask({ model: "acme/both" });
    expect(await fetchRow()).toMatchObject({ state: "down", warm: 1 });
    vendors.a.perform(healthy("Alpha"));

    const { status, data } = await admin("POST", "/health/vendor-a/clear");
    expect(status).toBe(200);
    expect(data).toMatchObject({ state: "unknown", circuit: "closed", endpoints: [], warm: 0 });
    expect(data["keys"]).toMatchObject([{ state: "ok" }]);
    expect((await ask()).status).toBe(200);
    expect(await fetchRow()).toMatchObject({ state: "ok" });
    const { rows } = await admin("GET", "/audit?limit=1");
    expect(rows[0]).toMatchObject({
      action: "POST /api/admin/health/:provider/clear",
      target: "vendor-a",
      changes: { conversations: 1 },
    });
  });

  test("an unknown provider is not found, with similar slugs", async () => {
    const { status, body } = await admin("POST", "/health/opena/clear");
    expect(status).toBe(404);
    expect(JSON.stringify(body)).toContain("openai");
  });
});

describe("POST /api/admin/health/{provider}/test", () => {
  test("a provider that answers is ok, with the time it took", async () => {
    const { clock, a } = vendors;
    a.perform((call) => {
      clock.advance(250);
      return healthy("Alpha")(call);
    });
    const { status, data } = await admin("POST", "/health/vendor-a/test", {});
    expect(status).toBe(200);
    expect(data).toMatchObject({
      status: "ok",
      latency_ms: 250,
      upstream_status: null,
      upstream_message: null,
    });
  });

  test("a named model is called", async () => {
    const { data } = await admin("POST", "/health/vendor-a/test", { model: "acme/both", key: "vendor-a#0" });
    expect(data).toMatchObject({ status: "ok", model: "acme/both" });
  });

  test("a rejected key is reported in the provider's words, and does not count for its health", async () => {
    vendors.a.perform(rejectWith(401, "Incorrect API key."));
    const { data } = await admin("POST", "/health/vendor-a/test", {});
    expect(data).toMatchObject({
      status: "refused",
      upstream_status: 401,
      upstream_message: "Incorrect API key.",
    });
    expect(await fetchRow()).toMatchObject({ state: "unknown" });
  });

  test("a provider that refuses connections is out of reach", async () => {
    const { data } = await admin("POST", "/health/vendor-down/test", {});
    expect(data).toMatchObject({ status: "out_of_reach", upstream_status: null });
    expect(data["upstream_message"]).toBeString();
  });

  test.each([
    ["a provider without a key", "openai", {}, 400, "OPENAI_API_KEY"],
    ["a model that it does not serve", "vendor-a", { model: "openai/gpt-4o" }, 400, "model must be"],
    ["a key that does not exist", "vendor-a", { key: "vendor-a#7" }, 400, "vendor-a#0"],
    ["an unknown provider", "acme", {}, 404, "There is no provider"],
  ])("%s is rejected with an explanation", async (_name, provider, body, status, words) => {
    const answer = await admin("POST", `/health/${provider}/test`, body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(words);
  });
});
