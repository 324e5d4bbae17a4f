import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import {
  answerHello,
  type RecordedRequest,
  type RecordingVendor,
  startRecordingVendor,
} from "../../support/vendors/recording-vendor.ts";

/*
 * Endpoints that are served in several formats: which of them a request goes in, what reaches the vendor, and what the
 * client and the operator are told.
 */

let vendor: RecordingVendor;
let gateway: TestGateway;

/** Providers of the catalog and custom hosts, all of which are the simulated vendor. */
const yamlOf = (base: string): string => `
providers:
  openai: { base_url: "${base}", api_keys: [key], send: { tools: [image_generation, code_interpreter, file_search] } }
  groq: { base_url: "${base}", api_keys: [key] }
  xai: { base_url: "${base}", api_keys: [key] }
  deepseek: { base_url: "${base}", api_keys: [key] }
  azure: { base_url: "${base}/openai", api_keys: [key] }
  vllm:
    base_url: ${base}
    formats: [openai-chat, openai-responses, anthropic-messages]
    models: [{ id: own/many }]
  chat-only:
    base_url: ${base}
    format: openai-chat
    models: [{ id: own/chat }]
`;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({ yaml: yamlOf(vendor.baseUrl) });
});
beforeEach(() => vendor.reset(answerAnyFormat));
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

type Body = Readonly<Record<string, unknown>>;

