import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AskableApi } from "../support/clients/client-apis.ts";
import { answerAnyFormat } from "../support/vendors/answer-any-format.ts";
import type { RecordedRequest } from "../support/vendors/recording-vendor.ts";
import {
  CHAT,
  type Fields,
  MESSAGES,
  OWN_HOSTS,
  type ProfileSite,
  RESPONSES,
  startProfileSite,
} from "./sites/profile-site.ts";

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(OWN_HOSTS);
});
afterAll(() => site.stop());

const SCHEMA = { type: "object", properties: {} };
const LONG = `mcp__4e9e25f1-b480-40f3-ba8d-a792f8f6ff07__update_project_deployment_protection`;

/** A tool of a client API. */
function tool({ name: api }: AskableApi, name: string): Fields {
  if (api === MESSAGES.name) return { name, input_schema: SCHEMA };
  const fn = { name, parameters: SCHEMA };
  return api === CHAT.name ? { type: "function", function: fn } : { type: "function", ...fn, strict: false };
}

/** The names of the functions that reached the vendor, in any format. */
function namesIn(sent: Fields): string[] {
  const [group] = sent["tools"] as Record<string, unknown>[];
  const declared = group?.["functionDeclarations"] as { name: string }[] | undefined;
  const listed = sent["tools"] as { name?: string; function?: { name: string } }[];
  return (declared ?? listed).map((one) => one.name ?? (one as { function: { name: string } }).function.name);
}

/** What an answer calls: in the format of the request, as a stream if it asks for one. */
function answerCall(name: string, args = "{}") {
  return (request: RecordedRequest): Response => {
    const { path, text } = request;
    const isStream = /"stream":true/.test(text);
    if (path.endsWith("/responses")) return answerItem(isStream, callItem(name, args));
    if (path.includes("GenerateContent") || path.includes("generateContent"))
      return Response.json({
        candidates: [
          { content: { role: "model", parts: [{ functionCall: { name, args: {} } }] }, finishReason: "STOP" },
        ],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      });
    const tool_calls = [{ id: "call_1", type: "function", function: { name, arguments: args } }];
    const head = { id: "c", created: 1, model: "up" };
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const message = { role: "assistant", content: null, tool_calls };
    if (!isStream)
      return Response.json({
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: "tool_calls" }],
        usage,
      });
    const chunk = (delta: Fields, finish_reason: string | null) =>
      `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const delta = { role: "assistant", tool_calls: [{ index: 0, ...tool_calls[0] }] };
    return streamed(`${chunk(delta, null)}${chunk({}, "tool_calls")}data: [DONE]\n\n`);
  };
}

function streamed(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

function callItem(name: string, args: string): Fields {
  return {
    id: "fc_1",
    type: "function_call",
    call_id: "call_1",
    name,
    arguments: args,
    status: "completed",
  };
}

function answerItem(isStream: boolean, item: Fields): Response {
  const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
  const response = { id: "resp_1", object: "response", status: "completed", output: [item], usage };
  if (!isStream) return Response.json(response);
  const events: Fields[] = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
    {
      type: "response.function_call_arguments.delta",
      output_index: 0,
      item_id: "fc_1",
      delta: item["arguments"],
    },
    {
      type: "response.function_call_arguments.done",
      output_index: 0,
      item_id: "fc_1",
      arguments: item["arguments"],
    },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
  return streamed(
    events.map((event) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );
}

/** Sends a streaming request and returns the text of its answer. */
async function askStream(api: AskableApi, model: string, more: Fields, name: string): Promise<string> {
  site.vendor.reset((request) => answerCall(nameSent(request, name))(request));
  const response = await fetch(`${site.gateway.base}${api.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${site.gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(api.body(model, { ...more, stream: true })),
  });
  return response.text();
}

/** The name under which the vendor got the tool at an index of the list, which stands in `name`. */
function nameSent({ text }: RecordedRequest, index: string): string {
  return namesIn(JSON.parse(text) as Fields)[Number(index)] as string;
}

