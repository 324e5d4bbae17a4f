import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  CHAT,
  type Fields,
  MESSAGES,
  type ProfileSite,
  RESPONSES,
  startProfileSite,
} from "./profile-site.ts";

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
