import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { fetchRecord, startTwoVendors, type TwoVendors } from "../../faults/two-vendors.ts";
import { postChat, startTestGateway } from "../../support/gateway/gateway.ts";
import { type ApiAnswer, callAdmin } from "../../support/gateway/management.ts";
import { createTestClock } from "../../support/test-clock.ts";
import { startVendor } from "../../support/vendors/vendor.ts";

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(() => vendors.stop());
beforeEach(() => vendors.reset());
afterEach(async () => {
  await admin("DELETE", "/health/vendor-a/drain");
  await admin("DELETE", "/health/vendor-a/drain?model=acme/both");
});

function admin(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
  return callAdmin(vendors.gateway, vendors.gateway.adminKey, method, path, body);
}

const drain = (body: unknown = {}) => admin("POST", "/health/vendor-a/drain", body);

const MESSAGES = [{ role: "user", content: "Hi" }];

async function ask(model = "acme/both", more: Readonly<Record<string, unknown>> = {}) {
  const response = await postChat(vendors.gateway, { model, messages: MESSAGES, ...more });
  const body = (await response.json()) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  return { status: response.status, headers: response.headers, body };
}

/** Returns which vendors were called, in order of name. */
const called = () => [...vendors.a.calls.map(() => "a"), ...vendors.b.calls.map(() => "b")];

const inMinutes = (minutes: number) => new Date(vendors.clock.now() + minutes * 60_000).toISOString();

describe("POST /api/admin/health/{provider}/drain", () => {
  test("sends no request to the provider any more, and others take them over", async () => {
    await ask();
    expect(called()).toEqual(["a"]);
    const { status, data } = await drain({ note: "their status page reports errors" });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      provider: "vendor-a",
      drain: { until: null, note: "their status page reports errors" },
    });
    await ask();
    expect(called()).toEqual(["a", "b"]);
  });

  test("lets running requests end as usual", async () => {
    vendors.a.perform(async (call) => {
      await call.gate();
      await call.respond(200, { choices: [{ message: { role: "assistant", content: "Hi" } }], usage: USAGE });
    });
    const running = ask();
    const call = await vendors.a.call(0);
    await call.atGate;
    await drain();
    call.openGate();
    expect((await running).status).toBe(200);
  });

  test("ends by itself at its time", async () => {
    await drain({ until: inMinutes(30) });
    vendors.clock.leap(29 * 60_000);
    await ask();
    expect(called()).toEqual(["b"]);
    vendors.clock.leap(61_000);
    await ask();
    expect(called()).toEqual(["a", "b"]);
    const { rows } = await admin("GET", "/health");
    expect(rows.find(({ provider }) => provider === "vendor-a")).toMatchObject({ drain: null });
  });

  test("of one model leaves the provider's other models in routing", async () => {
    const { data } = await drain({ model: "acme/both" });
    expect(data).toMatchObject({
      drain: null,
      endpoints: expect.arrayContaining([
        expect.objectContaining({ model: "acme/both", drain: expect.objectContaining({ until: null }) }),
      ]),
    });
    await ask("acme/both");
    await ask("acme/alone");
    expect(called()).toEqual(["a", "b"]);
    expect(vendors.a.calls).toHaveLength(1);
  });

  test("is the reason in route/explain and in the plan of the record, with its end", async () => {
    const until = inMinutes(30);
    await drain({ until });
    const request = { model: "acme/both", messages: MESSAGES };
    const { data } = await admin("POST", "/route/explain", { request });
    expect(data["left_out"]).toEqual([
      { provider: "vendor-a", model: "acme/both", reason: "drained", retry_after: 1_800, until },
    ]);
    const { headers } = await ask();
    expect(headers.get("x-gateway-route")).toContain("vendor-a;out=drained");
    const id = headers.get("x-gateway-generation-id") as string;
    expect(await fetchRecord(vendors.gateway, id)).toMatchObject({
      plan: [
        { provider_name: "vendor-b", is_candidate: true },
        { provider_name: "vendor-a", is_candidate: false, reason: "drained", until },
      ],
    });
  });

  test("of the only provider answers 503 with the time to wait, and calls nothing", async () => {
    await drain({ until: inMinutes(30) });
    const timed = await ask("acme/alone");
    expect([timed.status, timed.headers.get("retry-after"), timed.body["error"]?.["type"]]).toEqual([
      503,
      "1800",
      "unavailable",
    ]);
    await drain();
    const untimed = await ask("acme/alone");
    expect([untimed.status, untimed.headers.get("retry-after")]).toEqual([503, "60"]);
    expect(called()).toEqual([]);
  });

  test("applies where a request names the provider and allows no fallbacks", async () => {
    await drain();
    const { status } = await ask("acme/both", { provider: { order: ["vendor-a"], allow_fallbacks: false } });
    expect([status, called()]).toEqual([503, []]);
  });

  test("does not keep the operator from testing the provider", async () => {
    await drain();
    const { data } = await admin("POST", "/health/vendor-a/test", {});
    expect(data).toMatchObject({ status: "ok" });
  });

  test("is in the audit log, and so is its end", async () => {
    await drain({ model: "acme/both", note: "a trial" });
    await admin("DELETE", "/health/vendor-a/drain?model=acme/both");
    const { rows } = await admin("GET", "/audit?limit=2");
    expect(rows).toMatchObject([
      { action: "DELETE /api/admin/health/:provider/drain", target: "vendor-a acme/both" },
      {
        action: "POST /api/admin/health/:provider/drain",
        target: "vendor-a acme/both",
        changes: { drained: true, until: null, note: "a trial" },
      },
    ]);
  });

  test("rejects a time in the past, an unknown provider and a model that the provider does not serve", async () => {
    const answers = [
      await drain({ until: inMinutes(-1) }),
      await admin("POST", "/health/vendor-z/drain", {}),
      await drain({ model: "acme/down-both" }),
      await admin("DELETE", "/health/vendor-a/drain"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 404, 400, 404]);
    expect(JSON.stringify(answers[0]?.body)).toContain("until must be in the future");
  });
});

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

test("a drain holds over a restart", async () => {
  const vendor = startVendor();
  const clock = createTestClock();
  const yaml = `providers: {acme: {base_url: "${vendor.baseUrl}", api_keys: [sk-0123456789], models: [{id: acme/model, name: up, context_length: 8192, prices: {prompt: "0", completion: "0"}}]}}`;
  const first = await startTestGateway({ yaml, clock });
  await callAdmin(first, first.adminKey, "POST", "/health/acme/drain", {});
  await first.stop({ keepData: true });
  const second = await startTestGateway({ yaml, clock, dataDir: first.dataDir, key: first.key });
  const response = await postChat(second, { model: "acme/model", messages: MESSAGES });
  expect([response.status, vendor.calls.length]).toEqual([503, 0]);
  await response.text();
  await second.stop();
  vendor.stop();
});
