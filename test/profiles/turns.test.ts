import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  CHAT,
  type Fields,
  MESSAGES,
  type ProfileSite,
  RESPONSES,
  startProfileSite,
} from "./sites/profile-site.ts";

const OLDER = "anthropic/claude-sonnet-4.5";
const NEWER = "anthropic/claude-opus-4.8";

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite();
});
afterAll(() => site.stop());

describe("a system message behind the first turn, of a Messages client", () => {
  const messages = [
    { role: "user", content: "Hi" },
    { role: "system", content: "SKILLS" },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "Go" },
  ];

  test("is sent as a user's, marked, to a Claude that takes none, and named", async () => {
    const { status, sent, named } = await site.ask(MESSAGES, OLDER, { system: "base", messages });
    expect(status).toBe(200);
    const sentMessages = sent["messages"] as Fields[];
    expect(sentMessages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(sentMessages[0])).toContain("<system>\\nSKILLS\\n</system>");
    expect(named).toEqual(["messages[2]"]);
  });

  test("is sent as it is to a Claude that takes it", async () => {
    const { sent, named } = await site.ask(MESSAGES, NEWER, { system: "base", messages });
    expect([sent["messages"], named]).toEqual([messages, []]);
  });
});

describe("a conversation that ends with the assistant, for a model that does not continue it", () => {
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "I reached my step limit." },
  ];

  test.each([
    [CHAT, { messages }],
    [RESPONSES, { input: messages }],
  ])("goes on with a user message where clients expect a new answer ($name)", async (api, turns) => {
    const { status, sent, named } = await site.ask(api, "anthropic/claude-opus-4.6", turns);
    expect(status).toBe(200);
    const sentMessages = sent["messages"] as Fields[];
    expect(sentMessages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(sentMessages[1])).toContain("I reached my step limit.");
    expect(named).toContain("messages");
  });

  test("is rejected before any call where it means the beginning of the answer", async () => {
    const { status, text, sent } = await site.ask(MESSAGES, "anthropic/claude-opus-4.6", { messages });
    expect(status).toBe(400);
    expect(text).toContain("messages[1]");
    expect(sent).toEqual({});
  });

  test("is sent as it is to a model that continues it", async () => {
    const { sent } = await site.ask(MESSAGES, OLDER, { messages });
    expect(sent["messages"]).toEqual(messages);
  });
});

describe("thinking of an earlier turn without a signature, of a Messages client", () => {
  const thought = (signature: unknown) => [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "foreign", signature },
        { type: "text", text: "Hello" },
      ],
    },
    { role: "user", content: "Go" },
  ];
  const thinking = { type: "enabled", budget_tokens: 1_024 };

  test.each([
    ["null", null],
    ["absent", undefined],
  ])("is left out for a Claude, and named: %s", async (_what, signature) => {
    const { status, text, sent, named } = await site.ask(MESSAGES, OLDER, {
      max_tokens: 4_000,
      thinking,
      messages: thought(signature),
    });
    expect([status, text.includes("foreign")]).toEqual([200, false]);
    expect(JSON.stringify(sent["messages"])).not.toContain("foreign");
    expect(JSON.stringify(sent["messages"])).toContain("Hello");
    expect(sent["thinking"]).toMatchObject(thinking);
    expect(named).toEqual(["messages"]);
  });

  test("is sent with its signature", async () => {
    const messages = thought("c2lnbmVk");
    const { sent, named } = await site.ask(MESSAGES, OLDER, { max_tokens: 4_000, thinking, messages });
    expect([sent["messages"], named]).toEqual([messages, []]);
  });
});

describe("a conversation for Mistral", () => {
  const MODEL = "mistralai/mistral-medium-3-5";
  const PREFILL = [
    { role: "user", content: "Count" },
    { role: "assistant", content: "one, two" },
  ];
  const whole = (content: string) =>
    Response.json({
      id: "x",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
    });

  test.each([CHAT, MESSAGES])(
    "that ends with the assistant is continued, without its beginning, in $name",
    async (api) => {
      const { sent, text } = await site.ask(api, MODEL, { messages: PREFILL }, () =>
        whole("one, two, three"),
      );
      expect((sent["messages"] as Fields[]).at(-1)).toEqual({
        role: "assistant",
        content: "one, two",
        prefix: true,
      });
      expect(text).toContain('", three"');
    },
  );

  test("is continued in a stream, without a beginning in pieces", async () => {
    const pieces = ["on", "e, ", "two, th", "ree"];
    const chunk = (delta: object, more: object = {}) =>
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
    const stream =
      pieces.map((content) => chunk({ content })).join("") +
      chunk({}, { finish_reason: "stop" }) +
      "data: [DONE]\n\n";
    site.vendor.reset(() => new Response(stream, { headers: { "content-type": "text/event-stream" } }));
    const response = await fetch(`${site.gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.gateway.key}` },
      body: JSON.stringify({ model: MODEL, stream: true, messages: PREFILL }),
    });
    const contents = [...(await response.text()).matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text);
    expect(contents.join("")).toBe(", three");
  });

  test("keeps an answer that does not repeat its beginning", async () => {
    const { text } = await site.ask(CHAT, MODEL, { messages: PREFILL }, () => whole("one, then two"));
    expect(text).toContain('"one, then two"');
  });

  test("has no system message behind an answer or a result", async () => {
    const messages = [
      { role: "system", content: "base" },
      { role: "user", content: "Count" },
      { role: "assistant", content: "one" },
      { role: "system", content: "be brief" },
      { role: "user", content: "go on" },
    ];
    const { sent } = await site.ask(CHAT, MODEL, { messages });
    expect((sent["messages"] as Fields[]).map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
      "user",
    ]);
    expect(JSON.stringify(sent["messages"])).toContain("<system>\\nbe brief\\n</system>");
  });
});
