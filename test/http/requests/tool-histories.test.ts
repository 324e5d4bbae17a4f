import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { type FormatVendors, startFormatVendors } from "../../faults/format-vendors.ts";

let vendors: FormatVendors;
beforeAll(async () => {
  vendors = await startFormatVendors();
});
afterAll(() => vendors.stop());

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into as they come
type Json = any;

const APIS = ["/chat/completions", "/responses", "/messages"] as const;
type Api = (typeof APIS)[number];

async function post(path: Api, body: Json): Promise<Response> {
  const { base, key } = vendors.gateway;
  return fetch(base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Sends a history to a vendor of a format, and returns the response and what the vendor received. */
async function send(path: Api, history: Json, format: FormatName): Promise<{ answer: Json; sent: Json }> {
  vendors.reset(format);
  const response = await post(path, { ...history, model: `acme/${format}-alone` });
  const answer: Json = await response.json();
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return { answer, sent: vendors.first.calls[0]?.body };
}

const PLACEHOLDER = "was interrupted before it finished";

const chatCall = (id: string, path = id) => ({
  id,
  type: "function",
  function: { name: "read", arguments: JSON.stringify({ path }) },
});
const chatTools = [{ type: "function", function: { name: "read", parameters: { type: "object" } } }];
const chat = (...messages: Json[]) => ({
  messages: [{ role: "user", content: "Hi" }, ...messages],
  tools: chatTools,
});
const chatCalls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => chatCall(id)),
});
const chatResult = (id: string) => ({ role: "tool", tool_call_id: id, content: `contents of ${id}` });

const block = (id: string) => ({ type: "tool_use", id, name: "read", input: { path: id } });
const messages = (...list: Json[]) => ({
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }, ...list],
  tools: [{ name: "read", input_schema: { type: "object" } }],
});
const blockResult = (id: string) => ({ type: "tool_result", tool_use_id: id, content: `contents of ${id}` });

const item = (id: string) => ({
  type: "function_call",
  call_id: id,
  name: "read",
  arguments: JSON.stringify({ path: id }),
});
const input = (...list: Json[]) => ({
  input: [{ role: "user", content: "Hi" }, ...list],
  tools: [{ type: "function", name: "read", parameters: { type: "object" } }],
});
const itemResult = (id: string) => ({
  type: "function_call_output",
  call_id: id,
  output: `contents of ${id}`,
});

/** Two calls in adjacent messages, then both results. */
const IN_TWO_MESSAGES: Readonly<Record<Api, Json>> = {
  "/chat/completions": chat(chatCalls("c1"), chatCalls("c2"), chatResult("c1"), chatResult("c2")),
  "/messages": messages(
    { role: "assistant", content: [block("c1")] },
    { role: "assistant", content: [block("c2")] },
    { role: "user", content: [blockResult("c1"), blockResult("c2")] },
  ),
  "/responses": input(item("c1"), item("c2"), itemResult("c1"), itemResult("c2")),
};

/** Text of the model and the user between calls and their results. */
const WITH_TEXT_BETWEEN: Readonly<Record<Api, Json>> = {
  "/chat/completions": chat(
    chatCalls("c1", "c2"),
    { role: "assistant", content: "Working." },
    chatResult("c1"),
    { role: "user", content: "Hurry!" },
    { role: "assistant", content: "Still working." },
    chatResult("c2"),
    { role: "user", content: "And?" },
  ),
  "/messages": messages(
    { role: "assistant", content: [block("c1"), block("c2")] },
    { role: "assistant", content: "Working." },
    { role: "user", content: [blockResult("c1"), { type: "text", text: "Hurry!" }] },
    { role: "assistant", content: "Still working." },
    { role: "user", content: [blockResult("c2"), { type: "text", text: "And?" }] },
  ),
  "/responses": input(
    item("c1"),
    item("c2"),
    { role: "assistant", content: "Working." },
    itemResult("c1"),
    { role: "user", content: "Hurry!" },
    { role: "assistant", content: "Still working." },
    itemResult("c2"),
    { role: "user", content: "And?" },
  ),
};

const LONG = "long ".repeat(100);

