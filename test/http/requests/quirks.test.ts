import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  const at = `{ base_url: "${vendor.baseUrl}", api_keys: [vendor-key] }`;
  gateway = await startTestGateway({ yaml: `providers: { openai: ${at}, deepseek: ${at} }\n` });
});
beforeEach(() => vendor.reset());
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

const messages = [{ role: "user", content: "x" }];

/** Sends a request and returns what the vendor received, and the warnings of the response. */
async function exchange(body: Readonly<Record<string, unknown>>) {
  const response = await postChat(gateway, body);
  const answer = (await response.json()) as { gateway_metadata?: { warnings?: { field: string }[] } };
  expect(response.status).toBe(200);
  return { sent: JSON.parse(vendor.last().text), warned: answer.gateway_metadata?.warnings };
}

describe("OpenAI, which rejects unknown fields", () => {
  test("gets no field that is known to be invalid there, and a warning names each", async () => {
    const { sent, warned } = await exchange({
      model: "openai/gpt-4o-mini",
      reasoningEffort: "high",
      messages,
      description: "a model",
      brand_new: true,
      top_k: 5,
    });
    expect(sent).toEqual({ model: "gpt-4o-mini", messages });
    expect(warned?.map(({ field }) => field)).toEqual([
      "reasoningEffort",
      "description",
      "top_k",
      "brand_new",
    ]);
  });

  test("gets the reasoning effort in its own field", async () => {
    const { sent, warned } = await exchange({
      model: "openai/gpt-5-mini",
      messages,
      reasoning: { effort: "low", exclude: true },
    });
    expect(sent).toEqual({ model: "gpt-5-mini", messages, reasoning_effort: "low" });
    expect(warned).toBeUndefined();
    const both = await exchange({
      model: "openai/gpt-5-mini",
      reasoning: { effort: "low" },
      reasoning_effort: "high",
      messages,
    });
    expect(both.sent).toEqual({ model: "gpt-5-mini", messages, reasoning_effort: "high" });
  });

  test("gets tools and the reasoning effort together for a model that takes both", async () => {
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const { sent, warned } = await exchange({
      model: "openai/gpt-5-mini",
      messages,
      tools,
      reasoning: { effort: "low" },
      top_k: 5,
    });
    expect(sent).toMatchObject({ tools, reasoning_effort: "low" });
    expect(warned?.map(({ field }) => field)).toEqual(["top_k"]);
  });

  test("gets no reasoning effort for a model without reasoning, and a warning says so", async () => {
    const { sent, warned } = await exchange({
      model: "openai/gpt-4o-mini",
      messages,
      reasoning: { effort: "low" },
    });
    expect(sent).toEqual({ model: "gpt-4o-mini", messages });
    expect(warned?.map(({ field }) => field)).toEqual(["reasoning"]);
  });
});

describe("DeepSeek, which requires the reasoning of earlier turns", () => {
  const calls = [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }];
  const result = { role: "tool", tool_call_id: "call_1", content: "ok" };

  test.each([
    ["in the field `reasoning`", { reasoning: "hm" }, { reasoning_content: "hm" }],
    ["in both fields", { reasoning: "hm", reasoning_content: "own" }, { reasoning_content: "own" }],
    // The vendor rejects calls of earlier turns without reasoning, such as those of another model.
    ["in neither field", {}, { reasoning_content: " " }],
  ])("gets the reasoning that the client sends %s", async (_name, reasoning, expected) => {
    const { sent } = await exchange({
      model: "deepseek/deepseek-chat",
      messages: [...messages, { role: "assistant", content: "", ...reasoning, tool_calls: calls }, result],
    });
    expect(sent.messages[1]).toEqual({ role: "assistant", content: "", ...expected, tool_calls: calls });
  });

  test("gets the reasoning in a repaired history as well", async () => {
    const { sent } = await exchange({
      model: "deepseek/deepseek-chat",
      messages: [...messages, { role: "assistant", content: "", reasoning: "hm", tool_calls: calls }],
    });
    expect(sent.messages[1]).toMatchObject({ reasoning_content: "hm" });
    expect(sent.messages[2]).toMatchObject({ role: "tool", tool_call_id: "call_1" });
  });
});
