import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

/* Parameters for reasoning and verbosity, of clients and of tiers, as the hosts of the catalog receive them. */

let vendor: RecordingVendor;
let gateway: TestGateway;

/** The environment variables of the providers, each of which is the simulated vendor. */
const VARIABLES: Readonly<Record<string, string>> = {
  alibaba: "DASHSCOPE",
  mistral: "MISTRAL",
  groq: "GROQ",
  zai: "ZAI",
  moonshotai: "MOONSHOT",
  deepseek: "DEEPSEEK",
  xai: "XAI",
  openai: "OPENAI",
  togetherai: "TOGETHER",
  openrouter: "OPENROUTER",
};

const keysOf = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => [
      [`${name}_API_KEY`, "sk-test-0001"],
      [`${name}_BASE_URL`, vendor.baseUrl],
    ]),
  );

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({ environment: keysOf(Object.values(VARIABLES)) });
});
beforeEach(() => vendor.reset(answerAnyFormat));
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

type Body = Readonly<Record<string, unknown>>;

/**
 * Sends a request and returns the fields that the vendor receives besides the conversation, and the fields with
 * a warning.
 */
async function send(model: string, provider: string, more: Body, at = gateway) {
  const response = await fetch(`${at.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${at.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model,
      messages: [{ role: "user", content: "x" }],
      provider: { only: [provider] },
      ...more,
    }),
  });
  const answer = (await response.json()) as { gateway_metadata?: { warnings?: { field: string }[] } };
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  const { model: _, messages: __, ...sent } = JSON.parse(vendor.last().text) as Body;
  return { sent, warned: (answer.gateway_metadata?.warnings ?? []).map(({ field }) => field) };
}

const ON = { reasoning: { enabled: true } };
const OFF = { reasoning: { enabled: false } };
const LOW = { reasoning: { effort: "low" } };

describe("the reasoning parameters of a chat client", () => {
  test.each<[string, string, Body, Body, Body]>([
    [
      "qwen/qwen3.7-plus",
      "alibaba",
      { enable_thinking: true },
      { enable_thinking: false },
      { enable_thinking: true, thinking_budget: 4_096 },
    ],
    [
      "mistralai/mistral-small-2603",
      "mistral",
      { reasoning_effort: "high" },
      { reasoning_effort: "none" },
      { reasoning_effort: "none" },
    ],
    [
      "openai/gpt-oss-120b",
      "groq",
      { reasoning_effort: "medium" },
      { reasoning_effort: "low" },
      { reasoning_effort: "low" },
    ],
    [
      "qwen/qwen3-32b",
      "groq",
      { reasoning_effort: "default" },
      { reasoning_effort: "none" },
      { reasoning_effort: "default" },
    ],
    [
      "z-ai/glm-5.1",
      "zai",
      { thinking: { type: "enabled" } },
      { thinking: { type: "disabled" } },
      { thinking: { type: "enabled" } },
    ],
    [
      "moonshotai/kimi-k2.6",
      "moonshotai",
      { thinking: { type: "enabled" } },
      { thinking: { type: "disabled" } },
      { thinking: { type: "enabled" } },
    ],
    [
      "deepseek/deepseek-v4-pro",
      "deepseek",
      { thinking: { type: "enabled" } },
      { thinking: { type: "disabled" } },
      { thinking: { type: "enabled" }, reasoning_effort: "high" },
    ],
    [
      "x-ai/grok-4.3",
      "xai",
      { reasoning_effort: "medium" },
      { reasoning_effort: "none" },
      { reasoning_effort: "low" },
    ],
    [
      "openai/gpt-5.1",
      "openai",
      { reasoning_effort: "medium" },
      { reasoning_effort: "none" },
      { reasoning_effort: "low" },
    ],
    ["moonshotai/kimi-k2.6", "togetherai", ON, OFF, ON],
    ["z-ai/glm-5.1", "openrouter", ON, OFF, LOW],
  ])("are encoded for their host: %s at %s", async (model, provider, on, off, low) => {
    expect((await send(model, provider, ON)).sent).toEqual(on);
    expect((await send(model, provider, OFF)).sent).toEqual(off);
    expect((await send(model, provider, LOW)).sent).toEqual(low);
  });

  test("are dropped with a warning if the host has no equivalent", async () => {
    expect(await send("openai/gpt-5", "openai", OFF)).toEqual({
      sent: { reasoning_effort: "minimal" },
      warned: ["reasoning"],
    });
    expect(await send("moonshotai/kimi-k2-thinking", "moonshotai", OFF)).toEqual({
      sent: {},
      warned: ["reasoning"],
    });
    expect(await send("meta-llama/llama-3.3-70b-instruct", "groq", ON)).toEqual({
      sent: {},
      warned: ["reasoning"],
    });
  });

  test("are forwarded unchanged if they are the host's own fields", async () => {
    const own = { enable_thinking: true, thinking_budget: 100 };
    expect((await send("qwen/qwen3.7-plus", "alibaba", own)).sent).toEqual(own);
    expect((await send("openai/gpt-5.1", "openai", { reasoning_effort: "high" })).sent).toEqual({
      reasoning_effort: "high",
    });
  });

  test("take precedence over the host's own fields in the same request", async () => {
    const both = { enable_thinking: true, ...OFF };
    expect((await send("qwen/qwen3.7-plus", "alibaba", both)).sent).toEqual({ enable_thinking: false });
  });
});

describe("a tier", () => {
  test.each<[string, string, Body]>([
    ["DASHSCOPE", "alibaba", { enable_thinking: true }],
    ["XAI", "xai", { reasoning_effort: "medium" }],
    ["MOONSHOT", "moonshotai", { thinking: { type: "enabled" } }],
    ["ZAI", "zai", { reasoning_effort: "high" }],
    ["DEEPSEEK", "deepseek", { thinking: { type: "enabled" } }],
    ["GROQ", "groq", { reasoning_effort: "medium" }],
    ["OPENROUTER", "openrouter", { reasoning: { enabled: true } }],
  ])(
    "that requires reasoning turns it on in chat completions at every provider: %s",
    async (variable, provider, sent) => {
      const at = await startTestGateway({ environment: keysOf([variable]) });
      expect((await send("gateway-auto/balanced", provider, {}, at)).sent).toEqual(sent);
      await at.stop();
    },
  );

  test("sets verbosity at every host that supports it, and a warning says if a host does not", async () => {
    const at = await startTestGateway({ environment: keysOf(["OPENROUTER"]) });
    const routed = await send("gateway-auto/frontier", "openrouter", {}, at);
    expect(routed.sent).toEqual({ reasoning: { enabled: true, effort: "medium" }, verbosity: "medium" });
    expect(routed.warned).toEqual([]);
    await at.stop();
    const other = await startTestGateway({ environment: keysOf(["DASHSCOPE"]) });
    const dropped = await send("gateway-auto/frontier", "alibaba", { verbosity: "low" }, other);
    expect(dropped.sent).not.toHaveProperty("verbosity");
    expect(dropped.warned).toContain("verbosity");
    await other.stop();
  });
});
