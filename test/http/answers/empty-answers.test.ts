import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { turnEventLoop } from "../../support/event-loop.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createTestHealth } from "../../support/gateway/test-health.ts";
import { chatScript } from "../../support/vendors/scripts/chat-script.ts";
import { geminiScript } from "../../support/vendors/scripts/gemini-script.ts";
import {
  chunkOf,
  documentOf,
  healthy,
  type Play,
  startVendor,
  USAGE,
  type Vendor,
} from "../../support/vendors/vendor.ts";

let first: Vendor;
let second: Vendor;
let third: Vendor;
let gateway: TestGateway;
const testHealth = createTestHealth();

beforeAll(async () => {
  [first, second, third] = [startVendor(), startVendor(), startVendor()];
  const serve = (vendor: Vendor, id: string, price: number, more = "") =>
    `{base_url: "${vendor.baseUrl}", api_keys: [sk-one-0123456789, sk-two-0123456789]${more}, models: [{id: ${id}, name: up, prices: {prompt: "0.00000${price}", completion: "0.00000${price}"}}]}`;
  gateway = await startTestGateway({
    repeats: 0,
    health: testHealth.health,
    yaml: `
providers:
  first: ${serve(first, "acme/model", 1)}
  second: ${serve(second, "acme/model", 2)}
  third: ${serve(third, "acme/model", 3)}
  gemini-host: ${serve(first, "acme/gemini", 1, ", format: gemini")}
  stand-in: ${serve(second, "acme/gemini", 2)}
  claude-host: ${serve(first, "acme/claude", 1, ", format: anthropic-messages")}
  claude-stand-in: ${serve(second, "acme/claude", 2)}
  codestral: {base_url: "${first.baseUrl}", api_keys: [sk-code-0123456789]}
  mistral: {base_url: "${second.baseUrl}", api_keys: [sk-code-0123456789]}`,
  });
});
afterAll(() => Promise.all([gateway.stop(), first.stop(), second.stop(), third.stop()]));
beforeEach(() => {
  testHealth.reset();
  first.perform(emptyStream);
  second.perform(healthy("Beta"));
  third.perform(healthy("Gamma"));
});

/** Finishes normally without any text. The vendor counts the token that ends the answer. */
const emptyStream: Play = async (call) => {
  const usage = { ...USAGE, completion_tokens: 1, total_tokens: 11 };
  if (!call.isStream) return call.respond(200, documentOf("", { usage }));
  await call.begin();
  const start = chunkOf({ role: "assistant", content: "" });
  await call.events(start, chunkOf({}, "stop"), { ...chunkOf({}), choices: [], usage }, "[DONE]");
  await call.end();
};

const rejectWith =
  (status: number): Play =>
  (call) =>
    call.respond(status, { error: { message: "No.", code: status } });

async function ask(more: object = {}, path = "/chat/completions") {
  const provider = { order: ["first", "second", "third", "gemini-host", "stand-in", "claude-host"] };
  const body = { model: "acme/model", messages: [{ role: "user", content: "Hello!" }], provider, ...more };
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const id = response.headers.get("x-gateway-generation-id");
  const headers = { authorization: `Bearer ${gateway.key}` };
  const record = await (await fetch(`${gateway.base}/generation?id=${id}`, { headers })).json();
  return { response, text, record: (record as { data: Record<string, unknown> }).data };
}

const attemptsOf = (record: Record<string, unknown>) =>
  (record["attempts"] as Record<string, unknown>[]).map((attempt) => [
    attempt["provider_name"],
    attempt["error_type"],
  ]);

