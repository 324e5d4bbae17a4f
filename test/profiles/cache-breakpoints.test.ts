import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  CHAT,
  type Fields,
  MESSAGES,
  type ProfileSite,
  RESPONSES,
  startProfileSite,
} from "./sites/profile-site.ts";

const [NEW, OLD, CLAUDE] = ["openai/gpt-5.6", "openai/gpt-5.1", "anthropic/claude-sonnet-4.5"];
const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };
const MARK = { cache_control: { type: "ephemeral" } };

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite();
});
afterAll(() => site.stop());

/** The texts that have a field in a body. */
function textsWith(field: string, sent: unknown): readonly string[] {
  const texts: string[] = [];
  JSON.stringify(sent, (_key, value) => {
    if (value?.[field] !== undefined) texts.push(value.text);
    return value;
  });
  return texts;
}

const input = (mark: Fields) => ({
  input: [
    { role: "developer", content: [{ type: "input_text", text: "rules", ...mark }] },
    { role: "user", content: [{ type: "input_text", text: "question" }] },
  ],
});
const chat = (mark: Fields) => ({
  messages: [
    { role: "system", content: [{ type: "text", text: "rules", ...mark }] },
    { role: "user", content: "question" },
  ],
});
const messages = (mark: Fields) => ({
  system: [{ type: "text", text: "rules", ...mark }],
  messages: [{ role: "user", content: "question" }],
});

describe("a breakpoint", () => {
  test.each([
    [RESPONSES, input(BREAKPOINT)],
    [CHAT, chat(BREAKPOINT)],
  ] as const)("of %p reaches a model that has them as the client sent it", async (api, more) => {
    const { sent, named } = await site.ask(api, NEW, more);
    expect([textsWith("prompt_cache_breakpoint", sent), named]).toEqual([["rules"], []]);
  });

  test.each([
    [RESPONSES, input(BREAKPOINT)],
    [CHAT, chat(BREAKPOINT)],
  ] as const)("of %p is left out for a model without them, and is named", async (api, more) => {
    const { sent, named } = await site.ask(api, OLD, more);
    expect([textsWith("prompt_cache_breakpoint", sent), named]).toEqual([[], ["prompt_cache_breakpoint"]]);
  });

  test.each([
    [RESPONSES, input(BREAKPOINT)],
    [CHAT, chat(BREAKPOINT)],
  ] as const)("of %p is a cache mark of a Claude", async (api, more) => {
    const { sent, named } = await site.ask(api, CLAUDE, more);
    expect([textsWith("cache_control", sent), named]).toEqual([["rules"], []]);
    expect(textsWith("prompt_cache_breakpoint", sent)).toEqual([]);
  });
});

describe("a cache mark", () => {
  test.each([
    [RESPONSES, input(MARK)],
    [CHAT, chat(MARK)],
    [MESSAGES, messages(MARK)],
  ] as const)("of %p is a breakpoint of a model that has them", async (api, more) => {
    const { sent, named } = await site.ask(api, NEW, more);
    expect([textsWith("prompt_cache_breakpoint", sent), named]).toEqual([["rules"], []]);
    expect(textsWith("cache_control", sent)).toEqual([]);
  });

  test("of a Responses request reaches a Claude, also that of the whole request", async () => {
    const part = await site.ask(RESPONSES, CLAUDE, input(MARK));
    expect([textsWith("cache_control", part.sent), part.named]).toEqual([["rules"], []]);
    const whole = await site.ask(RESPONSES, CLAUDE, { ...input({}), ...MARK });
    expect([whole.sent["cache_control"], whole.named]).toEqual([{ type: "ephemeral" }, []]);
  });

  test("of an answer is none of OpenAI's models, which mark no answers", async () => {
    const turns = [
      { role: "user", content: "question" },
      { role: "assistant", content: [{ type: "text", text: "answer", ...MARK }] },
      { role: "user", content: "and?" },
    ];
    const { sent, status } = await site.ask(MESSAGES, NEW, { messages: turns });
    expect([status, textsWith("prompt_cache_breakpoint", sent)]).toEqual([200, []]);
  });

  test("in the result of a tool is a breakpoint in it", async () => {
    const result = {
      type: "tool_result",
      tool_use_id: "t",
      content: [{ type: "text", text: "found", ...MARK }],
    };
    const turns = [
      { role: "user", content: "question" },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
      { role: "user", content: [result] },
    ];
    const { sent } = await site.ask(MESSAGES, NEW, { messages: turns });
    expect(textsWith("prompt_cache_breakpoint", sent)).toEqual(["found"]);
  });
});
