import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { type FormatVendors, startFormatVendors } from "../../faults/format-vendors.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type RecordedRequest,
  type RecordingVendor,
  startRecordingVendor,
  streamOf,
  yamlFor,
} from "../../support/vendors/recording-vendor.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into as they come
type Json = any;

const LOOK = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } };
const REQUEST = {
  functions: [LOOK, { name: "touch" }],
  function_call: { name: "look" },
  messages: [
    { role: "user", content: "Look twice, then touch." },
    { role: "assistant", content: null, function_call: { name: "look", arguments: '{"at":1}' } },
    { role: "function", name: "look", content: "a wall" },
    { role: "assistant", content: "And?", function_call: { name: "look", arguments: '{"at":2}' } },
    { role: "function", name: "look", content: "a door" },
    { role: "user", content: "Now touch." },
  ],
};

async function post(
  gateway: TestGateway,
  body: Json,
): Promise<{ status: number; body: Json; events: Json[] }> {
  const response = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data as string));
  return { status: response.status, body: events.length > 0 ? null : JSON.parse(text), events };
}

describe("a request with the deprecated `functions` instead of `tools`", () => {
  let vendors: FormatVendors;
  beforeAll(async () => {
    vendors = await startFormatVendors();
  });
  afterAll(() => vendors.stop());

  async function send(body: Json, format: FormatName): Promise<Json> {
    vendors.reset(format);
    const answer = await post(vendors.gateway, { ...body, model: `acme/${format}-alone` });
    expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
    return vendors.first.calls[0]?.body;
  }

  test("is sent to a chat host with tools, tool calls and tool results", async () => {
    const sent = await send(REQUEST, "openai-chat");
    expect(sent.functions).toBeUndefined();
    expect(sent.function_call).toBeUndefined();
    expect(sent.tools).toEqual([
      { type: "function", function: LOOK },
      { type: "function", function: { name: "touch", parameters: { type: "object", properties: {} } } },
    ]);
    expect(sent.tool_choice).toEqual({ type: "function", function: { name: "look" } });
    const call = (id: string, args: string) => ({
      id,
      type: "function",
      function: { name: "look", arguments: args },
    });
    expect(sent.messages.slice(1, 5)).toEqual([
      { role: "assistant", content: null, tool_calls: [call("fn0000000", '{"at":1}')] },
      { role: "tool", tool_call_id: "fn0000000", name: "look", content: "a wall" },
      { role: "assistant", content: "And?", tool_calls: [call("fn0000001", '{"at":2}')] },
      { role: "tool", tool_call_id: "fn0000001", name: "look", content: "a door" },
    ]);
  });

  test.each(FORMAT_NAMES)(
    "is translated without losing tools or results for a vendor of %s",
    async (format) => {
      const text = JSON.stringify(await send(REQUEST, format));
      for (const part of ["Looks.", "touch", "a wall", "a door", "And?"]) expect(text).toContain(part);
      expect(text).not.toContain('"function_call":');
      expect(text).not.toContain('"role":"function"');
    },
  );

  test("matches results with calls by name, and drops a result without a call", async () => {
    const call = (name: string) => ({
      role: "assistant",
      content: null,
      function_call: { name, arguments: "{}" },
    });
    const result = (name: string) => ({ role: "function", name, content: `result of ${name}` });
    const messages = [
      REQUEST.messages[0],
      call("look"),
      call("touch"),
      result("look"),
      result("touch"),
      result("smell"),
    ];
    const sent = await send({ ...REQUEST, messages }, "openai-chat");
    const [, turn, ...results] = sent.messages;
    expect(turn.tool_calls.map((made: Json) => made.function.name)).toEqual(["look", "touch"]);
    expect(results.map((made: Json) => [made.tool_call_id, made.content])).toEqual([
      [turn.tool_calls[0].id, "result of look"],
      [turn.tool_calls[1].id, "result of touch"],
    ]);
  });

  test("is ignored in favour of `tools` if it has both, and null counts as absent", async () => {
    const tools = [{ type: "function", function: LOOK }];
    const messages = [{ role: "user", content: "Hi", function_call: null }];
    const both = await send({ ...REQUEST, messages, tools, tool_choice: "auto" }, "openai-chat");
    expect([both.tools, both.tool_choice]).toEqual([tools, "auto"]);
    const older = await send({ ...REQUEST, tools: null, tool_choice: null }, "openai-chat");
    expect([older.tools.length, older.tool_choice.function.name]).toEqual([2, "look"]);
    const none = { messages, functions: null, function_call: null };
    expect(await send(none, "openai-chat")).toEqual({ ...none, model: "up" });
  });

  test.each([
    `{"model":"acme/openai-chat-alone","tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto","messages":[{"role":"user","content":"Hi"}],"functions":[],"function_call":"none"}`,
    `{"function_call" : "none" , "functions" : [] , "tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto","messages":[{"role":"user","content":"Hi"}],"model":"acme/openai-chat-alone"}`,
    `{"functions":[{"name":"f"}],"messages":[{"tool_calls":[],"function_call":{"name":"f","arguments":"{}"},"role":"assistant"}, {"name":"f","content":"x","role":"function"}],"model":"acme/openai-chat-alone","function_call":"auto"}`,
    `{"messages":[{"role":"assistant","function_call":{"name":"f","arguments":"{}"},"content":"x","tool_calls":null}],"tools":[{"type":"function","function":{"name":"f"}}],"model":"acme/openai-chat-alone","functions":[{"name":"f"}],"function_call":"auto"}`,
  ])("is parsed in any order of its fields: %s", async (json) => {
    vendors.reset("openai-chat");
    const { base, key } = vendors.gateway;
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${base}/chat/completions`, { method: "POST", headers, body: json });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    const sent = vendors.first.calls[0]?.body;
    expect(JSON.stringify(sent)).not.toContain("function_call");
    expect(sent).not.toHaveProperty("functions");
  });

  test.each([
    ["functions", { functions: "look" }],
    ["functions[0].name", { functions: [{ parameters: {} }] }],
    [
      "messages[0].function_call.name",
      { messages: [{ role: "assistant", content: "x", function_call: { arguments: "{}" } }] },
    ],
  ])("is rejected with an error that names the client's field: %s", async (field, wrong) => {
    const { status, body } = await post(vendors.gateway, {
      ...REQUEST,
      ...wrong,
      model: "acme/openai-chat-alone",
    });
    expect([status, body.error.metadata.field]).toEqual([400, field]);
  });
});

/** The two encodings of tool calls in an answer. */
type CallEncoding = "tool_calls" | "function_call";

/** Returns a host that calls `look` in a given encoding; with `tool_calls` also `touch`. */
const callLook =
  (encoding: CallEncoding) =>
  (request: RecordedRequest): Response => {
    const head = { id: "chatcmpl-1", created: 1, model: "up" };
    const fn = (args: string) => ({ name: "look", arguments: args });
    const inCalls = (made: Json) =>
      encoding === "function_call"
        ? { function_call: made }
        : { tool_calls: [{ index: 0, id: "c1", type: "function", function: made }] };
    const touch = { index: 1, id: "c2", type: "function", function: { name: "touch", arguments: "{}" } };
    const others = encoding === "function_call" ? [] : [touch];
    const finish = encoding === "function_call" ? "function_call" : "tool_calls";
    if (JSON.parse(request.text).stream) {
      const chunk = (delta: Json, reason: string | null = null) => ({
        ...head,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason: reason }],
      });
      const more = (text: string) =>
        encoding === "function_call"
          ? { function_call: { arguments: text } }
          : { tool_calls: [{ index: 0, function: { arguments: text } }] };
      return streamOf([
        chunk({ role: "assistant", content: null, ...inCalls(fn("")) }),
        ...['{"a', 't":', "1}"].map((text) => chunk(more(text))),
        ...others.map((call) => chunk({ tool_calls: [call] })),
        chunk({}, finish),
      ]);
    }
    const made: Json = inCalls(fn('{"at":1}'));
    if (made.tool_calls) made.tool_calls.push(...others);
    return Response.json({
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: null, ...made }, finish_reason: finish }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
  };

describe("an answer with a function call", () => {
  let vendor: RecordingVendor;
  let gateway: TestGateway;
  beforeAll(async () => {
    vendor = startRecordingVendor();
    gateway = await startTestGateway({ yaml: yamlFor(vendor) });
  });
  afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

  const LEGACY = { model: "acme/model", functions: REQUEST.functions, messages: [REQUEST.messages[0]] };
  const MODERN = {
    model: "acme/model",
    tools: [{ type: "function", function: LOOK }],
    messages: [REQUEST.messages[0]],
  };

  test.each(["tool_calls", "function_call"] as const)(
    "has the deprecated encoding for a client that used it, not streamed, from a host that answers with %s",
    async (encoding) => {
      vendor.reset(callLook(encoding));
      const { body } = await post(gateway, LEGACY);
      const [choice] = body.choices;
      expect(choice.message).toEqual({
        role: "assistant",
        content: null,
        function_call: { name: "look", arguments: '{"at":1}' },
      });
      expect(choice.finish_reason).toBe("function_call");
    },
  );

  test.each(["tool_calls", "function_call"] as const)(
    "has the deprecated encoding for a client that used it, streamed, from a host that answers with %s",
    async (encoding) => {
      vendor.reset(callLook(encoding));
      const { events } = await post(gateway, { ...LEGACY, stream: true });
      const deltas = events.flatMap(({ choices }) => choices.map(({ delta }: Json) => delta));
      expect(deltas.some((delta) => "tool_calls" in delta)).toBe(false);
      const pieces = deltas.flatMap((delta) => (delta.function_call ? [delta.function_call] : []));
      expect(pieces.map(({ name }) => name).filter(Boolean)).toEqual(["look"]);
      expect(pieces.map((piece) => piece.arguments ?? "").join("")).toBe('{"at":1}');
      expect(events.at(-1).choices[0].finish_reason).toBe("function_call");
      expect(events.at(-1).usage).toBeDefined();
    },
  );

  test.each([false, true])(
    "in the host's deprecated encoding becomes a tool call for a client that used `tools` (stream: %p)",
    async (stream) => {
      vendor.reset(callLook("function_call"));
      const { body, events } = await post(gateway, { ...MODERN, stream });
      const pieces = stream
        ? events.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
        : body.choices[0].message.tool_calls;
      expect(pieces[0]).toMatchObject({ index: 0, type: "function", id: expect.stringMatching(/./) });
      expect(pieces[0].function.name).toBe("look");
      expect(pieces.map((piece: Json) => piece.function.arguments).join("")).toBe('{"at":1}');
      const last = stream ? events.at(-1) : body;
      expect(last.choices[0].finish_reason).toBe("tool_calls");
      expect(JSON.stringify([body, events])).not.toContain('"function_call":{');
    },
  );

  test("in the host's deprecated encoding becomes a tool call in the Messages format", async () => {
    vendor.reset(callLook("function_call"));
    const ask = { model: "acme/model", max_tokens: 9, messages: [REQUEST.messages[0]] };
    const response = await fetch(`${gateway.base}/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...ask, tools: [{ name: "look", input_schema: { type: "object" } }] }),
    });
    const { content, stop_reason: reason }: Json = await response.json();
    expect(content).toMatchObject([{ type: "tool_use", name: "look", input: { at: 1 } }]);
    expect(reason).toBe("tool_use");
  });

  test("without a call has no `function_call` for a client of the deprecated encoding", async () => {
    vendor.reset();
    const { body } = await post(gateway, LEGACY);
    expect(body.choices[0]).toMatchObject({ message: { content: "Hello there." }, finish_reason: "stop" });
    expect(body.choices[0].message.function_call).toBeUndefined();
  });
});
