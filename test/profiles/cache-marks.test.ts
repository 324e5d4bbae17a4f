import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, MESSAGES, type ProfileSite, startProfileSite } from "./sites/profile-site.ts";

const CLAUDE = "anthropic/claude-sonnet-4.5";

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite();
});
afterAll(() => site.stop());

const mark = (ttl?: string) => ({
  cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) },
});
const text = (words: string, ttl?: string) => ({ type: "text", text: words, ...mark(ttl) });
const TURNS = ["a", "b", "c", "d", "e"].flatMap((words) => [
  { role: "user", content: [text(words)] },
  { role: "assistant", content: "r" },
]);
const END = { role: "user", content: "go" };

/** The texts that are marked in a body. */
function markedTexts(sent: unknown): readonly string[] {
  const marked: string[] = [];
  JSON.stringify(sent, (_key, value) => {
    if (value?.cache_control !== undefined) marked.push(String(value.text ?? value.name));
    return value;
  });
  return marked;
}

describe("more cache marks than a Claude takes", () => {
  test("become the last of the instructions and the latest others, and are named, for a chat client", async () => {
    const { status, sent, named } = await site.ask(CHAT, CLAUDE, {
      messages: [{ role: "system", content: [text("s1"), text("s2")] }, ...TURNS, END],
    });
    expect(status).toBe(200);
    expect(markedTexts(sent)).toEqual(["s2", "c", "d", "e"]);
    expect(named).toEqual(["cache_control"]);
  });

  test("become four for a Messages client too, with a mark of its tools", async () => {
    const { sent, named } = await site.ask(MESSAGES, CLAUDE, {
      tools: [{ name: "look", input_schema: { type: "object", properties: {} }, ...mark() }],
      messages: [...TURNS, END],
    });
    expect([...markedTexts(sent)].sort()).toEqual(["c", "d", "e", "look"]);
    expect(named).toEqual(["cache_control"]);
  });

  test("are sent as they came where there are four", async () => {
    const messages = [...TURNS.slice(0, 6), END];
    const { sent, named } = await site.ask(MESSAGES, CLAUDE, { system: [text("s")], messages });
    expect([sent["messages"], sent["system"], named]).toEqual([messages, [text("s")], []]);
  });
});

test("a mark for an hour behind one for five minutes is sent as one for five minutes, and named", async () => {
  const { sent, named } = await site.ask(MESSAGES, CLAUDE, {
    system: [text("s", "5m")],
    messages: [{ role: "user", content: [text("a", "1h")] }],
  });
  expect(sent["messages"]).toEqual([{ role: "user", content: [text("a", "5m")] }]);
  expect(named).toEqual(["cache_control"]);
});

test("a mark for an hour before one for five minutes keeps its hour", async () => {
  const { sent, named } = await site.ask(MESSAGES, CLAUDE, {
    system: [text("s", "1h")],
    messages: [{ role: "user", content: [text("a")] }],
  });
  expect([sent["system"], named]).toEqual([[text("s", "1h")], []]);
});
