import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, MESSAGES, type ProfileSite, RESPONSES, startProfileSite } from "./sites/profile-site.ts";

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite();
});
afterAll(() => site.stop());

/** The effort that reached the vendor, in the field of any format. */
function effortIn(sent: Readonly<Record<string, unknown>>): unknown {
  const { reasoning, reasoning_effort, output_config } = sent as {
    reasoning?: { effort?: unknown };
    reasoning_effort?: unknown;
    output_config?: { effort?: unknown };
  };
  return reasoning_effort ?? reasoning?.effort ?? output_config?.effort;
}

describe("an effort that the model does not have", () => {
  test.each([
    ["openai/gpt-5.1", "max", "high"],
    ["openai/gpt-5.1", "minimal", "none"],
    ["openai/o3", "none", "low"],
    ["openai/o3", "xhigh", "high"],
    ["openai/gpt-5", "none", "minimal"],
  ])("becomes the nearest of %s in every client API, and is named: %s", async (model, asked, nearest) => {
    const chat = await site.ask(CHAT, model, { reasoning_effort: asked });
    expect([effortIn(chat.sent), chat.named]).toEqual([nearest, expect.arrayContaining(["reasoning"])]);
    const object = await site.ask(CHAT, model, { reasoning: { effort: asked } });
    expect([effortIn(object.sent), object.named]).toEqual([nearest, expect.arrayContaining(["reasoning"])]);
    const responses = await site.ask(RESPONSES, model, { reasoning: { effort: asked } });
    expect([effortIn(responses.sent), responses.named]).toEqual([
      nearest,
      expect.arrayContaining(["reasoning"]),
    ]);
  });

  test("is sent unchanged where the model has it, with the client's other fields", async () => {
    const { sent, named } = await site.ask(RESPONSES, "openai/gpt-5.1", {
      reasoning: { effort: "high", summary: "detailed" },
    });
    expect(sent["reasoning"]).toEqual({ effort: "high", summary: "detailed" });
    expect(named).toEqual([]);
  });

  test("is left out and named for a model that does not reason", async () => {
    const { sent, named } = await site.ask(CHAT, "openai/gpt-4.1", { reasoning_effort: "high" });
    expect(sent).not.toContainAnyKeys(["reasoning_effort", "reasoning"]);
    expect(named).toEqual(["reasoning"]);
  });
});

describe("a budget of thinking for a Claude that decides itself how long it thinks", () => {
  test.each([
    [2_000, "low"],
    [8_000, "medium"],
    [19_000, "high"],
  ])("becomes an effort, and is named: %d tokens", async (budget, effort) => {
    const adaptive = { thinking: { type: "adaptive" }, output_config: { effort } };
    const claude = "anthropic/claude-opus-4.7";
    const chat = await site.ask(CHAT, claude, { max_tokens: 20_000, reasoning: { max_tokens: budget } });
    expect(chat.sent).toMatchObject(adaptive);
    expect(chat.named).toEqual(["reasoning"]);
    const messages = await site.ask(MESSAGES, claude, {
      max_tokens: 20_000,
      thinking: { type: "enabled", budget_tokens: budget },
    });
    expect(messages.sent).toMatchObject(adaptive);
    expect((messages.sent["thinking"] as { budget_tokens?: number }).budget_tokens).toBeUndefined();
    expect(messages.named).toEqual(["reasoning"]);
  });

  test("is sent as it is to a Claude that takes budgets", async () => {
    const thinking = { type: "enabled", budget_tokens: 2_000 };
    const { sent, named } = await site.ask(MESSAGES, "anthropic/claude-sonnet-4.5", {
      max_tokens: 4_000,
      thinking,
    });
    expect([sent["thinking"], named]).toEqual([thinking, []]);
  });

  test("is made of adaptive thinking for a Claude that only takes budgets", async () => {
    const { sent } = await site.ask(MESSAGES, "anthropic/claude-sonnet-4.5", {
      max_tokens: 8_000,
      thinking: { type: "adaptive" },
    });
    expect(sent["thinking"]).toEqual({ type: "enabled", budget_tokens: 4_000 });
  });
});

const TOOL = { type: "object", properties: {} };
const FUNCTION = { type: "function", function: { name: "look", parameters: TOOL } };

describe("a tool that must be called by a model that cannot reason then", () => {
  test.each([
    ["deepseek/deepseek-v4-pro", "deepseek"],
    ["moonshotai/kimi-k2.6", "moonshotai"],
  ])("is called without reasoning: %s", async (model, provider) => {
    const forced = { tools: [FUNCTION], tool_choice: "required", provider: { only: [provider] } };
    const { status, sent, named } = await site.ask(CHAT, model, forced);
    expect(status).toBe(200);
    expect(sent).toMatchObject({ thinking: { type: "disabled" }, tool_choice: "required" });
    expect(named).toEqual([]);
    const reasoning = await site.ask(CHAT, model, { ...forced, reasoning: { effort: "high" } });
    expect(reasoning.sent).toMatchObject({ thinking: { type: "disabled" }, tool_choice: "required" });
    expect(reasoning.named).toEqual(["reasoning"]);
  });

  test("is called without reasoning in Messages too", async () => {
    const { sent } = await site.ask(MESSAGES, "deepseek/deepseek-v4-pro", {
      provider: { only: ["deepseek"] },
      tools: [{ name: "look", input_schema: TOOL }],
      tool_choice: { type: "tool", name: "look" },
    });
    expect(sent).toMatchObject({ thinking: { type: "disabled" } });
  });

  test("leaves the reasoning to the model where it may choose", async () => {
    const { sent } = await site.ask(CHAT, "deepseek/deepseek-v4-pro", {
      provider: { only: ["deepseek"] },
      tools: [FUNCTION],
      tool_choice: "auto",
    });
    expect(sent).not.toContainKey("thinking");
  });
});
