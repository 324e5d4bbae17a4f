import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { SCRIPTS } from "../../support/vendors/scripts/all-scripts.ts";
import { chunkOf, type Play, startVendor, USAGE, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({
    repeats: 0,
    yaml: `
providers:
  chatty:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-chatty-0123456789]
    models: [{id: acme/chat, name: up-chat}]
  twin:
    base_url: ${vendor.baseUrl}
    format: gemini
    api_keys: [sk-twin-0123456789]
    models: [{id: acme/gemini, name: up-gemini}]
  answering:
    base_url: ${vendor.baseUrl}
    format: openai-responses
    api_keys: [sk-answering-0123456789]
    models: [{id: acme/responses, name: up-responses}]
  messaging:
    base_url: ${vendor.baseUrl}
    format: anthropic-messages
    api_keys: [sk-messaging-0123456789]
    models: [{id: acme/messages, name: up-messages}]`,
  });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

interface Call {
  readonly name: string;
  readonly arguments: string;
}

/** Reads the tool calls of an answer in a client API, from a document and from a stream. */
interface Api {
  readonly path: string;
  ask(model: string, stream: boolean): object;
  readWhole(body: Json): readonly Call[];
  readStream(events: readonly Json[]): readonly Call[];
}

const FUNCTION = { name: "look", parameters: { type: "object" } };
const messages = [{ role: "user", content: "Look!" }];

const APIS: Readonly<Record<string, Api>> = {
  chat: {
    path: "/chat/completions",
    ask: (model, stream) => ({ model, stream, messages, tools: [{ type: "function", function: FUNCTION }] }),
    readWhole: ({ choices }) => choices[0].message.tool_calls.map((call: Json) => call.function),
    readStream(chunks) {
      const pieces = chunks.flatMap(({ choices }) =>
        choices.flatMap((choice: Json) => choice.delta.tool_calls ?? []),
      );
      expect(pieces.filter((piece: Json) => "custom" in piece)).toEqual([]);
      const join = (read: (inner: Json) => string) =>
        pieces.map((piece: Json) => read(piece.function) ?? "").join("");
      return [{ name: join((inner) => inner.name), arguments: join((inner) => inner.arguments) }];
    },
  },
  responses: {
    path: "/responses",
    ask: (model, stream) => ({ model, stream, input: "Look!", tools: [{ type: "function", ...FUNCTION }] }),
    readWhole: ({ output }) => output.filter(({ type }: Json) => type === "function_call").map(onlyCall),
    readStream: (events) => APIS["responses"]!.readWhole(events.at(-1).response),
  },
  messages: {
    path: "/messages",
    ask: (model, stream) => ({
      model,
      stream,
      max_tokens: 100,
      messages,
      tools: [{ name: "look", input_schema: FUNCTION.parameters }],
    }),
    readWhole: ({ content }) =>
      content
        .filter(({ type }: Json) => type === "tool_use")
        .map(({ name, input }: Json) => ({ name, arguments: JSON.stringify(input) })),
    readStream(events) {
      const starts = events.filter(({ content_block: block }) => block?.type === "tool_use");
      const deltas = events.filter(({ delta }) => delta?.type === "input_json_delta");
      const json = deltas.map(({ delta }) => delta.partial_json).join("");
      return starts.map(({ content_block: { name } }) => ({ name, arguments: json }));
    },
  },
};

function onlyCall({ name, arguments: args }: Json): Call {
  return { name, arguments: args };
}

async function ask(api: Api, model: string, stream: boolean): Promise<readonly Call[]> {
  const text = await post(api, api.ask(model, stream));
  if (!stream) return api.readWhole(JSON.parse(text));
  const data = text.split("\n").filter((line) => line.startsWith("data: {"));
  return api.readStream(data.map((line) => JSON.parse(line.slice("data: ".length))));
}

async function post({ path }: Api, body: object): Promise<string> {
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return text;
}

/** Hosts that send the members of both types of tool call, one of them empty. */
const HOSTS: Readonly<Record<string, EncodeCall>> = {
  "an empty object as `custom` next to `function`": (piece) => ({ ...piece, type: "function", custom: {} }),
  "a `custom` of empty strings next to `function`": (piece) => ({
    ...piece,
    type: "function",
    custom: { name: "", input: "" },
  }),
  "an empty `custom` next to `function`, and no type": (piece) => ({ ...piece, custom: { input: "" } }),
  "null as `custom` next to `function`": (piece) => ({ ...piece, type: "function", custom: null }),
};

type EncodeCall = (piece: Json) => Json;

function documentWith(encodeCall: EncodeCall): unknown {
  const call = encodeCall({ id: "call_1", function: { name: "look", arguments: '{"at":"sea"}' } });
  const message = { role: "assistant", content: null, tool_calls: [call] };
  const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
  return { id: "1", object: "chat.completion", created: 1, model: "up", choices, usage: USAGE };
}

function callWith(encodeCall: EncodeCall): Play {
  return async (call) => {
    if (!call.isStream) return call.respond(200, documentWith(encodeCall));
    const pieces = [
      { id: "call_1", function: { name: "look", arguments: "" } },
      ...['{"at"', ':"s', "ea", '"}'].map((text) => ({ function: { arguments: text } })),
    ];
    await call.begin();
    for (const piece of pieces)
      await call.events(chunkOf({ tool_calls: [{ index: 0, ...encodeCall(piece) }] }));
    await call.events(chunkOf({}, "tool_calls"), "[DONE]");
    await call.end();
  };
}

describe.each(Object.keys(APIS))("a %s client", (name) => {
  const api = APIS[name] as Api;

  describe.each([
    ["with a response that is not streamed", false],
    ["with a streamed response", true],
  ] as const)("%s", (_mode, stream) => {
    test.each(Object.keys(HOSTS))("gets the function call of a host that sends %s", async (host) => {
      vendor.perform(callWith(HOSTS[host] as EncodeCall));
      expect(await ask(api, "acme/chat", stream)).toEqual([{ name: "look", arguments: '{"at":"sea"}' }]);
    });
  });

  test.each([
    ["", ""],
    [" behind a blank line", "\r\n"],
  ])(
    "gets a tool call from a host that answers a stream request with a document%s",
    async (_where, blank) => {
      vendor.perform((call) =>
        call.respond(200, blank + JSON.stringify(documentWith((call) => ({ ...call, type: "function" })))),
      );
      expect(await ask(api, "acme/chat", true)).toEqual([{ name: "look", arguments: '{"at":"sea"}' }]);
    },
  );

  test("gets a tool call from a Gemini host that streams a JSON list", async () => {
    const candidate = (parts: readonly object[], more: object = {}) => ({
      candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    });
    const list = [
      candidate([{ text: "Just a moment." }]),
      candidate([{ functionCall: { name: "look", args: { at: "sea" } } }]),
      candidate([], { finishReason: "STOP" }),
    ];
    vendor.perform((call) => call.respond(200, list));
    expect(await ask(api, "acme/gemini", true)).toEqual([{ name: "look", arguments: '{"at":"sea"}' }]);
  });
});

test.each([
  ["chat", "acme/chat", SCRIPTS["openai-chat"]],
  ["responses", "acme/responses", SCRIPTS["openai-responses"]],
  ["messages", "acme/messages", SCRIPTS["anthropic-messages"]],
] as const)(
  "a %s client with a large request gets a stream from a host of its own format that answers with a document",
  async (name, model, script) => {
    vendor.perform((call) => call.respond(200, script.document("Alpha one two", "stop")));
    const api = APIS[name] as Api;
    const content = "x".repeat(100_000);
    const large = { input: content, messages: [{ role: "user", content }] };
    const text = await post(api, { ...api.ask(model, true), ...large });
    expect(text).toContain("Alpha one two");
    expect(text).toStartWith(name === "chat" ? "data: " : "event: ");
  },
);