const HOSTS = [
  [CHAT, "own/chat"],
  [MESSAGES, "own/chat"],
  [RESPONSES, "own/chat"],
  [CHAT, "google/gemini-3.1-pro-preview"],
] as const;

describe.each(HOSTS)("a name of a tool with more than 64 characters in $name", (api, model) => {
  const tools = [tool(api, LONG), tool(api, `${LONG}2`), tool(api, "ok")];

  test(`is sent to ${model} under a shorter one of its own, and comes back in the answer`, async () => {
    const { text, sent } = await site.ask(api, model, { tools }, (request) =>
      answerCall(nameSent(request, "1"))(request),
    );
    const names = namesIn(sent);
    expect(new Set(names).size).toBe(3);
    expect(names[2]).toBe("ok");
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(text).toContain(`"${LONG}2"`);
  });
});

test.each([CHAT, MESSAGES, RESPONSES])(
  "a long name of a tool comes back in a stream of $name",
  async (api) => {
    const tools = [tool(api, LONG), tool(api, `${LONG}2`)];
    expect(await askStream(api, "own/chat", { tools }, "1")).toContain(`"${LONG}2"`);
  },
);

test("a long name is the same in the list, the choice and earlier calls of a chat", async () => {
  const call = { id: "call_1", type: "function", function: { name: LONG, arguments: "{}" } };
  const { sent } = await site.ask(CHAT, "own/chat", {
    tools: [tool(CHAT, LONG)],
    tool_choice: { type: "function", function: { name: LONG } },
    messages: [
      { role: "user", content: "Go" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "done" },
    ],
  });
  const [name] = namesIn(sent);
  expect(sent).toMatchObject({
    tool_choice: { function: { name } },
    messages: [{}, { tool_calls: [{ function: { name } }] }, {}],
  });
  expect(JSON.stringify(sent)).not.toContain(LONG);
});

test("names of up to 64 characters are forwarded to chat hosts as they are", async () => {
  const tools = [tool(CHAT, "n".repeat(64)), tool(CHAT, "files.read")];
  const { sent } = await site.ask(CHAT, "own/chat", { tools });
  expect(sent["tools"]).toEqual(tools);
});

test("a prefix that Gemini writes before the name of a function is taken off", async () => {
  for (const name of ["default_api:look", "default_api.look"]) {
    const { text } = await site.ask(
      CHAT,
      "google/gemini-3.1-pro-preview",
      { tools: [tool(CHAT, "look")] },
      answerCall(name),
    );
    expect(text).toContain('"name":"look"');
  }
});

const OPEN = tool(RESPONSES, "open");
const GROUP = { type: "namespace", name: "mcp__app", description: "An app.", tools: [OPEN] };
const PATCH = { type: "custom", name: "apply_patch", description: "Applies a patch." };

