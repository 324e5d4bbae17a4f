import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { answerAnyFormat } from "../support/answer-any-format.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/recording-vendor.ts";

/* Wishes for reasoning and verbosity, of clients and of tiers, as they reach the hosts of the catalog. */

let vendor: RecordingVendor;
let gateway: TestGateway;

/** Each of these providers is the simulated vendor. */
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

/** What the vendor is told beside the conversation, and what the client is warned of. */
async function tell(model: string, provider: string, more: Body, at = gateway) {
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
  const { model: _, messages: __, ...said } = JSON.parse(vendor.last().text) as Body;
  return { said, warned: (answer.gateway_metadata?.warnings ?? []).map(({ field }) => field) };
}

const ON = { reasoning: { enabled: true } };
const OFF = { reasoning: { enabled: false } };
const LOW = { reasoning: { effort: "low" } };

describe("reasoning that a chat client switches", () => {
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
  ])("is said in the words of its host: %s at %s", async (model, provider, on, off, low) => {
    expect((await tell(model, provider, ON)).said).toEqual(on);
    expect((await tell(model, provider, OFF)).said).toEqual(off);
    expect((await tell(model, provider, LOW)).said).toEqual(low);
  });

  test("is named where it cannot be said", async () => {
    expect(await tell("openai/gpt-5", "openai", OFF)).toEqual({
      said: { reasoning_effort: "minimal" },
      warned: ["reasoning"],
    });
    expect(await tell("moonshotai/kimi-k2-thinking", "moonshotai", OFF)).toEqual({
      said: {},
      warned: ["reasoning"],
    });
    expect(await tell("meta-llama/llama-3.3-70b-instruct", "groq", ON)).toEqual({
      said: {},
      warned: ["reasoning"],
    });
  });

  test("is not respelled where the client speaks the host's own words", async () => {
    const own = { enable_thinking: true, thinking_budget: 100 };
    expect((await tell("qwen/qwen3.7-plus", "alibaba", own)).said).toEqual(own);
    expect((await tell("openai/gpt-5.1", "openai", { reasoning_effort: "xhigh" })).said).toEqual({
      reasoning_effort: "xhigh",
    });
  });

  test("counts over the host's own words where a client says both", async () => {
    const both = { enable_thinking: true, ...OFF };
    expect((await tell("qwen/qwen3.7-plus", "alibaba", both)).said).toEqual({ enable_thinking: false });
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
    "that wants reasoning has it switched on over chat, whoever serves it: %s",
    async (variable, provider, said) => {
      const at = await startTestGateway({ environment: keysOf([variable]) });
      expect((await tell("gateway-auto/balanced", provider, {}, at)).said).toEqual(said);
      await at.stop();
    },
  );

  test("says its verbosity to every host that takes one, and the answer says where it could not", async () => {
    const at = await startTestGateway({ environment: keysOf(["OPENROUTER"]) });
    const routed = await tell("gateway-auto/frontier", "openrouter", {}, at);
    expect(routed.said).toEqual({ reasoning: { enabled: true, effort: "medium" }, verbosity: "medium" });
    expect(routed.warned).toEqual([]);
    await at.stop();
    const other = await startTestGateway({ environment: keysOf(["DASHSCOPE"]) });
    const unsaid = await tell("gateway-auto/frontier", "alibaba", {}, other);
    expect(unsaid.said).not.toHaveProperty("verbosity");
    expect(unsaid.warned).toContain("verbosity");
    await other.stop();
  });
});