/** The same call twice in one turn, and its result twice; `other` is the second result, `path` the argument. */
const DOUBLED: Readonly<Record<Api, (path: string, result: string, other: string) => Json>> = {
  "/chat/completions": (path, result, other) =>
    chat(
      { role: "assistant", content: null, tool_calls: [chatCall("c1", path), chatCall("c1", path)] },
      { ...chatResult("c1"), content: result },
      { ...chatResult("c1"), content: other },
    ),
  "/messages": (path, result, other) =>
    messages(
      { role: "assistant", content: [1, 2].map(() => ({ ...block("c1"), input: { path } })) },
      { role: "user", content: [result, other].map((content) => ({ ...blockResult("c1"), content })) },
    ),
  "/responses": (path, result, other) =>
    input(
      ...[1, 2].map(() => ({ ...item("c1"), arguments: JSON.stringify({ path }) })),
      ...[result, other].map((output) => ({ ...itemResult("c1"), output })),
    ),
};

describe.each(APIS)("a client of %s", (path) => {
  test.each(FORMAT_NAMES.flatMap((format) => [[format, "short"] as const, [format, LONG] as const]))(
    "that sends a call and its result twice gets the second ones removed at a vendor of %s: %s",
    async (format, text) => {
      const { sent, answer } = await send(
        path,
        DOUBLED[path](`of ${text}`, `is ${text}`, `is ${text}`),
        format,
      );
      const json = JSON.stringify(sent);
      expect([json.split(`of ${text}`).length, json.split(`is ${text}`).length]).toEqual([2, 2]);
      expect(json).not.toContain(PLACEHOLDER);
      expect(answer.gateway_metadata?.repairs).toMatchObject({
        duplicate_calls_removed: 1,
        orphan_results_removed: 1,
      });
    },
  );

  test.each(FORMAT_NAMES)(
    "that sends a call twice keeps both where their results differ, at a vendor of %s",
    async (format) => {
      const { sent } = await send(path, DOUBLED[path]("a", "one result", "another result"), format);
      expect(JSON.stringify(sent)).toContain("one result");
      expect(JSON.stringify(sent)).toContain("another result");
    },
  );

  test.each(FORMAT_NAMES)(
    "loses no result of calls in adjacent messages at a vendor of %s",
    async (format) => {
      const { sent } = await send(path, IN_TWO_MESSAGES[path], format);
      const text = JSON.stringify(sent);
      expect(text).toContain("contents of c1");
      expect(text).toContain("contents of c2");
      expect(text).not.toContain(PLACEHOLDER);
    },
  );

  test.each(FORMAT_NAMES)(
    "loses no result that text separates from its call at a vendor of %s",
    async (format) => {
      const { sent, answer } = await send(path, WITH_TEXT_BETWEEN[path], format);
      const text = JSON.stringify(sent);
      for (const part of [
        "contents of c1",
        "contents of c2",
        "Working.",
        "Still working.",
        "Hurry!",
        "And?",
      ]) {
        expect(text).toContain(part);
      }
      expect(text).not.toContain(PLACEHOLDER);
      expect(answer.gateway_metadata?.repairs ?? {}).not.toMatchObject({ orphan_results_removed: 1 });
    },
  );
});

describe("a history that is valid for its vendor", () => {
  test("is passed through Messages to Anthropic unchanged if it has calls in adjacent messages", async () => {
    const { sent } = await send("/messages", IN_TWO_MESSAGES["/messages"], "anthropic-messages");
    expect(sent.messages).toEqual(IN_TWO_MESSAGES["/messages"].messages);
  });

  test("is passed through Responses unchanged if results directly follow their turn", async () => {
    const history = input(item("c1"), item("c2"), itemResult("c2"), itemResult("c1"), {
      role: "user",
      content: "And?",
    });
    const { sent } = await send("/responses", history, "openai-responses");
    expect(sent.input).toEqual(history.input);
  });

  test("is passed through chat completions unchanged if each turn numbers its ids anew", async () => {
    const { messages } = chat(
      chatCalls("functions.read:0"),
      chatResult("functions.read:0"),
      { ...chatCalls(), tool_calls: [chatCall("functions.read:0", "other")] },
      chatResult("functions.read:0"),
    );
    const { sent } = await send("/chat/completions", { messages }, "openai-chat");
    expect(sent.messages).toEqual(messages);
  });
});

