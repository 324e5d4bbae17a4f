import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, type Fields, type ProfileSite, RESPONSES, startProfileSite } from "./sites/profile-site.ts";

const HOSTS = `
providers:
  mine:
    base_url: "{vendor}"
    models: [{ id: mine/model, prices: { prompt: "0.000001", completion: "0.000001" } }]
`;

const MORE_HOSTS = Object.fromEntries(
  ["NVIDIA", "SILICONFLOW", "XIAOMI"].flatMap((name) => [
    [`${name}_API_KEY`, `sk-test-${name.toLowerCase()}-0001`],
    [`${name}_BASE_URL`, "{vendor}"],
  ]),
);

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(HOSTS, MORE_HOSTS);
});
afterAll(() => site.stop());

const USER = { role: "user", content: "Go" };
const CALL = { id: "call_1", type: "function", function: { name: "read", arguments: "{}" } };
const RESULT = { role: "tool", tool_call_id: "call_1", content: "done" };
const TOOLS = [
  { type: "function", function: { name: "read", parameters: { type: "object", properties: {} } } },
];

const at = (provider: string) => ({ provider: { only: [provider] } });
const messagesIn = ({ sent }: { readonly sent: Fields }) => sent["messages"] as Fields[];

describe("the role developer of a chat client", () => {
  const messages = [{ role: "developer", content: "RULES" }, USER];

  test.each([
    ["mine/model", "mine"],
    ["deepseek/deepseek-v4-pro", "deepseek"],
    ["openai/gpt-oss-120b", "fireworks"],
  ])("is system at hosts that do not know it: %s at %s", async (model, provider) => {
    const asked = await site.ask(CHAT, model, { messages, ...at(provider) });
    expect(messagesIn(asked)[0]).toEqual({ role: "system", content: "RULES" });
  });

  test("is kept at OpenAI", async () => {
    const asked = await site.ask(CHAT, "openai/gpt-4.1", { messages });
    expect(messagesIn(asked)).toEqual(messages);
  });

  test("is system for a Responses client of a chat host too", async () => {
    const asked = await site.ask(RESPONSES, "mine/model", { input: messages });
    expect(messagesIn(asked).map(({ role }) => role)).toEqual(["system", "user"]);
  });
});

describe("reasoning of an earlier turn", () => {
  const SPELLINGS = {
    reasoning: "thought",
    reasoning_content: "thought",
    reasoning_details: [{ type: "reasoning.text", text: "thought", format: "unknown", index: 0 }],
  };

  test.each([
    ["groq", "reasoning"],
    ["cerebras", "reasoning"],
    ["fireworks", "reasoning_content"],
  ])(
    "reaches %s in the one field that it reads, %s, in whichever the client sends it",
    async (provider, field) => {
      for (const sentIn of [["reasoning"], ["reasoning_content"], Object.keys(SPELLINGS)]) {
        const fields = Object.fromEntries(
          Object.entries(SPELLINGS).filter(([name]) => sentIn.includes(name)),
        );
        const turn = { role: "assistant", content: null, tool_calls: [CALL], ...fields };
        const asked = await site.ask(CHAT, "openai/gpt-oss-120b", {
          tools: TOOLS,
          messages: [USER, turn, RESULT],
          ...at(provider),
        });
        expect(asked.status).toBe(200);
        expect(messagesIn(asked)[1]).toEqual({
          role: "assistant",
          content: null,
          tool_calls: [CALL],
          [field]: "thought",
        });
      }
    },
  );

  test("is kept as the client sent it if nothing is known about the host", async () => {
    const turn = { role: "assistant", content: null, tool_calls: [CALL], ...SPELLINGS };
    const asked = await site.ask(CHAT, "mine/model", { tools: TOOLS, messages: [USER, turn, RESULT] });
    expect(messagesIn(asked)[1]).toEqual(turn);
  });

  test.each([
    ["deepseek/deepseek-v4-pro", "deepseek"],
    ["moonshotai/kimi-k2.6", "moonshotai"],
    ["deepseek/deepseek-v4-flash", "nvidia"],
    ["moonshotai/kimi-k2.6", "siliconflow"],
    ["xiaomi/mimo-v2.5-pro", "xiaomi"],
  ])(
    "is blank for %s at %s, which rejects calls without any, and the other messages keep their bytes",
    async (model, provider) => {
      const answer = { role: "assistant", content: "It is done." };
      const turn = { role: "assistant", content: null, tool_calls: [CALL] };
      const asked = await site.ask(CHAT, model, {
        tools: TOOLS,
        messages: [USER, turn, RESULT, answer, USER],
        ...at(provider),
      });
      expect(messagesIn(asked)).toEqual([USER, { ...turn, reasoning_content: " " }, RESULT, answer, USER]);
    },
  );

  test("is not made up for a model that does without it at a host where others need it", async () => {
    const turn = { role: "assistant", content: null, tool_calls: [CALL] };
    const asked = await site.ask(CHAT, "qwen/qwen3-32b", {
      tools: TOOLS,
      messages: [USER, turn, RESULT],
      ...at("siliconflow"),
    });
    expect(messagesIn(asked)[1]).toEqual(turn);
  });

  test("is the same in each turn, so that the conversation before it stays as it was", async () => {
    const turn = { role: "assistant", content: null, tool_calls: [CALL], ...SPELLINGS };
    const history = [USER, turn, RESULT, turn, RESULT, USER];
    let before: Fields[] = [];
    for (let length = 1; length <= history.length; length++) {
      if (history[length - 1] === turn) continue;
      const asked = await site.ask(CHAT, "openai/gpt-oss-120b", {
        tools: TOOLS,
        messages: history.slice(0, length),
        ...at("groq"),
      });
      expect(messagesIn(asked).slice(0, before.length)).toEqual(before);
      before = messagesIn(asked);
    }
  });
});

describe("what a chat host rejects in messages", () => {
  const mark = { cache_control: { type: "ephemeral" } };

  test("is left out of contents and tools, and named", async () => {
    const asked = await site.ask(CHAT, "openai/gpt-oss-120b", {
      ...at("groq"),
      tools: TOOLS.map((tool) => ({ ...tool, ...mark })),
      messages: [
        { role: "system", content: [{ type: "text", text: "rules", ...mark }] },
        { ...USER, name: "ada" },
      ],
    });
    expect(asked.status).toBe(200);
    expect(JSON.stringify(asked.sent)).not.toContain("cache_control");
    expect(messagesIn(asked)[1]).toEqual(USER);
    expect(asked.named).toEqual(["messages[1].name", "cache_control"]);
  });

  test("is sent to a host that takes it", async () => {
    const messages = [{ ...USER, name: "ada" }];
    const asked = await site.ask(CHAT, "openai/gpt-4.1", { messages });
    expect([messagesIn(asked), asked.named]).toEqual([messages, []]);
  });
});
