import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type RecordedRequest,
  type RecordingVendor,
  startRecordingVendor,
  streamOf,
} from "../../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  openai: {base_url: "${vendor.baseUrl}", api_keys: [sk-openai-0123456789], formats: [openai-chat]}
  host: {base_url: "${vendor.baseUrl}", api_keys: [sk-host-0123456789], models: [{id: acme/model, name: up}]}
`,
  });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into as they come
type Json = any;

const GRAMMAR = { type: "grammar", syntax: "lark", definition: "start: patch" };
/** The same grammar as chat completions encode it. */
const CHAT_GRAMMAR = { type: "grammar", grammar: { syntax: "lark", definition: "start: patch" } };
const PATCH = "*** Begin Patch\n*** End Patch";

/**
 * A client API with custom tools: a request that offers and calls one, and a function that reads the calls of
 * its answer.
 */
interface Client {
  readonly path: string;
  readonly body: Json;
  /** Returns the calls of a document, or of the events of a stream. */
  readonly readCalls: (answer: Json | readonly Json[]) => readonly { name: string; input: string }[];
}

const CLIENTS: Readonly<Record<string, Client>> = {
  "chat completions": {
    path: "/chat/completions",
    body: {
      tools: [
        {
          type: "custom",
          custom: { name: "apply_patch", description: "Edits files.", format: CHAT_GRAMMAR },
        },
        { type: "function", function: { name: "look", parameters: { type: "object" } } },
      ],
      tool_choice: { type: "custom", custom: { name: "apply_patch" } },
      messages: [
        { role: "user", content: "Fix it." },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "custom", custom: { name: "apply_patch", input: PATCH } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "Done." },
        { role: "user", content: "Again." },
      ],
    },
    readCalls: (answer) => {
      const pieces = Array.isArray(answer)
        ? answer.flatMap(({ choices }) => choices[0]?.delta?.tool_calls ?? [])
        : answer.choices[0].message.tool_calls;
      const calls: { name: string; input: string }[] = [];
      for (const { index, type, custom, function: fn } of pieces) {
        expect(fn).toBeUndefined();
        if (type !== undefined) expect(type).toBe("custom");
        calls[index] ??= { name: custom.name, input: "" };
        (calls[index] as { input: string }).input += custom.input ?? "";
      }
      return calls;
    },
  },
  Responses: {
    path: "/responses",
    body: {
      tools: [
        { type: "custom", name: "apply_patch", description: "Edits files.", format: GRAMMAR },
        { type: "function", name: "look", parameters: { type: "object" } },
      ],
      tool_choice: { type: "custom", name: "apply_patch" },
      input: [
        { role: "user", content: "Fix it." },
        { type: "custom_tool_call", call_id: "call_1", name: "apply_patch", input: PATCH },
        { type: "custom_tool_call_output", call_id: "call_1", output: "Done." },
        { role: "user", content: "Again." },
      ],
    },
    readCalls: (answer) => {
      const { output } = Array.isArray(answer) ? answer.at(-1).response : answer;
      return output
        .filter(({ type }: Json) => type === "custom_tool_call")
        .map(({ name, input }: Json) => ({ name, input }));
    },
  },
};

const ARGUMENTS = JSON.stringify({ input: PATCH });

/** A vendor that supports only functions, and calls one. */
function callFunction(request: RecordedRequest): Response {
  const head = { id: "chatcmpl-1", created: 1, model: "up" };
  const fn = { name: "apply_patch", arguments: ARGUMENTS };
  if (!JSON.parse(request.text).stream) {
    const message = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_2", type: "function", function: fn }],
    };
    return Response.json({
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
  }
  const chunk = (delta: Json, finish: string | null = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const piece = (text: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  return streamOf([
    chunk({
      role: "assistant",
      tool_calls: [{ index: 0, id: "call_2", type: "function", function: { ...fn, arguments: "" } }],
    }),
    ...(ARGUMENTS.match(/.{1,7}/gs) ?? []).map(piece),
    chunk({}, "tool_calls"),
  ]);
}

async function ask(client: Client, model: string, stream: boolean) {
  vendor.reset(callFunction);
  const response = await fetch(gateway.base + client.path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...client.body, model, stream }),
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.any(String)]);
  const events = () => [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data as string));
  return { sent: JSON.parse(vendor.last().text) as Json, answer: stream ? events() : JSON.parse(text) };
}

describe.each(Object.keys(CLIENTS))("a custom tool of a client of %s", (name) => {
  const client = CLIENTS[name] as Client;

  test("is sent as a function with one string parameter to a host that supports only functions", async () => {
    const { sent } = await ask(client, "acme/model", false);
    expect(sent.tools[0]).toMatchObject({
      type: "function",
      function: {
        name: "apply_patch",
        parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
      },
    });
    expect(sent.tools[0].function.description).toBe(
      "Edits files.\n\nThe input has to match this grammar:\nstart: patch",
    );
    expect(sent.tools[1]).toMatchObject({ type: "function", function: { name: "look" } });
    expect(sent.tool_choice).toEqual({ type: "function", function: { name: "apply_patch" } });
    expect(sent.messages[1].tool_calls).toEqual([
      { id: "call_1", type: "function", function: { name: "apply_patch", arguments: ARGUMENTS } },
    ]);
    expect(sent.messages[2]).toMatchObject({ role: "tool", tool_call_id: "call_1", content: "Done." });
  });

  test.each([false, true])(
    "is called with free text as declared, although the host called a function (stream: %p)",
    async (stream) => {
      const { answer } = await ask(client, "acme/model", stream);
      expect(client.readCalls(answer)).toEqual([{ name: "apply_patch", input: PATCH }]);
    },
  );
});

test("a custom tool of a Responses client is sent as a custom tool with its grammar if the operator allows only chat completions", async () => {
  const { sent } = await ask(CLIENTS["Responses"] as Client, "openai/gpt-4o-mini", false);
  expect(sent.tools[0]).toEqual({
    type: "custom",
    custom: { name: "apply_patch", description: "Edits files.", format: CHAT_GRAMMAR },
  });
});

test("a custom tool of a chat completions client is sent unchanged to OpenAI, whose API supports it", async () => {
  const { sent } = await ask(CLIENTS["chat completions"] as Client, "openai/gpt-4o-mini", false);
  expect(sent.tools).toEqual((CLIENTS["chat completions"] as Client).body.tools);
  expect(sent.messages).toEqual((CLIENTS["chat completions"] as Client).body.messages);
});