describe("adjacent assistant messages", () => {
  test("are merged for a chat host that requires results right after calls, and keep all fields", async () => {
    const history = chat(
      { ...chatCalls("c1"), content: "I look.", reasoning_content: "Where?", name: "bot" },
      { role: "assistant", content: [{ type: "text", text: "Working." }], reasoning_content: "There." },
      { ...chatCalls("c2"), content: "", x_own: 1 },
      chatResult("c2"),
      chatResult("c1"),
    );
    const { sent } = await send("/chat/completions", history, "openai-chat");
    expect(sent.messages.slice(1)).toEqual([
      {
        role: "assistant",
        name: "bot",
        content: [
          { type: "text", text: "I look." },
          { type: "text", text: "Working." },
        ],
        reasoning_content: "Where?\n\nThere.",
        tool_calls: [chatCall("c1"), chatCall("c2")],
        x_own: 1,
      },
      chatResult("c2"),
      chatResult("c1"),
    ]);
  });

  test("are merged for Anthropic if text follows a call, with the call last", async () => {
    const thought = { type: "thinking", thinking: "Where?", signature: "c2ln" };
    const history = messages(
      { role: "assistant", content: [thought, { type: "text", text: "I look." }, block("c1")] },
      { role: "assistant", content: "Working." },
      { role: "user", content: [blockResult("c1")] },
    );
    const { sent } = await send("/messages", history, "anthropic-messages");
    expect(sent.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          thought,
          { type: "text", text: "I look." },
          { type: "text", text: "Working." },
          block("c1"),
        ],
      },
      { role: "user", content: [blockResult("c1")] },
    ]);
  });

  test("stay separate for a chat host if only the last of them has calls", async () => {
    const history = chat({ role: "assistant", content: "Hm." }, chatCalls("c1"), chatResult("c1"));
    const { sent } = await send("/chat/completions", history, "openai-chat");
    expect(sent.messages).toEqual(history.messages);
  });

  test("stay separate before the first call of a turn also if one of its calls has no result", async () => {
    const texts = ["Hm.", "I look."].map((content) => ({ role: "assistant", content }));
    const history = chat(...texts, chatCalls("c1"), { role: "user", content: "So?" });
    for (const format of ["openai-chat", "cohere-chat"] as const) {
      const { sent } = await send("/chat/completions", history, format);
      expect(sent.messages.slice(0, 3)).toEqual(history.messages.slice(0, 3));
      expect(sent.messages).toHaveLength(6);
      expect(sent.messages[4]).toMatchObject({ role: "tool", tool_call_id: "c1" });
    }
  });

  test("have no content after they were merged if none of them has one", async () => {
    const history = chat(chatCalls("c1"), chatCalls("c2"), chatResult("c1"), chatResult("c2"));
    const { sent } = await send("/chat/completions", history, "openai-chat");
    expect(sent.messages[1]).toEqual(chatCalls("c1", "c2"));
  });

  test("are removed if they contain nothing but an earlier call", async () => {
    const again = { ...chatCalls("c1"), reasoning_content: "Again?" };
    const history = chat(chatCalls("c1"), chatResult("c1"), again, { role: "user", content: "So?" });
    const { sent, answer } = await send("/chat/completions", history, "openai-chat");
    expect(sent.messages).toEqual(history.messages.toSpliced(3, 1));
    expect(answer.gateway_metadata.repairs).toEqual({
      duplicate_calls_removed: 1,
      orphan_results_removed: 0,
      placeholders_added: 0,
      ids_mapped: 0,
    });
  });
});

describe("an id of two tool calls", () => {
  const history = chat(
    chatCalls("read:0"),
    { ...chatResult("read:0"), content: "first" },
    { ...chatCalls(), tool_calls: [chatCall("read:0", "other")] },
    { ...chatResult("read:0"), content: "second" },
  );

  test("is replaced by two ids for Anthropic, which are the same in every request", async () => {
    const read = async () => {
      const { sent } = await send("/chat/completions", history, "anthropic-messages");
      const blocks = sent.messages.flatMap(({ content }: Json) => (Array.isArray(content) ? content : []));
      const calls = blocks.filter(({ type }: Json) => type === "tool_use");
      const results = blocks.filter(({ type }: Json) => type === "tool_result");
      expect(calls.map(({ input }: Json) => input.path)).toEqual(["read:0", "other"]);
      expect(results.map(({ content }: Json) => content)).toEqual(["first", "second"]);
      expect(results.map((one: Json) => one.tool_use_id)).toEqual(calls.map(({ id }: Json) => id));
      return calls.map(({ id }: Json) => id);
    };
    const ids = await read();
    expect(new Set(ids).size).toBe(2);
    expect(await read()).toEqual(ids);
  });
});