describe("namespaces and free-text tools of a Responses client", () => {
  test.each([["own/responses"], ["x-ai/grok-4.3"], ["openai/gpt-oss-120b"]])(
    "reach %s, which has only functions, as functions, and come back as what they are",
    async (model) => {
      const provider = model.startsWith("openai/") ? { provider: { only: ["groq"] } } : {};
      const grouped = await site.ask(RESPONSES, model, { tools: [GROUP, PATCH], ...provider }, (request) =>
        answerCall(nameSent(request, "0"))(request),
      );
      expect(namesIn(grouped.sent)).toEqual(["mcp__app__open", "apply_patch"]);
      for (const { type } of grouped.sent["tools"] as { type: string }[]) expect(type).toBe("function");
      const [call] = (JSON.parse(grouped.text) as { output: Fields[] }).output;
      expect(call).toMatchObject({ type: "function_call", name: "open", namespace: "mcp__app" });
      const free = await site.ask(
        RESPONSES,
        model,
        { tools: [PATCH], ...provider },
        answerCall("apply_patch", JSON.stringify({ input: "*** Begin" })),
      );
      const [patch] = (JSON.parse(free.text) as { output: Fields[] }).output;
      expect(patch).toMatchObject({ type: "custom_tool_call", name: "apply_patch", input: "*** Begin" });
    },
  );

  test("come back in a stream", async () => {
    const text = await askStream(RESPONSES, "own/responses", { tools: [GROUP] }, "0");
    expect(text).toContain('"namespace":"mcp__app"');
    expect(text).toContain('"name":"open"');
    expect(text).not.toContain("mcp__app__open");
  });

  test("are flat in earlier calls and their results too", async () => {
    const input = [
      { role: "user", content: "Go" },
      {
        type: "function_call",
        id: "fc_1",
        call_id: "c1",
        name: "open",
        namespace: "mcp__app",
        arguments: "{}",
      },
      { type: "function_call_output", call_id: "c1", output: "1" },
      { type: "custom_tool_call", id: "ctc_1", call_id: "c2", name: "apply_patch", input: "x" },
      { type: "custom_tool_call_output", call_id: "c2", output: "2" },
    ];
    const { sent } = await site.ask(RESPONSES, "own/responses", { tools: [GROUP, PATCH], input });
    const [, first, , second, result] = sent["input"] as Fields[];
    expect(first).toMatchObject({ type: "function_call", name: "mcp__app__open" });
    expect(first).not.toContainKey("namespace");
    expect(second).toMatchObject({ type: "function_call", name: "apply_patch", arguments: '{"input":"x"}' });
    expect(second).not.toContainKey("id");
    expect(result).toMatchObject({ type: "function_call_output", call_id: "c2" });
  });

  test("come back under their own name if a function has the same", async () => {
    const { text } = await site.ask(RESPONSES, "own/responses", { tools: [OPEN, GROUP] }, (request) =>
      answerCall(nameSent(request, "1"))(request),
    );
    const [call] = (JSON.parse(text) as { output: Fields[] }).output;
    expect(call).toMatchObject({ name: "open", namespace: "mcp__app" });
  });

  test("do not hide a function that has the name of both", async () => {
    const tools = [tool(RESPONSES, "mcp__app__open"), GROUP];
    const { sent, text } = await site.ask(
      RESPONSES,
      "own/responses",
      { tools },
      answerCall("mcp__app__open"),
    );
    expect(new Set(namesIn(sent)).size).toBe(2);
    const [call] = (JSON.parse(text) as { output: Fields[] }).output;
    expect(call).toMatchObject({ name: "mcp__app__open" });
    expect(call).not.toContainKey("namespace");
  });

  test("reach OpenAI as they are", async () => {
    const { sent } = await site.ask(RESPONSES, "openai/gpt-5.1", {
      provider: { only: ["openai"] },
      tools: [GROUP, PATCH],
    });
    expect(sent["tools"]).toEqual([GROUP, PATCH]);
  });

  test.each([["own/responses"], ["own/chat"], ["anthropic/claude-sonnet-4.5"]])(
    "are offered to %s where an item of the input adds them",
    async (model) => {
      const exec = { type: "custom", name: "exec", description: "Runs code." };
      const input = [
        {
          type: "additional_tools",
          role: "developer",
          tools: [{ ...GROUP, name: "functions", tools: [exec] }],
        },
        { role: "user", content: "Go" },
      ];
      const { text, sent } = await site.ask(RESPONSES, model, { input, tools: [OPEN] }, (request) =>
        model.startsWith("own/")
          ? answerCall("functions__exec", '{"input":"1+1"}')(request)
          : answerAnyFormat(request),
      );
      expect(namesIn(sent)).toEqual(["open", "functions__exec"]);
      expect(JSON.stringify(sent)).not.toContain("additional_tools");
      if (!model.startsWith("own/")) return;
      const [call] = (JSON.parse(text) as { output: Fields[] }).output;
      expect(call).toMatchObject({
        type: "custom_tool_call",
        name: "exec",
        namespace: "functions",
        input: "1+1",
      });
    },
  );

  test("are left out and named if a namespace holds no functions", async () => {
    const group = { ...GROUP, tools: [] };
    const { sent, named } = await site.ask(
      RESPONSES,
      "own/responses",
      { tools: [group, OPEN] },
      answerAnyFormat,
    );
    expect(namesIn(sent)).toEqual(["open"]);
    expect(named).toContain("tools[0]");
  });
});

