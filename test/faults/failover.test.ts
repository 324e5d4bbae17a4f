import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

let gateway: TestGateway;
let clock: TestClock;
let a: Vendor;
let b: Vendor;

const model = (price: string) =>
  `{id: acme/m, name: up, context_length: 8192, prices: {prompt: "${price}", completion: "${price}"}}`;

/** A cheap vendor with three keys and an expensive one, with at most two attempts. */
beforeAll(async () => {
  clock = createTestClock();
  a = startVendor();
  b = startVendor();
  gateway = await startTestGateway({
    clock,
    yaml: `
limits: {attempts: 2}
providers:
  vendor-a: {base_url: "${a.baseUrl}", api_keys: [key-1, key-2, key-3], models: [${model("0.000001")}]}
  vendor-b: {base_url: "${b.baseUrl}", api_keys: [key-4], models: [${model("0.00001")}]}
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  a.stop();
  b.stop();
});
beforeEach(() => {
  b.perform(healthy("Beta"));
  clock.leap(1_000_000);
});

const ask = (stream: boolean, more: object = {}) =>
  postChat(gateway, { model: "acme/m", stream, messages: [{ role: "user", content: "Hi" }], ...more });

describe("a vendor with several keys", () => {
  test.each([
    ["that fails is not called with the next key", 500, ["vendor-a", "vendor-b"]],
    ["that limits one key is called with the next", 429, ["vendor-a", "vendor-a"]],
    ["that rejects one key is called with the next", 401, ["vendor-a", "vendor-a"]],
  ] as const)("%s", async (_, status, expected) => {
    a.perform((call) => call.respond(status, { error: { message: "No." } }));
    const response = await ask(true);
    await response.text();
    const asked = [...a.calls.map(() => "vendor-a"), ...b.calls.map(() => "vendor-b")];
    expect(asked).toEqual([...expected]);
    expect(response.status).toBe(status === 500 ? 200 : response.status);
  });
});

test("the other keys of vendors that fail are called after all vendors, in the order of the vendors", async () => {
  const asked: string[] = [];
  const hostOf = (slug: string, price: string) => {
    const vendor = startVendor((call) => {
      asked.push(slug);
      call.respond(500, { error: { message: "No." } });
    });
    const yaml = `  ${slug}: {base_url: "${vendor.baseUrl}", api_keys: [key-1, key-2], models: [${model(price)}]}`;
    return { vendor, yaml };
  };
  const hosts = [hostOf("first", "0.000001"), hostOf("second", "0.000002"), hostOf("third", "0.00001")];
  const own = await startTestGateway({
    clock,
    yaml: ["limits: {attempts: 6}", "providers:", ...hosts.map(({ yaml }) => yaml)].join("\n"),
  });
  try {
    const response = await postChat(own, { model: "acme/m", messages: [{ role: "user", content: "Hi" }] });
    expect(response.status).toBe(502);
    expect(asked).toEqual(["first", "second", "third", "first", "second", "third"]);
  } finally {
    await own.stop();
    for (const { vendor } of hosts) vendor.stop();
  }
});

describe("a request that is not streamed and gets no answer", () => {
  test("is sent to another vendor once other requests have opened the circuit of its vendor", async () => {
    a.perform((call) => call.gate());
    const streams = Array.from({ length: 5 }, () => ask(true));
    await (await a.call(4)).atGate;
    const whole = ask(false);
    await (await a.call(5)).atGate;
    clock.advance(120_000);
    for (const stream of streams) expect(await (await stream).text()).toContain("Beta");
    clock.advance(5_000);
    const response = await whole;
    expect(response.status).toBe(200);
    expect(response.headers.get("x-gateway-provider")).toBe("vendor-b");
  });

  test.each([
    ["without a limit", {}, 230_000],
    ["of many tokens", { max_tokens: 8_000 }, 350_000],
  ])("keeps waiting as long as a slow vendor may take for an answer %s", async (_, more, waitMs) => {
    a.perform(async (call) => {
      await call.gate();
      await healthy("Alpha")(call);
    });
    const whole = ask(false, more);
    const call = await a.call(0);
    await call.atGate;
    await pass(waitMs);
    call.openGate();
    expect(await (await whole).text()).toContain("Alpha");
    expect(b.calls).toHaveLength(0);
  });
});

/** Lets time pass in steps, so that what is due at each can happen. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10_000) {
    clock.advance(10_000);
    await turnEventLoop(2);
  }
}