describe("a tool message without tool_call_id", () => {
  const withoutId = { role: "tool", content: "found" };

  test("is the result of the only call without a result", async () => {
    const history = chat(chatCalls("c1", "c2"), chatResult("c1"), withoutId);
    const { sent } = await send("/chat/completions", history, "openai-chat");
    expect(sent.messages.slice(1)).toEqual([
      chatCalls("c1", "c2"),
      chatResult("c1"),
      { ...withoutId, tool_call_id: "c2" },
    ]);
  });

  test.each([
    ["two calls have no result", [chatCalls("c1", "c2"), withoutId], "2 tool calls", 2],
    ["every call has a result", [chatCalls("c1"), chatResult("c1"), withoutId], "no tool call", 3],
  ])("is rejected with an error that names the field if %s", async (_name, list, said, at) => {
    const response = await post("/chat/completions", { ...chat(...list), model: "acme/openai-chat-alone" });
    const { error }: Json = await response.json();
    expect(response.status).toBe(400);
    expect(error).toMatchObject({
      type: "invalid_request",
      metadata: { field: `messages[${at}].tool_call_id` },
    });
    expect(error.message).toContain(said);
  });

  test("and its equivalents in Messages and Responses are rejected with an error that names the field", async () => {
    const ofMessages = messages(
      { role: "assistant", content: [block("c1"), block("c2")] },
      {
        role: "user",
        content: [
          { type: "text", text: "x" },
          { type: "tool_result", content: "found" },
        ],
      },
    );
    const ofResponses = input(item("c1"), item("c2"), { ...itemResult(""), output: "found" });
    const fields = [
      ["/messages", ofMessages, "messages[2].content[1].tool_use_id"],
      ["/responses", ofResponses, "input[3].call_id"],
    ] as const;
    for (const [path, body, field] of fields) {
      const response = await post(path, { ...body, model: "acme/openai-chat-alone" });
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(field)]);
    }
  });
});

describe("the result of a call that only one format supports", () => {
  const search = {
    type: "tool_search_call",
    id: "tsc_1",
    call_id: "s1",
    execution: "client",
    status: "completed",
    arguments: { query: "weather" },
  };
  const history = input(search, itemResult("s1"), { role: "user", content: "So?" });

  test("is not an orphan in Responses", async () => {
    const { sent } = await send("/responses", history, "openai-responses");
    expect(sent.input).toEqual(history.input);
  });

  test("keeps its call, as a function call, for a vendor of every other format", async () => {
    for (const format of FORMAT_NAMES.filter((name) => name !== "openai-responses")) {
      const { sent } = await send("/responses", history, format);
      const text = JSON.stringify(sent);
      expect([format, text.includes("contents of s1"), text.includes("tool_search")]).toEqual([
        format,
        true,
        true,
      ]);
      expect(text).toMatch(/\\?"query\\?":\\?"weather\\?"/);
    }
  });

  test("keeps its call also if the result has its ownTypes type", async () => {
    const ownTypes = input(
      item("c1"),
      {
        type: "local_shell_call",
        id: "lsh_1",
        call_id: "s1",
        status: "completed",
        action: { command: ["ls"] },
      },
      { type: "local_shell_call_output", call_id: "s1", output: "contents of s1" },
      itemResult("c1"),
      { ...search, call_id: "s2" },
      { type: "tool_search_output", call_id: "s2", tools: [{ type: "function", name: "get_weather" }] },
      { role: "user", content: "So?" },
    );
    for (const format of FORMAT_NAMES) {
      const { sent, answer } = await send("/responses", ownTypes, format);
      const text = JSON.stringify(sent);
      for (const part of ["contents of c1", "contents of s1", "get_weather", "local_shell", "tool_search"]) {
        expect([format, part, text.includes(part)]).toEqual([format, part, true]);
      }
      expect([format, text.includes(PLACEHOLDER), answer.gateway_metadata?.warnings]).toEqual([
        format,
        false,
        undefined,
      ]);
    }
  });

  test("is not an orphan in chat completions either, for any type of call", async () => {
    const call = { id: "u1", type: "retrieval", retrieval: { query: "weather" } };
    const body = chat({ role: "assistant", content: null, tool_calls: [call] }, chatResult("u1"));
    for (const format of FORMAT_NAMES) {
      const { sent } = await send("/chat/completions", body, format);
      expect([format, JSON.stringify(sent).includes("contents of u1")]).toEqual([format, true]);
    }
  });
});
