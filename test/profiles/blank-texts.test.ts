import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  BEDROCK_AND_COHERE,
  CHAT,
  type Fields,
  MESSAGES,
  type ProfileSite,
  RESPONSES,
  startProfileSite,
} from "./sites/profile-site.ts";

/** Claude and Gemini at a chat host and a Responses host, where their vendors see the texts too. */
const HOSTS = `
providers:
  relay:
    base_url: "{vendor}"
    models:
      - { id: anthropic/claude-relayed, prices: { prompt: "0.000001", completion: "0.000001" } }
      - { id: google/gemini-relayed, prices: { prompt: "0.000001", completion: "0.000001" } }
  responder:
    base_url: "{vendor}"
    format: openai-responses
    models: [{ id: anthropic/claude-responding, prices: { prompt: "0.000001", completion: "0.000001" } }]
`;

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(HOSTS, BEDROCK_AND_COHERE);
});
afterAll(() => site.stop());

const at = (provider: string) => ({ provider: { only: [provider] } });
const CLAUDE = ["anthropic/claude-opus-4.8", at("anthropic")] as const;
const REJECTING = [
  CLAUDE,
  ["anthropic/claude-sonnet-4.5", at("amazon-bedrock")],
  ["cohere/command-a", at("cohere")],
  ["anthropic/claude-relayed", {}],
  ["anthropic/claude-responding", {}],
] as const;

const EMPTY = ["", [], "part", "  \n"] as const;

/** The content in a client API's form; `part` is a list with an empty text. */
function contentIn(name: string, content: (typeof EMPTY)[number]): unknown {
  if (content !== "part") return content;
  return [{ type: name === RESPONSES.name ? "input_text" : "text", text: "" }];
}

const turnsIn = (name: string, messages: readonly Fields[]): Fields =>
  name === RESPONSES.name ? { input: messages } : { messages };

const conversationOf = ({ messages, contents, input }: Fields) =>
  (messages ?? contents ?? input) as readonly Fields[];

describe.each([CHAT, RESPONSES, MESSAGES])("a user's message without a word, of $name", (api) => {
  test.each(REJECTING)(
    "is rejected before any call if it is the last one, for %s, which takes none",
    async (model, more) => {
      for (const empty of EMPTY) {
        const content = contentIn(api.name, empty);
        for (const before of [
          [],
          [
            { role: "user", content: "Hi" },
            { role: "assistant", content: "Hello" },
          ],
        ]) {
          const turns = turnsIn(api.name, [...before, { role: "user", content }]);
          const { status, text, sent } = await site.ask(api, model, { ...more, ...turns });
          expect([status, sent]).toEqual([400, {}]);
          expect(text).toContain(`messages[${before.length}].content must not be empty`);
        }
      }
    },
  );

  test.each(REJECTING)(
    "keeps its place between two answers, for %s, with a text that is named",
    async (model, more) => {
      for (const empty of EMPTY) {
        const turns = turnsIn(api.name, [
          { role: "user", content: "Hi" },
          { role: "assistant", content: "Hello" },
          { role: "user", content: contentIn(api.name, empty) },
          { role: "assistant", content: "Yes?" },
          { role: "user", content: "Go" },
        ]);
        const { status, sent, named } = await site.ask(api, model, { ...more, ...turns });
        expect(status).toBe(200);
        expect(conversationOf(sent).map(({ role }) => role)).toEqual([
          "user",
          "assistant",
          "user",
          "assistant",
          "user",
        ]);
        expect(JSON.stringify(conversationOf(sent)[2])).toContain("(empty message)");
        expect(named).toEqual(["messages[2].content"]);
      }
    },
  );

  test.each(["google/gemini-2.5-flash", "google/gemini-relayed"])(
    "is a space for %s, which takes no empty text",
    async (model) => {
      for (const empty of EMPTY.slice(0, 3)) {
        const turns = turnsIn(api.name, [{ role: "user", content: contentIn(api.name, empty as "") }]);
        const { status, sent, named } = await site.ask(api, model, turns);
        expect([status, named]).toEqual([200, []]);
        expect(JSON.stringify(conversationOf(sent))).toMatch(/"(text|content)":" "/);
      }
    },
  );

  test("is sent as it is to a model that takes it", async () => {
    const content = contentIn(api.name, "part");
    const turns = turnsIn(api.name, [{ role: "user", content }]);
    const { status, sent, named } = await site.ask(api, "openai/gpt-4.1", turns);
    expect([status, named]).toEqual([200, []]);
    if (api !== MESSAGES) expect(conversationOf(sent)).toEqual([{ role: "user", content }]);
  });
});