function post(path: string, body: Body, at = gateway): Promise<Response> {
  return fetch(`${at.base}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${at.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const user = { role: "user", content: "x" };
const CHAT = { messages: [user] };
const RESPONSES = { input: "x" };
const MESSAGES = { messages: [user], max_tokens: 100 };
const functionTool = { type: "function", name: "f", parameters: { type: "object", properties: {} } };
const chatTool = {
  type: "function",
  function: { name: "f", parameters: { type: "object", properties: {} } },
};

/** Sends a request that must succeed, and returns what the vendor received and what it answered. */
async function ask(path: string, body: Body): Promise<{ path: string; sent: Body; answer: Body }> {
  const response = await post(path, {
    ...body,
    provider: { allow_fallbacks: false, ...(body["provider"] as Body) },
  });
  const answer = (await response.json()) as Body;
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return { path: vendor.last().path, sent: JSON.parse(vendor.last().text), answer };
}

const only = (slug: string) => ({ provider: { only: [slug] } });

describe("a request to a model endpoint with several formats", () => {
  test.each<[string, string, Body, string]>([
    [
      "chat at OpenAI",
      "/chat/completions",
      { model: "openai/gpt-4o", ...CHAT, ...only("openai") },
      "/v1/chat/completions",
    ],
    [
      "responses at OpenAI",
      "/responses",
      { model: "openai/gpt-4o", ...RESPONSES, ...only("openai") },
      "/v1/responses",
    ],
    [
      "responses at Azure",
      "/responses",
      { model: "openai/gpt-4o", ...RESPONSES, ...only("azure") },
      "/v1/openai/v1/responses",
    ],
    [
      "responses at Groq",
      "/responses",
      { model: "openai/gpt-oss-120b", ...RESPONSES, ...only("groq") },
      "/v1/responses",
    ],
    [
      "messages at DeepSeek",
      "/messages",
      { model: "deepseek/deepseek-v4-pro", ...MESSAGES, ...only("deepseek") },
      "/anthropic/v1/messages",
    ],
    [
      "responses at DeepSeek, which lacks that format",
      "/responses",
      { model: "deepseek/deepseek-v4-pro", ...RESPONSES, ...only("deepseek") },
      "/v1/chat/completions",
    ],
    ["messages at a custom host", "/messages", { model: "own/many", ...MESSAGES }, "/v1/messages"],
    ["responses at a custom host", "/responses", { model: "own/many", ...RESPONSES }, "/v1/responses"],
    [
      "responses at a host that supports only chat",
      "/responses",
      { model: "own/chat", ...RESPONSES },
      "/v1/chat/completions",
    ],
    [
      "chat to a model that supports only Responses",
      "/chat/completions",
      { model: "openai/gpt-5-pro", ...CHAT, ...only("openai") },
      "/v1/responses",
    ],
    [
      "responses to a model that supports only chat at Azure",
      "/responses",
      { model: "openai/gpt-4", ...RESPONSES, ...only("azure") },
      "/v1/openai/v1/chat/completions",
    ],
  ])(
    "uses the client's own format if the model endpoint supports it: %s",
    async (_name, path, body, expected) => {
      expect((await ask(path, body)).path).toBe(expected);
    },
  );

  test("has the header anthropic-version in the Messages format, and the provider's kind of authorization", async () => {
    await ask("/messages", { model: "deepseek/deepseek-v4-pro", ...MESSAGES });
    const { headers } = vendor.last();
    expect([headers.get("anthropic-version"), headers.get("authorization")]).toEqual([
      "2023-06-01",
      "Bearer key",
    ]);
    await ask("/chat/completions", { model: "deepseek/deepseek-v4-pro", ...CHAT });
    expect(vendor.last().headers.get("anthropic-version")).toBeNull();
  });

  test("in a format that the model endpoint lacks is translated to the first format that loses nothing", async () => {
    const model = "openai/gpt-4o";
    expect((await ask("/messages", { model, ...MESSAGES, ...only("openai") })).path).toBe(
      "/v1/chat/completions",
    );
    // This endpoint prefers the Responses format.
    const codex = { model: "openai/gpt-5.4", ...MESSAGES, ...only("openai") };
    expect((await ask("/messages", codex)).path).toBe("/v1/responses");
  });

  test("leaves the client's own format if it cannot combine tools and a reasoning effort", async () => {
    const body = { model: "openai/gpt-5.4", ...CHAT, ...only("openai") };
    expect((await ask("/chat/completions", { ...body, reasoning_effort: "high" })).path).toBe(
      "/v1/chat/completions",
    );
    const both = await ask("/chat/completions", {
      ...body,
      tools: [chatTool],
      reasoning_effort: "high",
      seed: 7,
      stop: "x",
    });
    expect(both.path).toBe("/v1/responses");
    expect(both.sent).toMatchObject({ reasoning: { effort: "high" }, tools: [{ name: "f" }] });
    const off = await ask("/chat/completions", { ...body, tools: [chatTool], reasoning_effort: "none" });
    expect(off.path).toBe("/v1/chat/completions");
  });

  test("that only one format can express uses that format", async () => {
    const body = { model: "openai/gpt-5.4", ...CHAT, tools: [chatTool], n: 2, ...only("openai") };
    const { path, sent, answer } = await ask("/chat/completions", body);
    expect([path, sent["n"], sent["reasoning_effort"]]).toEqual(["/v1/chat/completions", 2, "none"]);
    expect(answer).toMatchObject({ gateway_metadata: { warnings: [{ field: "reasoning" }] } });
  });

  test("for a reasoning summary uses the format that has summaries", async () => {
    const body = { model: "openai/gpt-5-mini", ...CHAT, ...only("openai") };
    expect((await ask("/chat/completions", { ...body, reasoning: { effort: "low" } })).path).toBe(
      "/v1/chat/completions",
    );
    const shown = await ask("/chat/completions", { ...body, reasoning: { effort: "low", summary: "auto" } });
    expect([shown.path, shown.sent["reasoning"]]).toEqual([
      "/v1/responses",
      { effort: "low", summary: "auto" },
    ]);
  });

  test("with encrypted reasoning of earlier turns uses the format that produced it", async () => {
    const details = [
      { type: "reasoning.encrypted", data: "gAAA", id: "rs_1", format: "openai-responses-v1" },
    ];
    const said = { role: "assistant", content: "Hm.", reasoning_details: details };
    const body = { model: "openai/gpt-5-mini", messages: [user, said, user], ...only("openai") };
    const { path, sent } = await ask("/chat/completions", body);
    expect(path).toBe("/v1/responses");
    expect(sent["input"]).toContainEqual({
      type: "reasoning",
      id: "rs_1",
      summary: [],
      encrypted_content: "gAAA",
    });
  });

  test("loses fields that the host rejects in that format, and a warning names them", async () => {
    const body = { model: "openai/gpt-oss-120b", ...RESPONSES, safety_identifier: "u", ...only("groq") };
    const { path, sent, answer } = await ask("/responses", body);
    expect([path, sent]).toEqual([
      "/v1/responses",
      { model: "openai/gpt-oss-120b", input: "x", store: false },
    ]);
    expect(answer).toMatchObject({ gateway_metadata: { warnings: [{ field: "safety_identifier" }] } });
  });
});

test("a request with tools of one format goes to a provider with that format before providers that would drop the tools", async () => {
  const { baseUrl } = vendor;
  const at = await startTestGateway({
    yaml: `providers: { openai: { base_url: "${baseUrl}", api_keys: [key] }, digitalocean: { base_url: "${baseUrl}", api_keys: [key] } }`,
  });
  const providersFor = async (tools: readonly Body[]): Promise<Set<string | null>> => {
    const sessions = Array.from({ length: 12 }, (_, at) => `session-${at}`);
    const answers = await Promise.all(
      sessions.map((session_id) =>
        post("/responses", { model: "openai/gpt-5-mini", input: "x", session_id, tools }, at),
      ),
    );
    return new Set(answers.map(({ headers }) => headers.get("x-gateway-provider")));
  };
  expect(await providersFor([functionTool])).toEqual(new Set(["openai", "digitalocean"]));
  expect(await providersFor([functionTool, { type: "web_search" }])).toEqual(new Set(["openai"]));
  await at.stop();
});

describe("the format of a request", () => {
  const body = {
    model: "openai/gpt-5.4",
    ...CHAT,
    tools: [chatTool],
    reasoning_effort: "low",
    ...only("openai"),
  };

  test("is the same in the explained route, the response header and the generation record", async () => {
    const explained = (await (await post("/route/explain", body)).json()) as { data?: Body };
    const { candidates } = (explained["data"] ?? explained) as { candidates: Body[] };
    expect(candidates.map((candidate) => candidate["upstream_format"])).toEqual(["openai-responses"]);
    const response = await post("/chat/completions", body);
    expect(response.headers.get("x-gateway-route")).toBe(
      "openai;why=only;format=openai-responses, azure;out=provider_rules",
    );
    const id = response.headers.get("x-gateway-generation-id");
    await response.text();
    const headers = { authorization: `Bearer ${gateway.key}` };
    const { data } = (await (await fetch(`${gateway.base}/generation?id=${id}`, { headers })).json()) as {
      data: Body;
    };
    expect(data).toMatchObject({
      attempts: [{ upstream_format: "openai-responses" }],
      plan: [{ provider_name: "openai", upstream_format: "openai-responses" }, { provider_name: "azure" }],
    });
  });

  test("falls back to another one if the host does not have the API endpoint", async () => {
    vendor.reset((request) =>
      request.path.endsWith("/responses")
        ? Response.json({ error: { message: "Not Found" } }, { status: 404 })
        : answerAnyFormat(request),
    );
    const response = await post("/responses", { model: "own/many", ...RESPONSES });
    expect(response.status).toBe(200);
    expect(vendor.requests.map(({ path }) => path)).toEqual(["/v1/responses", "/v1/chat/completions"]);
    expect(response.headers.get("x-gateway-route")).toBe("vllm;why=only;format=openai-chat");
  });

  test("does not fall back if the host has the API endpoint and not the model", async () => {
    vendor.reset(() =>
      Response.json({ error: { message: "The model `many` does not exist" } }, { status: 404 }),
    );
    expect((await post("/responses", { model: "own/many", ...RESPONSES })).status).toBe(502);
    expect(new Set(vendor.requests.map(({ path }) => path))).toEqual(new Set(["/v1/responses"]));
  });

  test("is one of those that the operator configured", async () => {
    const at = await startTestGateway({
      yaml: `providers: { openai: { base_url: "${vendor.baseUrl}", api_keys: [key], formats: [openai-chat] } }`,
    });
    const response = await post("/responses", { model: "openai/gpt-4o", ...RESPONSES }, at);
    expect([response.status, vendor.last().path]).toEqual([200, "/v1/chat/completions"]);
    // Models without a configured format are not served.
    expect((await post("/responses", { model: "openai/gpt-5-pro", ...RESPONSES }, at)).status).toBe(400);
    await at.stop();
  });

  test.each([
    ["providers.openai.formats names gemini, which openai does not speak", "openai: { formats: [gemini] }"],
    [
      "providers.vllm.format conflicts with formats; remove one of them",
      "vllm: { base_url: 'http://h', models: [], format: gemini, formats: [gemini] }",
    ],
  ])(
    "is rejected in the configuration if it is unsupported or stated twice: %s",
    async (message, provider) => {
      expect(startTestGateway({ yaml: `providers: { ${provider} }` })).rejects.toThrow(message);
    },
  );
});

/** Answers in the Responses format with these items, as a document or stream as requested. */
function answerWith(...output: readonly Body[]): (request: RecordedRequest) => Response {
  return (request) => {
    if (!request.path.endsWith("/responses")) return answerHello(request);
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
    const response = { id: "resp_1", object: "response", status: "completed", output, usage };
    if ((JSON.parse(request.text) as Body)["stream"] !== true) return Response.json(response);
    const events: Body[] = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      ...output.flatMap((item, at) => [
        { type: "response.output_item.added", output_index: at, item: { ...item, status: "in_progress" } },
        { type: "response.output_item.done", output_index: at, item },
      ]),
      { type: "response.completed", response },
    ];
    const text = events.map(
      (event, at) =>
        `event: ${event["type"]}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`,
    );
    return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
  };
}

/** Returns the items of a Responses answer, document or stream. */
async function readOutput(response: Response): Promise<unknown[]> {
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.any(String)]);
  if (text.startsWith("{")) return (JSON.parse(text) as { output: unknown[] }).output;
  const last =
    text
      .trimEnd()
      .split("\n\n")
      .findLast((event) => event.includes("response.completed")) ?? "";
  return (JSON.parse(last.slice(last.indexOf("data: ") + 6)) as { response: { output: unknown[] } }).response
    .output;
}

const said = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Done.", annotations: [] }],
};

describe.each([false, true])(
  "hosted tools of Responses on a model that also supports chat, streamed: %p",
  (stream) => {
    test.each<[string, Body, Body]>([
      [
        "web_search",
        { type: "web_search" },
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } },
      ],
      [
        "image_generation",
        { type: "image_generation" },
        { type: "image_generation_call", id: "ig_1", status: "completed", result: "AAAA" },
      ],
      [
        "code_interpreter",
        { type: "code_interpreter", container: { type: "auto" } },
        {
          type: "code_interpreter_call",
          id: "ci_1",
          status: "completed",
          code: "1",
          container_id: "c",
          outputs: [],
        },
      ],
      [
        "mcp",
        { type: "mcp", server_label: "s", server_url: "https://mcp.test" },
        { type: "mcp_call", id: "mcp_1", server_label: "s", name: "n", arguments: "{}", output: "o" },
      ],
      [
        "file_search",
        { type: "file_search", vector_store_ids: ["vs_1"] },
        { type: "file_search_call", id: "fs_1", status: "completed", queries: ["q"], results: null },
      ],
    ])("are forwarded unchanged in both directions: %s", async (_name, tool, item) => {
      vendor.reset(answerWith(item, said));
      const response = await post("/responses", {
        model: "openai/gpt-5-mini",
        input: "x",
        tools: [tool, functionTool],
        stream,
        ...only("openai"),
      });
      expect(await readOutput(response)).toMatchObject([item, said]);
      expect(JSON.parse(vendor.last().text)).toMatchObject({ tools: [tool, functionTool], store: false });
    });

    test("compaction items are forwarded unchanged in both directions and in the next turn", async () => {
      const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "gAAA" };
      vendor.reset(answerWith(compaction, said));
      const management = [{ type: "compaction", compact_threshold: 1_000 }];
      const body = { model: "openai/gpt-5-mini", context_management: management, stream, ...only("openai") };
      const output = await readOutput(await post("/responses", { ...body, input: "x" }));
      expect(output).toMatchObject([compaction, said]);
      await (
        await post("/responses", { ...body, input: [...output, { role: "user", content: "y" }] })
      ).text();
      const sent = JSON.parse(vendor.last().text) as { input: unknown[] };
      expect(sent).toMatchObject({ context_management: management });
      expect(sent.input[0]).toMatchObject(compaction);
    });
  },
);

describe.each([false, true])(
  "the second turn of a Responses conversation that is not stored, streamed: %p",
  (stream) => {
    const reasoning = {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "Hm." }],
      encrypted_content: "gAAA",
    };
    const call = {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "f",
      arguments: "{}",
      status: "completed",
    };
    const result = { type: "function_call_output", call_id: "call_1", output: "ok" };
    const body = { model: "openai/gpt-5-mini", tools: [functionTool], stream, ...only("openai") };
    const sentInput = () => (JSON.parse(vendor.last().text) as { input: Body[] }).input;

    test("includes the encrypted reasoning of the first turn", async () => {
      vendor.reset(answerWith(reasoning, call));
      const output = await readOutput(await post("/responses", { ...body, input: "x" }));
      expect(JSON.parse(vendor.last().text)).toMatchObject({
        include: ["reasoning.encrypted_content"],
        store: false,
      });
      vendor.reset(answerWith(said));
      await readOutput(await post("/responses", { ...body, input: [user, ...output, result] }));
      expect(sentInput()).toMatchObject([user, reasoning, call, result]);
    });

    test.each([
      ["is empty", { type: "reasoning", id: "rs_1", summary: [] }],
      ["has only a summary", { ...reasoning, encrypted_content: null }],
      ["is from another vendor", { ...reasoning, id: "rs_0b824fe9-3250-2588-0bbf-0810402fc822" }],
    ])("omits the reasoning before a call that %s, and the ids that refer to it", async (_name, item) => {
      vendor.reset(answerWith(said));
      await readOutput(await post("/responses", { ...body, input: [user, item, call, result] }));
      const { id: _, ...bare } = call;
      expect(vendor.requests).toHaveLength(1);
      expect(sentInput()).toEqual([user, bare, result]);
    });

    test.each([
      [
        "expired",
        "The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
      ],
      ["missing", "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."],
      [
        "required by an item",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_2'.",
      ],
    ])("is sent again without reasoning that the vendor reports as %s", async (_name, message) => {
      const status = message.startsWith("Item with") ? 404 : 400;
      const error = { message, type: "invalid_request_error" };
      vendor.reset((request, index) =>
        index === 0 ? Response.json({ error }, { status }) : answerWith(said)(request),
      );
      const odd = { type: "reasoning", id: "rs_2", summary: [{ type: "odd" }], encrypted_content: "gBBB" };
      const output = await readOutput(
        await post("/responses", { ...body, input: [user, reasoning, odd, call, result] }),
      );
      expect(output).toMatchObject([said]);
      expect(vendor.requests).toHaveLength(2);
      const { id: _, ...bare } = call;
      expect(sentInput()).toEqual([user, bare, result]);
    });

    test("has no reasoning fields for a model without reasoning", async () => {
      vendor.reset(answerWith(said));
      const include = ["reasoning.encrypted_content", "web_search_call.action.sources"];
      await readOutput(
        await post("/responses", {
          ...body,
          model: "openai/gpt-4o",
          input: "x",
          include,
          reasoning: { effort: "low" },
        }),
      );
      const sent = JSON.parse(vendor.last().text) as Body;
      expect(sent["include"]).toEqual(["web_search_call.action.sources"]);
      expect(sent).not.toHaveProperty("reasoning");
    });
  },
);
