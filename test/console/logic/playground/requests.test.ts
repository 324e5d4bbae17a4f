import { describe, expect, test } from "bun:test";
import {
  APIS,
  type Conversation,
  EFFORTS,
  emptyConversation,
  type Turn,
} from "../../../../src/console/conversation/conversation.ts";
import { parseRequest } from "../../../../src/console/conversation/parse-request.ts";
import { printRequest } from "../../../../src/console/conversation/print-request.ts";
import { checkTool, draftTool } from "../../../../src/console/screens/playground/check-tool.ts";
import { printShared, readShared } from "../../../../src/console/screens/playground/share.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";

const IMAGE = "data:image/png;base64,iVBORw0KGgo=";

const WHOLE: Conversation = {
  system: "Answer briefly.\nIn English.",
  turns: [
    {
      role: "user",
      text: "What is this, and what is the weather?",
      images: [IMAGE, "https://example.com/a.png"],
    },
    {
      role: "assistant",
      text: "Let me look.",
      reasoning: "",
      calls: [
        { id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' },
        { id: "call_2", name: "time", arguments: "{}" },
      ],
    },
    {
      role: "tool",
      results: [
        { callId: "call_1", name: "weather", text: "rain" },
        { callId: "call_2", name: "time", text: '{"hour":7}' },
      ],
    },
    { role: "assistant", text: "It rains.", reasoning: "", calls: [] },
    { role: "user", text: "Thanks 'quoted' \"twice\" ✓", images: [] },
  ],
  tools: [
    {
      name: "weather",
      description: "The weather.",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
    { name: "time", description: "", parameters: { type: "object", properties: {} } },
  ],
  toolChoice: "required",
  temperature: 0.5,
  topP: 0.9,
  maxTokens: 200,
  effort: "low",
};

describe.each([...APIS])("a conversation printed for the %s API", (api) => {
  test("is the same after it was parsed again", () => {
    expect(parseRequest(api, printRequest(api, "acme/model", WHOLE))).toEqual({
      model: "acme/model",
      conversation: WHOLE,
    });
  });

  test("sends nothing for values that are not set", () => {
    const body = printRequest(api, "acme/model", emptyConversation());
    const names = ["model", "messages", "input", "stream", "stream_options"];
    expect(Object.keys(body).filter((name) => !names.includes(name))).toEqual([]);
    expect(parseRequest(api, body).conversation).toEqual(emptyConversation());
  });

  test.each([...EFFORTS])("keeps the reasoning effort %s", (effort) => {
    const conversation = { ...emptyConversation(), effort };
    expect(parseRequest(api, printRequest(api, "m", conversation)).conversation.effort).toBe(effort);
  });

  test("is the same for 300 random conversations", () => {
    const random = createSeededRandom(15);
    const below = (bound: number) => Math.floor(random.next() * bound);
    for (let i = 0; i < 300; i += 1) {
      const conversation = { ...emptyConversation(), turns: randomTurns(below) };
      expect(parseRequest(api, printRequest(api, "m", conversation)).conversation).toEqual(conversation);
    }
  });
});

const TEXTS = ["a", "two\n\nlines", '{"json":1}', "émoji 🙂", " spaces "] as const;

/** Returns turns as a conversation has them: each answer with calls is followed by their results. */
function randomTurns(below: (bound: number) => number): Turn[] {
  const text = () => TEXTS[below(TEXTS.length)] as string;
  const turns: Turn[] = [];
  for (let round = 0; round <= below(4); round += 1) {
    turns.push({ role: "user", text: text(), images: Array(below(3)).fill(IMAGE) });
    const calls = Array.from({ length: below(3) }, (_, i) => ({
      id: `call_${round}_${i}`,
      name: `tool${i}`,
      arguments: JSON.stringify({ value: text() }),
    }));
    turns.push({ role: "assistant", text: text(), reasoning: "", calls });
    if (calls.length === 0) continue;
    turns.push({ role: "tool", results: calls.map(({ id, name }) => ({ callId: id, name, text: text() })) });
  }
  return turns;
}

describe("a captured request of another client", () => {
  test("of chat completions is opened with developer messages, parts and the newer names of fields", () => {
    const { conversation } = parseRequest("chat", {
      model: "m",
      messages: [
        { role: "developer", content: [{ type: "text", text: "Be kind." }] },
        { role: "user", content: [{ type: "text", text: "Hi" }] },
      ],
      max_completion_tokens: 10,
      tools: [{ type: "web_search" }],
    });
    expect(conversation).toMatchObject({ system: "Be kind.", maxTokens: 10, tools: [] });
    expect(conversation.turns).toEqual([{ role: "user", text: "Hi", images: [] }]);
  });

  test("of Responses is opened with its input as a text, and without items that the playground does not have", () => {
    expect(parseRequest("responses", { model: "m", input: "Hi" }).conversation.turns).toEqual([
      { role: "user", text: "Hi", images: [] },
    ]);
    const input = [
      { type: "reasoning", summary: [] },
      { type: "item_reference", id: "x" },
    ];
    expect(parseRequest("responses", { model: "m", input }).conversation.turns).toEqual([]);
  });

  test("of Messages is opened with results and text of one message as two turns", () => {
    const messages = [
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "look", input: { a: 1 } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "seen" }] },
          { type: "text", text: "And now?" },
        ],
      },
    ];
    const { conversation } = parseRequest("messages", {
      model: "m",
      system: [{ type: "text", text: "S" }],
      messages,
    });
    expect(conversation.system).toBe("S");
    expect(conversation.turns.slice(1)).toEqual([
      { role: "tool", results: [{ callId: "t", name: "look", text: "seen" }] },
      { role: "user", text: "And now?", images: [] },
    ]);
  });

  test.each([...APIS])("with values of the wrong type is opened without them (%s)", (api) => {
    const body = {
      model: 1,
      messages: "x",
      input: 5,
      tools: {},
      temperature: "hot",
      system: 3,
      tool_choice: [],
    };
    expect(parseRequest(api, body)).toEqual({ model: "", conversation: emptyConversation() });
  });
});