describe("a text without a word next to other content, for a Claude", () => {
  const image = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "aGk=" },
  };

  test("is left out, and its cache mark stays at the end", async () => {
    const mark = { cache_control: { type: "ephemeral" } };
    const { sent, named } = await site.ask(MESSAGES, CLAUDE[0], {
      ...CLAUDE[1],
      system: [
        { type: "text", text: "" },
        { type: "text", text: "base" },
      ],
      messages: [{ role: "user", content: [image, { type: "text", text: " ", ...mark }] }],
    });
    expect(sent["messages"]).toEqual([{ role: "user", content: [{ ...image, ...mark }] }]);
    expect(sent["system"]).toEqual([{ type: "text", text: "base" }]);
    expect(named).toEqual([]);
  });

  test("is left out of an answer and of a result, and a result that is an empty string stays", async () => {
    const use = (id: string) => ({ type: "tool_use", id, name: "read", input: {} });
    const { status, sent } = await site.ask(MESSAGES, CLAUDE[0], {
      ...CLAUDE[1],
      tools: [{ name: "read", input_schema: { type: "object" } }],
      messages: [
        { role: "user", content: "Go" },
        { role: "assistant", content: [{ type: "text", text: "" }, use("t1"), use("t2")] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t1",
              content: [
                { type: "text", text: "" },
                { type: "text", text: "done" },
              ],
            },
            { type: "tool_result", tool_use_id: "t2", content: "" },
            { type: "text", text: "" },
          ],
        },
      ],
    });
    expect(status).toBe(200);
    expect(conversationOf(sent).slice(1)).toEqual([
      { role: "assistant", content: [use("t1"), use("t2")] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "done" }] },
          { type: "tool_result", tool_use_id: "t2", content: "" },
        ],
      },
    ]);
  });

  test("in the results of a chat client is left out of results with several texts", async () => {
    const call = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } };
    const parts = [
      { type: "text", text: "" },
      { type: "text", text: "done" },
    ];
    const { sent } = await site.ask(CHAT, CLAUDE[0], {
      ...CLAUDE[1],
      messages: [
        { role: "user", content: "Go" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: parts },
      ],
    });
    expect(JSON.stringify(sent["messages"])).not.toContain('"text":""');
    expect(JSON.stringify(sent["messages"])).toContain("done");
  });
});

describe("a conversation that has nothing to answer", () => {
  const result = { role: "tool", tool_call_id: "gone", content: "done" };

  test.each([
    ["openai/gpt-4.1", "openai"],
    ["anthropic/claude-opus-4.8", "anthropic"],
    ["google/gemini-2.5-flash", "google"],
  ])("because its calls are not in it is rejected before any call, for %s", async (model, provider) => {
    for (const messages of [[result], [{ role: "system", content: "base" }, result]]) {
      const { status, text, sent } = await site.ask(CHAT, model, { messages, ...at(provider) });
      expect([status, sent]).toEqual([400, {}]);
      expect(text).toContain("messages has nothing to answer");
    }
  });

  test("is not one with a message of the user, from which such results are left out", async () => {
    const messages = [{ role: "user", content: "Hi" }, result];
    const { status, sent } = await site.ask(CHAT, "openai/gpt-4.1", { messages });
    expect([status, sent["messages"]]).toEqual([200, messages.slice(0, 1)]);
  });

  test.each([
    ["anthropic/claude-opus-4.8", "anthropic"],
    ["google/gemini-2.5-flash", "google"],
    ["anthropic/claude-sonnet-4.5", "amazon-bedrock"],
  ])("but instructions goes on with a user message for %s at %s", async (model, provider) => {
    const messages = [{ role: "system", content: "base" }];
    const { status, sent, named } = await site.ask(CHAT, model, { messages, ...at(provider) });
    expect([status, named]).toEqual([200, ["messages"]]);
    expect(conversationOf(sent).map(({ role }) => role)).toEqual(["user"]);
    expect(JSON.stringify(conversationOf(sent))).toContain("Continue.");
    expect(JSON.stringify(sent["system"] ?? sent["systemInstruction"])).toContain("base");
  });
});

describe("a part that only the client's format has", () => {
  const unknown = { type: "widget", value: 1 };

  test.each([CHAT, RESPONSES, MESSAGES])(
    "and that is all of the last message of $name is rejected before any call",
    async (api) => {
      const turns = turnsIn(api.name, [{ role: "user", content: [unknown] }]);
      const model = api === MESSAGES ? "google/gemini-2.5-flash" : CLAUDE[0];
      const { status, text, sent } = await site.ask(api, model, turns);
      expect([status, sent]).toEqual([400, {}]);
      expect(text).toContain("messages[0].content[0] is of the type");
    },
  );

  test("is left out next to a text, and named", async () => {
    const content = [{ type: "text", text: "Hi" }, unknown];
    const { status, sent, named } = await site.ask(CHAT, CLAUDE[0], {
      ...CLAUDE[1],
      messages: [{ role: "user", content }],
    });
    expect([status, named]).toEqual([200, ["messages[0].content[1]"]]);
    expect(JSON.stringify(sent["messages"])).not.toContain("widget");
  });
});