describe("a request without tools", () => {
  const choices = [{}, { tool_choice: "auto" }, { tool_choice: "none" }];
  test.each([
    [CHAT, "openai/gpt-4.1"],
    [CHAT, "own/chat"],
    [CHAT, "deepseek/deepseek-v4-pro"],
    [CHAT, "anthropic/claude-sonnet-4.5"],
    [RESPONSES, "openai/gpt-5.1"],
    [RESPONSES, "own/responses"],
    [RESPONSES, "own/chat"],
    [MESSAGES, "anthropic/claude-sonnet-4.5"],
    [MESSAGES, "own/chat"],
  ])("of $name to %s is sent without an empty list and without a choice", async (api, model) => {
    for (const choice of choices) {
      const given =
        "tool_choice" in choice && api === MESSAGES ? { type: choice.tool_choice } : choice.tool_choice;
      const more = { ...(given === undefined ? {} : { tool_choice: given }), parallel_tool_calls: true };
      for (const tools of [{ tools: [] }, {}]) {
        const { status, sent } = await site.ask(api, model, { ...tools, ...more });
        expect(status).toBe(200);
        expect(sent).not.toContainAnyKeys(["tools", "tool_choice"]);
        if (api !== MESSAGES) expect(sent).not.toContainKey("parallel_tool_calls");
      }
    }
  });

  test("keeps what is said of tools that items of the input add", async () => {
    const input = [
      { type: "additional_tools", role: "developer", tools: [OPEN] },
      { role: "user", content: "Go" },
    ];
    const more = { input, tool_choice: "required", parallel_tool_calls: false };
    const { status, sent } = await site.ask(RESPONSES, "openai/gpt-5.1", {
      ...more,
      provider: { only: ["openai"] },
    });
    expect(status).toBe(200);
    expect(sent).toMatchObject(more);
  });

  test.each([
    [CHAT, "required"],
    [CHAT, { type: "function", function: { name: "look" } }],
    [CHAT, { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [] } }],
    [RESPONSES, "required"],
    [RESPONSES, { type: "function", name: "look" }],
    [RESPONSES, { type: "web_search" }],
    [MESSAGES, { type: "any" }],
    [MESSAGES, { type: "tool", name: "look" }],
  ])("of $name is a 400 before any call if it requires one: %j", async (api, tool_choice) => {
    for (const tools of [{ tools: [] }, {}])
      await expectRejected(api, { ...tools, tool_choice }, "tool_choice");
  });
});

/** Expects a 400 that names the field, and no call of a provider. */
async function expectRejected(api: AskableApi, more: Fields, field: string): Promise<void> {
  const { status, text } = await site.ask(api, "own/chat", more);
  expect([status, text]).toEqual([400, expect.stringContaining(`"field":"${field}"`)]);
  expect(site.vendor.requests).toEqual([]);
}

