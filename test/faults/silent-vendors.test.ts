import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { postRawChat } from "../support/clients/raw-client.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestHealth } from "../support/gateway/test-health.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../support/money.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { documentOf, healthy, type Play, startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { fetchRecord } from "./two-vendors.ts";

const FORMATS = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] as const;
const priced = (prompt: string) =>
  `context_length: 200000, prices: {prompt: "${prompt}", completion: "${prompt}"}`;

let clock: TestClock;
let health: ReturnType<typeof createTestHealth>;
let silent: Vendor;
let other: Vendor;
let gateway: TestGateway;
/** One that charges nothing for what its clients leave. */
let generous: TestGateway;
let key: string;

/** A cheap vendor in several formats that the tests keep silent, and an expensive one. */
const yaml = () => `
providers:
${FORMATS.map(
  (format) =>
    `  silent-${format}: {base_url: "${silent.baseUrl}", format: ${format}, api_keys: [key-0001], models: [{id: acme/${format}, name: up, ${priced("0.000001")}}]}`,
).join("\n")}
  openai: {base_url: "${silent.baseUrl}", api_keys: [key-0001]}
  azure: {base_url: "${other.baseUrl}", api_keys: [key-0001], models: [{id: openai/gpt-5.1, name: up, ${priced("0.0001")}}]}
  images: {base_url: "${silent.baseUrl}", models: [{id: acme/draw, output: image, ${priced("0.000001")}}, {id: acme/embed, output: embedding, ${priced("0.000001")}}]}
  pictures: {base_url: "${other.baseUrl}", models: [{id: acme/draw, output: image, ${priced("0.0001")}}, {id: acme/embed, output: embedding, ${priced("0.0001")}}]}
  lone: {base_url: "${silent.baseUrl}", api_keys: [key-0001, key-0002], models: [{id: acme/alone, name: up, ${priced("0.000001")}}]}
  other:
    base_url: ${other.baseUrl}
    api_keys: [key-0001]
    models: [${FORMATS.map((format) => `{id: acme/${format}, name: up, ${priced("0.0001")}}`).join(", ")}]`;

beforeAll(async () => {
  clock = createTestClock();
  health = createTestHealth();
  silent = startVendor();
  other = startVendor(healthy("Beta"));
  gateway = await startTestGateway({ clock, health: health.health, yaml: yaml() });
  generous = await startTestGateway({
    clock,
    yaml: `pricing: {charge_abandoned: false}\n${yaml()}`,
  });
  key = await addAccountWithKey(gateway, { id: "user_payer" });
  await manage(gateway, "/accounts/user_payer/credits", { amount: "100" });
});
beforeEach(() => {
  health.reset();
  clock.leap(1_000_000);
  silent.perform((call) => call.gate());
  other.perform(healthy("Beta"));
  gateway.log.length = 0;
  generous.log.length = 0;
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await Promise.all([gateway.stop(), generous.stop()]);
  silent.stop();
  other.stop();
});

const messages = [{ role: "user", content: "Hello there, how are you?" }];

