import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, MESSAGES, type ProfileSite, RESPONSES, startProfileSite } from "./sites/profile-site.ts";

const FIELDS = "prompt_cache_key prompt_cache_retention safety_identifier store service_tier".replaceAll(
  " ",
  ", ",
);

let site: ProfileSite;
beforeAll(async () => {
  const hosts = ["openai", "groq", "cerebras", "mistral", "codestral", "xai", "togetherai", "fireworks"];
  const rows = hosts.map(
    (slug) =>
      `  ${slug}: { base_url: "{vendor}", api_keys: [sk-test-${slug}-0001], send: { fields: [${FIELDS}] } }`,
  );
  site = await startProfileSite(`providers:\n${rows.join("\n")}\n`);
});
afterAll(() => site.stop());

const at = (host: string) => ({ provider: { only: [host] } });

describe("an effort that a host does not take of any model", () => {
  test.each([
    ["cerebras", "google/gemma-4-31b-it", undefined],
    ["groq", "openai/gpt-oss-120b", "low"],
  ])("is replaced at %s, and named", async (host, model, effort) => {
    const { status, sent, named } = await site.ask(CHAT, model, { reasoning_effort: "minimal", ...at(host) });
    expect([status, sent["reasoning_effort"]]).toEqual([200, effort]);
    expect(named).toContain("reasoning");
  });
});

describe("names of messages at Mistral", () => {
  const call = { id: "abc123XYZ", type: "function", function: { name: "look", arguments: "{}" } };
  const messages = [
    { role: "user", content: "Hello!", name: "ada" },
    { role: "assistant", content: "", tool_calls: [call] },
    { role: "tool", tool_call_id: "abc123XYZ", content: "Rain", name: "look" },
  ];
  const tools = [
    { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } },
  ];

  test("arrive with results, and are left out of other messages, and named", async () => {
    const { status, sent, named } = await site.ask(CHAT, "mistralai/mistral-small-2603", {
      messages,
      tools,
      ...at("mistral"),
    });
    expect(status).toBe(200);
    const [question, , result] = sent["messages"] as readonly Record<string, unknown>[];
    expect([question?.["name"], result?.["name"]]).toEqual([undefined, "look"]);
    expect(named).toContain("messages[0].name");
  });
});

test("a temperature above 1.5 is lowered for Codestral at its own address too", async () => {
  const { sent, named } = await site.ask(CHAT, "mistralai/codestral-2508", {
    temperature: 1.9,
    ...at("codestral"),
  });
  expect([sent["temperature"], named]).toEqual([1.5, ["temperature"]]);
});

test("a top_p of 1 arrives at Mistral beside a temperature of 0, which only forbids others", async () => {
  const { sent, named } = await site.ask(CHAT, "mistralai/codestral-2508", {
    temperature: 0,
    top_p: 1,
    ...at("mistral"),
  });
  expect([sent["top_p"], named]).toEqual([1, []]);
});

test.each([["xai", "x-ai/grok-4.20-0309-non-reasoning"]])(
  "a single stop text is sent as a list to %s, which takes only lists, without a warning",
  async (host, model) => {
    const { sent, named } = await site.ask(CHAT, model, { stop: "END", ...at(host) });
    expect([sent["stop"], named]).toEqual([["END"], []]);
  },
);

test("max_completion_tokens is sent to Together as max_tokens, the only name that it documents", async () => {
  const more = { max_completion_tokens: 78, ...at("togetherai") };
  const { sent } = await site.ask(CHAT, "deepseek/deepseek-v4-pro", more);
  expect([sent["max_tokens"], sent["max_completion_tokens"]]).toEqual([78, undefined]);
});

test("reasoning, annotations and cache marks of other hosts do not reach OpenAI's chats", async () => {
  const messages = [
    { role: "user", content: [{ type: "text", text: "Hello!", cache_control: { type: "ephemeral" } }] },
    { role: "assistant", content: "Yes?", reasoning: "Hm.", reasoning_content: "Hm.", annotations: [] },
    { role: "user", content: "Go on." },
  ];
  const { sent, named } = await site.ask(CHAT, "openai/gpt-4.1", { messages, ...at("openai") });
  expect(sent["messages"]).toEqual([
    { role: "user", content: [{ type: "text", text: "Hello!" }] },
    { role: "assistant", content: "Yes?" },
    { role: "user", content: "Go on." },
  ]);
  expect(named).toEqual(expect.arrayContaining(["cache_control", "messages[1].annotations"]));
});

test("a model newer than GPT-5.5 inherits that a cache in memory is not taken", async () => {
  const more = { prompt_cache_retention: "in_memory", ...at("openai") };
  const { sent, named } = await site.ask(CHAT, "openai/gpt-6-astra", more);
  expect(sent).not.toContainKey("prompt_cache_retention");
  expect(named).toContain("prompt_cache_retention");
});

test("a temperature is left out for a model that reasons although it is asked not to", async () => {
  const more = { temperature: 0.3, reasoning_effort: "none", ...at("openai") };
  const { sent, named } = await site.ask(CHAT, "openai/gpt-6-astra", more);
  expect(sent).not.toContainKey("temperature");
  expect(named).toContain("temperature");
});

test("fields that Groq's Responses API refuses are named in a request that is translated too", async () => {
  const more = {
    prompt_cache_key: "k",
    safety_identifier: "s",
    tools: [{ type: "custom", name: "patch" }],
    ...at("groq"),
  };
  const { status, sent, named } = await site.ask(RESPONSES, "openai/gpt-oss-120b", more);
  expect(status).toBe(200);
  expect(sent).not.toContainAnyKeys(["prompt_cache_key", "safety_identifier"]);
  expect(named).toEqual(expect.arrayContaining(["prompt_cache_key", "safety_identifier"]));
});

test("truncation arrives at Groq's Responses API, which documents it", async () => {
  const { sent, named } = await site.ask(RESPONSES, "openai/gpt-oss-120b", {
    truncation: "disabled",
    ...at("groq"),
  });
  expect([sent["truncation"], named]).toEqual(["disabled", []]);
});

test("thinking of a model that is not Claude is asked for without a display, which its host does not document", async () => {
  const more = { thinking: { type: "enabled", budget_tokens: 2000 }, max_tokens: 3000, ...at("fireworks") };
  const { sent } = await site.ask(MESSAGES, "deepseek/deepseek-v4-flash", more);
  expect(sent["thinking"]).toEqual({ type: "adaptive" });
});