describe("a choice of a tool that is not there", () => {
  test.each([
    [CHAT, { type: "function", function: { name: "gone" } }],
    [CHAT, { type: "custom", custom: { name: "gone" } }],
    [
      CHAT,
      {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "gone" } }] },
      },
    ],
    [RESPONSES, { type: "function", name: "gone" }],
    [RESPONSES, { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "gone" }] }],
    [RESPONSES, { type: "image_generation" }],
    [MESSAGES, { type: "tool", name: "gone" }],
  ])("of $name is a 400 before any call: %j", async (api, tool_choice) => {
    await expectRejected(api, { tools: [tool(api, "look")], tool_choice }, "tool_choice");
  });

  test("is a 400 though an earlier call has its name", async () => {
    const call = { id: "call_1", type: "function", function: { name: "gone", arguments: "{}" } };
    const messages = [
      { role: "user", content: "Go" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "done" },
    ];
    const tool_choice = { type: "function", function: { name: "gone" } };
    await expectRejected(CHAT, { tools: [tool(CHAT, "look")], tool_choice, messages }, "tool_choice");
  });

  test("is accepted where servers or searches may add it, and in a namespace", async () => {
    const choice = { tool_choice: { type: "function", name: "open" } };
    const search = { type: "tool_search" };
    for (const tools of [[search], [{ type: "mcp", server_label: "s", server_url: "https://s" }], [GROUP]])
      expect((await site.ask(RESPONSES, "openai/gpt-5.1", { tools, ...choice })).status).toBe(200);
    const { status } = await site.ask(MESSAGES, "anthropic/claude-sonnet-4.5", {
      mcp_servers: [{ type: "url", name: "s", url: "https://s" }],
      tool_choice: { type: "tool", name: "open" },
    });
    expect(status).toBe(200);
  });
});

describe("a type that no provider knows", () => {
  test.each([
    [CHAT, { tools: [{ type: "functoin", function: { name: "look" } }] }, "tools[0].type"],
    [CHAT, { tools: [tool(CHAT, "look")], tool_choice: { type: "tool", name: "look" } }, "tool_choice.type"],
    [
      CHAT,
      {
        messages: [
          { role: "user", content: "Go" },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c", type: "tool", function: { name: "look", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "c", content: "done" },
        ],
      },
      "messages[1].tool_calls[0].type",
    ],
    [RESPONSES, { tools: [{ type: "functoin", name: "look" }] }, "tools[0].type"],
    [
      RESPONSES,
      { tools: [tool(RESPONSES, "look")], tool_choice: { type: "tool", name: "look" } },
      "tool_choice.type",
    ],
    [MESSAGES, { tools: [{ type: "functoin", name: "look", input_schema: SCHEMA }] }, "tools[0].type"],
    [
      MESSAGES,
      { tools: [tool(MESSAGES, "look")], tool_choice: { type: "function", name: "look" } },
      "tool_choice.type",
    ],
  ])("is a 400 of $name that names the field, before any call: %j", async (api, more, field) => {
    await expectRejected(api, more, field);
  });

  test.each([
    [CHAT, [{ type: "builtin_function", function: { name: "$web_search" } }]],
    [CHAT, [{ type: "openrouter:web_search" }]],
    [RESPONSES, [{ type: "web_search_2025_08_26" }]],
    [RESPONSES, [{ type: "x_search" }]],
    [MESSAGES, [{ type: "bash_20250124", name: "bash" }]],
  ])("is none that a provider has, nor a version or a host's own: %j of $name", async (api, tools) => {
    expect((await site.ask(api, "own/chat", { tools })).status).toBe(200);
  });
});