function ask(path: string, body: object): Promise<Response> {
  return fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Lets time pass in steps, so that what is due at each can happen. Returns how long it was until `isDone`. */
async function passUntil(isDone: () => boolean, mostMs: number): Promise<number> {
  for (let passed = 0; passed < mostMs; passed += 10_000) {
    if (isDone()) return passed;
    clock.advance(10_000);
    await turnEventLoop(4);
  }
  return isDone() ? mostMs : Number.POSITIVE_INFINITY;
}

const hasMoved = () => other.calls.length > 0;

describe("a vendor that accepts a request which is not streamed and stays silent", () => {
  test.each([
    ...FORMATS.map((format): [string, string, object, number] => [
      `a chat to ${format}`,
      "/chat/completions",
      { model: `acme/${format}`, messages },
      240_000,
    ]),
    ["a short chat", "/chat/completions", { model: "acme/openai-chat", messages, max_tokens: 64 }, 130_000],
    [
      "a Messages request",
      "/messages",
      { model: "acme/anthropic-messages", max_tokens: 4_096, messages },
      240_000,
    ],
    ["a Responses request", "/responses", { model: "acme/openai-responses", input: "Hello!" }, 240_000],
    ["a chat of a model that reasons", "/chat/completions", { model: "openai/gpt-5.1", messages }, 600_000],
    ["an image", "/images/generations", { model: "acme/draw", prompt: "A sea." }, 300_000],
    ["an embedding", "/embeddings", { model: "acme/embed", input: "A sea." }, 120_000],
  ])("is left for another one: %s", async (_what, path, body, expectedMs) => {
    const answer = ask(path, body);
    await (await silent.call(0)).atGate;
    const waited = await passUntil(hasMoved, 890_000);
    expect(waited).toBeLessThanOrEqual(expectedMs);
    expect(waited).toBeGreaterThan(expectedMs - 20_000);
    await (await silent.call(0)).connection.closed;
    await (await answer).text();
  });

  test("is charged nothing, and the one that answers its own price", async () => {
    const before = await balanceOf(gateway, "user_payer");
    const answer = ask("/chat/completions", { model: "acme/openai-chat", messages });
    await (await silent.call(0)).atGate;
    await passUntil(hasMoved, 890_000);
    const response = await answer;
    expect(await response.text()).toContain("Beta");
    const id = response.headers.get("x-gateway-generation-id") ?? "";
    const record = await fetchRecord({ ...gateway, key }, id);
    // 10 and 5 tokens at the price of the vendor that answered.
    expect(record).toMatchObject({ outcome: "completed", total_cost_nanodollars: 1_500_000 });
    expect(record["attempts"]).toMatchObject([
      { provider_name: "silent-openai-chat", error_type: "unavailable" },
      { provider_name: "other", error_type: null },
    ]);
    const after = await balanceOf(gateway, "user_payer");
    expect(after.held).toBe(0);
    expect(before.balance - after.balance).toBe(1_500_000);
  });

  test("is waited for to the end of the whole time if there is no other, whatever number of keys it has", async () => {
    const answer = ask("/chat/completions", { model: "acme/alone", messages });
    const call = await silent.call(0);
    await call.atGate;
    expect(await passUntil(() => false, 880_000)).toBe(Number.POSITIVE_INFINITY);
    await healthy("Alpha")(call);
    expect(await (await answer).text()).toContain("Alpha");
  });

  test("is not left while it sends white space until its answer is there", async () => {
    silent.perform(async (call) => {
      await call.begin(200, { "content-type": "application/json" });
      await call.gate();
      await call.piece(JSON.stringify(documentOf("Alpha one two")));
      await call.end();
    });
    const answer = ask("/chat/completions", { model: "acme/openai-chat", messages });
    const call = await silent.call(0);
    await call.atGate;
    for (let sent = 0; sent < 10; sent++) {
      await call.piece("\n");
      await turnEventLoop(4);
      await passUntil(() => false, 60_000);
    }
    call.openGate();
    expect(await (await answer).text()).toContain("Alpha");
    expect(hasMoved()).toBe(false);
  });
});

describe("a client that leaves before an answer that is not streamed", () => {
  /** Asks, lets the client leave once the vendor is at its gate, and returns the record. */
  async function leave(at: TestGateway, play: Play) {
    silent.perform(play);
    const client = await postRawChat(at, { model: "acme/alone", messages, max_tokens: 50 });
    const call = await silent.call(0);
    await call.atGate;
    clock.advance(50);
    client.disconnect();
    await call.connection.closed;
    const id = await waitFor(
      () => at.log.find(({ fields }) => fields["outcome"] !== undefined)?.fields["generation_id"] ?? null,
    );
    return fetchRecord(at, String(id));
  }

  const withHead: Play = async (call) => {
    await call.begin(200, { "content-type": "application/json" });
    await call.gate();
  };
  const withByte: Play = async (call) => {
    await call.begin(200, { "content-type": "application/json" });
    await call.piece("{");
    await call.gate();
  };

  test("pays nothing while the vendor is silent", async () => {
    const record = await leave(gateway, (call) => call.gate());
    expect(record).toMatchObject({ outcome: "cancelled", total_cost_nanodollars: 0, tokens_prompt: 0 });
  });

  test.each([
    ["a head", withHead],
    ["a first byte", withByte],
  ])("pays the prompt once the vendor has answered with %s", async (_what, play) => {
    const record = await leave(gateway, play);
    const tokens = Number(record["tokens_prompt"]);
    expect(tokens).toBeGreaterThan(0);
    expect(record).toMatchObject({
      outcome: "cancelled",
      tokens_completion: 0,
      total_cost_nanodollars: tokens * 1_000,
    });
  });

  test("pays nothing if the operator does not charge for that", async () => {
    expect(await leave(generous, withHead)).toMatchObject({
      outcome: "cancelled",
      total_cost_nanodollars: 0,
    });
  });

  test("pays nothing for an error of the vendor", async () => {
    const record = await leave(gateway, async (call) => {
      await call.begin(500, { "content-type": "application/json" });
      await call.gate();
    });
    expect(record).toMatchObject({ outcome: "cancelled", total_cost_nanodollars: 0 });
  });

  test("pays what the vendor has counted if the whole answer has arrived by then", async () => {
    let leaving: (() => void) | null = null;
    silent.perform(async (call) => {
      await call.gate();
      await healthy("Alpha")(call);
    });
    // Before the gateway watches its clients, one that has left is noticed when the answer is there.
    const client = await postRawChat(gateway, { model: "acme/alone", messages, max_tokens: 50 });
    leaving = () => client.disconnect();
    const call = await silent.call(0);
    await call.atGate;
    leaving();
    await turnEventLoop(20);
    call.openGate();
    const id = await waitFor(
      () =>
        gateway.log.find(({ fields }) => fields["outcome"] !== undefined)?.fields["generation_id"] ?? null,
    );
    expect(await fetchRecord(gateway, String(id))).toMatchObject({
      outcome: "cancelled",
      tokens_prompt: 10,
      tokens_completion: 5,
      total_cost_nanodollars: 15_000,
    });
  });
});