describe.each([
  ["streamed", true],
  ["not streamed", false],
])("an empty answer, %s,", (_, stream) => {
  test("makes the gateway try the next candidate, and only that answer is charged", async () => {
    const { response, text, record } = await ask({ stream });
    expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "second"]);
    expect(text).toContain("Beta one");
    expect(attemptsOf(record)).toEqual([
      ["first", "empty_answer"],
      ["second", null],
    ]);
    const { prompt_tokens, completion_tokens } = USAGE;
    expect(record["total_cost_nanodollars"]).toBe((prompt_tokens + completion_tokens) * 2_000);
    if (stream) expect(text.match(/"role":"assistant"/g)).toHaveLength(1);
  });

  test("is forwarded if the next candidate fails, at the price of the vendor that gave it", async () => {
    for (const status of [503, 400]) {
      second.perform(rejectWith(status));
      third.perform(rejectWith(status));
      const { response, text, record } = await ask({ stream });
      expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "first"]);
      expect(text).toContain('"finish_reason":"stop"');
      expect(attemptsOf(record)[0]).toEqual(["first", "empty_answer"]);
      expect(record).toMatchObject({ outcome: "completed", provider_name: "first", tokens_prompt: 10 });
      expect(record["total_cost_nanodollars"]).toBe(11 * 1_000);
    }
  });

  test("is accepted if the next candidate gives an empty answer too", async () => {
    second.perform(emptyStream);
    const { response, text } = await ask({ stream });
    expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "second"]);
    expect(text).toContain('"finish_reason":"stop"');
    expect([first.calls.length, second.calls.length, third.calls.length]).toEqual([1, 1, 0]);
  });

  test("is forwarded if no other candidate is allowed", async () => {
    const { response, text, record } = await ask({ stream, provider: { only: ["first"] } });
    expect(response.status).toBe(200);
    expect(text).toContain('"finish_reason":"stop"');
    expect(first.calls).toHaveLength(1);
    expect(record).toMatchObject({ outcome: "completed", tokens_completion: 1 });
  });

  test("from Gemini after a tool result makes the gateway try the next candidate", async () => {
    first.perform(async (call) => {
      if (!stream) return call.respond(200, geminiScript.emptyDocument());
      await call.begin();
      await call.piece(geminiScript.emptyStream());
      await call.end();
    });
    const calls = [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }];
    const messages = [
      { role: "user", content: "Look!" },
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "call_1", content: "The sea." },
    ];
    const { response, text } = await ask({ model: "acme/gemini", stream, messages });
    expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "stand-in"]);
    expect(text).toContain("Beta one");
  });

  test("to a fill-in-the-middle request is forwarded without trying another candidate", async () => {
    const { response } = await ask(
      { model: "mistralai/codestral-latest", prompt: "def f():", messages: undefined, stream },
      "/fim/completions",
    );
    expect([response.status, second.calls.length]).toEqual([200, 0]);
  });

  test("whose finish reason is not `stop` is forwarded", async () => {
    first.perform(async (call) => {
      const refused = documentOf("", { usage: USAGE });
      const choices = refused.choices.map((choice) => ({ ...choice, finish_reason: "content_filter" }));
      if (!call.isStream) return call.respond(200, { ...refused, choices });
      await call.begin();
      await call.events(chunkOf({ role: "assistant", content: "" }));
      await call.piece(chatScript.close("refusal"));
      await call.end();
    });
    const { text } = await ask({ stream });
    expect(text).toContain('"finish_reason":"content_filter"');
    expect(second.calls).toHaveLength(0);
  });
});

test("an answer with an image and no text is not empty", async () => {
  const images = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
  first.perform((call) => {
    const document = documentOf("", {});
    const choices = document.choices.map((choice) => ({ ...choice, message: { ...choice.message, images } }));
    return call.respond(200, { ...document, choices });
  });
  const { response, text } = await ask();
  expect(response.headers.get("x-gateway-provider")).toBe("first");
  expect(text).toContain("data:image/png;base64,AAAA");
});

test("an answer of a Messages host that prints its events with spaces, as Python does, is not empty", async () => {
  first.perform(async (call) => {
    const begin =
      '{"id": "msg_1", "type": "message", "role": "assistant", "model": "up", "content": [], "usage": {"input_tokens": 10, "output_tokens": 1}}';
    const events = [
      ["message_start", `"message": ${begin}`],
      ["content_block_start", '"index": 0, "content_block": {"type": "text", "text": ""}'],
      ["content_block_delta", '"index": 0, "delta": {"type": "text_delta", "text": "Hello, you."}'],
      ["content_block_stop", '"index": 0'],
      ["message_delta", '"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}'],
      ["message_stop", '"index": 0'],
    ];
    await call.begin();
    for (const [type, fields] of events)
      await call.piece(`event: ${type}\ndata: {"type": "${type}", ${fields}}\n\n`);
    await call.end();
  });
  const { response, text, record } = await ask(
    { model: "acme/claude", max_tokens: 100, stream: true },
    "/messages",
  );
  expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "claude-host"]);
  expect(text).toContain("Hello, you.");
  expect(attemptsOf(record)).toEqual([["claude-host", null]]);
});

test("a first chunk with only empty fields does not begin the stream, so that the next candidate can be tried", async () => {
  first.perform(async (call) => {
    await call.begin();
    const start = { role: "assistant", content: "", annotations: [], audio: null, refusal: "", index: 0 };
    await call.events(chunkOf(start));
    await call.gate();
    await call.events({ error: { message: "The engine crashed.", code: 500 } });
    await call.end();
  });
  const asked = ask({ stream: true });
  const call = await first.call(0);
  await call.atGate;
  // Enough turns for the chunk to reach the gateway, and for a stream to begin.
  await turnEventLoop();
  call.openGate();
  const { response } = await asked;
  expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "second"]);
});