describe("a body at /chat/completions in the form of another API", () => {
  const chat = { ...CHAT, body: (model: string, more: Fields = {}) => ({ model, ...more }) };

  test("has flat tools, which reach the host in the form of the chat API", async () => {
    const look = { name: "look", description: "Looks.", parameters: SCHEMA };
    const flat = [
      { type: "function", ...look, strict: true },
      { type: "custom", name: "write", format: { type: "grammar", syntax: "lark", definition: "x" } },
      { name: "find", input_schema: SCHEMA },
    ];
    const { status, sent } = await site.ask(CHAT, "openai/gpt-4.1", {
      tools: flat,
      tool_choice: { type: "function", name: "look" },
    });
    expect(status).toBe(200);
    expect(sent["tools"]).toEqual([
      { type: "function", function: { ...look, strict: true } },
      {
        type: "custom",
        custom: { name: "write", format: { type: "grammar", grammar: { syntax: "lark", definition: "x" } } },
      },
      { type: "function", function: { name: "find", parameters: SCHEMA } },
    ]);
    expect(sent["tool_choice"]).toEqual({ type: "function", function: { name: "look" } });
  });

  const responses = {
    instructions: "Be brief.",
    input: [
      { role: "user", content: [{ type: "input_text", text: "Go" }] },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: '{"at":1}' },
      { type: "function_call_output", call_id: "call_1", output: "seen" },
    ],
    tools: [{ type: "function", name: "look", parameters: SCHEMA, strict: false }],
    tool_choice: "auto",
    reasoning: { effort: "medium" },
    max_output_tokens: 100,
    store: false,
    include: ["reasoning.encrypted_content"],
    metadata: { a: "b" },
    user: "someone",
  };

  test("is a request of Responses, which is answered as a chat", async () => {
    const { status, text, sent } = await site.ask(chat, "own/chat", responses, answerCall("look"));
    expect(status).toBe(200);
    expect(sent).toMatchObject({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user" },
        {
          role: "assistant",
          tool_calls: [{ id: "call_1", function: { name: "look", arguments: '{"at":1}' } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "seen" },
      ],
      tools: [{ type: "function", function: { name: "look", parameters: SCHEMA } }],
      tool_choice: "auto",
      max_tokens: 100,
      metadata: { a: "b" },
    });
    expect(sent).not.toContainAnyKeys(["input", "instructions", "include", "stream_options"]);
    expect(JSON.parse(text)).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { tool_calls: [{ function: { name: "look" } }] } }],
    });
  });

  test("is streamed as a chat, with its usage where it asks for it", async () => {
    const more = { ...responses, stream_options: { include_usage: true } };
    const text = await askStream(chat, "own/responses", more, "0");
    expect(text).toContain('"object":"chat.completion.chunk"');
    expect(text).toContain('"choices":[]');
    expect(text.trimEnd()).toEndWith("data: [DONE]");
    expect(await askStream(chat, "own/responses", responses, "0")).not.toContain('"choices":[]');
  });

  test("is rejected in the words of Responses where it is not valid", async () => {
    const { status, text } = await site.ask(chat, "own/chat", { input: 5 });
    expect([status, text]).toEqual([400, expect.stringContaining('"field":"input"')]);
  });

  test("is a chat if it has messages, whatever its tools are called", async () => {
    const parameters = { type: "object", properties: { input: {}, messages: { type: "array" } } };
    const more = { tools: [{ type: "function", function: { name: "send", parameters } }] };
    const { sent } = await site.ask(chat, "own/chat", {
      ...more,
      messages: [{ role: "user", content: "Go" }],
    });
    expect(sent).toMatchObject(more);
  });
});

describe("a message between a call and its result of a Responses client", () => {
  const call = { type: "function_call", call_id: "c1", name: "look", arguments: "{}" };
  const result = { type: "function_call_output", call_id: "c1", output: "1" };
  const hook = { type: "message", role: "developer", content: "A hook." };
  const history = {
    tools: [tool(RESPONSES, "look")],
    input: [{ role: "user", content: "Go" }, call, hook, result],
  };
  const orderOf = (sent: Fields) => (sent["input"] as Fields[]).map(({ type, role }) => role ?? type);

  test("follows the result at hosts that pair both by their order", async () => {
    const { status, sent } = await site.ask(RESPONSES, "own/responses", history);
    expect(status).toBe(200);
    expect(orderOf(sent)).toEqual(["user", "function_call", "function_call_output", "developer"]);
  });

  test("stays where it is at OpenAI, which pairs both by their id", async () => {
    const { sent } = await site.ask(RESPONSES, "openai/gpt-5.1", {
      ...history,
      provider: { only: ["openai"] },
    });
    expect(sent["input"]).toEqual(history.input);
  });

  test("is forwarded as it is to every host if it follows the result", async () => {
    const input = [{ role: "user", content: "Go" }, call, result, hook];
    expect((await site.ask(RESPONSES, "own/responses", { ...history, input })).sent["input"]).toEqual(input);
  });
});