describe("a share link", () => {
  const shared = { api: "messages", models: ["a/b", "c/d"], conversation: WHOLE } as const;

  test("holds the request, and reads back the same", () => {
    const fragment = printShared(shared);
    expect(fragment).toMatch(/^#share=[\w-]+$/);
    expect(readShared(fragment ?? "")).toEqual({ ...shared, models: [...shared.models] });
  });

  test("is not made for a request that is too long for a link", () => {
    const turns = [{ role: "user" as const, text: "x".repeat(40_000), images: [] }];
    expect(printShared({ ...shared, conversation: { ...WHOLE, turns } })).toBeNull();
  });

  test.each(["", "#share=", "#share=%%%", "#share=bm90IGpzb24", "#code=abc"])(
    "%p opens nothing",
    (fragment) => {
      expect(readShared(fragment)).toBeNull();
    },
  );
});

describe("a tool of the playground", () => {
  const draft = draftTool({ name: "look", description: "Looks.", parameters: { type: "object" } });

  test("is read from its draft", () => {
    expect(checkTool(draft)).toEqual({
      tool: { name: "look", description: "Looks.", parameters: { type: "object" } },
    });
  });

  test.each([
    [{ name: "two words" }, "name", "letters"],
    [{ name: "" }, "name", "letters"],
    [{ name: "other" }, "name", "Another tool"],
    [{ schema: "{" }, "schema", "not JSON"],
    [{ schema: "[]" }, "schema", "object"],
  ])("%j is rejected with the field %s", (changes, field, words) => {
    const checked = checkTool({ ...draft, ...changes }, ["other"]);
    expect(checked).toMatchObject({ problem: { field, message: expect.stringContaining(words) } });
  });
});
