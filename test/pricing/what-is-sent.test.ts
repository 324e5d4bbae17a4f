import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { createMasterKey } from "../../src/core/provider-keys/vault.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, manage } from "../support/money.ts";
import {
  answerHello,
  type RecordedRequest,
  type RecordingVendor,
  startRecordingVendor,
} from "../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;
/** A key of an account that has keys of its own for OpenRouter, OpenAI and Anthropic. */
let byokKey: string;

beforeAll(async () => {
  vendor = startRecordingVendor();
  const origin = vendor.baseUrl.replace("/v1", "");
  gateway = await startTestGateway({
    environment: { GATEWAY_SECRETS_KEY: createMasterKey(createSystemRandom()) },
    yaml: `
limits: { attempts: 1 }
providers:
  openrouter: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  openai: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  anthropic: { base_url: "${origin}", api_keys: [k] }
  alibaba: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  zai: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  moonshotai: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  perplexity: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  venice: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  groq: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  cohere: { base_url: "${origin}", api_keys: [k] }
  mine: { base_url: "${vendor.baseUrl}", api_keys: [k], models: [{ id: mine/chat, prices: { prompt: "0.000001", completion: "0.000002" } }, { id: "mine/chat:free" }] }
`,
  });
  const account = "user_byok";
  byokKey = await addAccountWithKey(gateway, { id: account });
  for (const provider of ["openrouter", "openai", "anthropic"]) {
    const secret = `own-key-of-${provider}-0123456789`;
    const { status } = await manage(gateway, `/accounts/${account}/provider-keys`, { provider, key: secret });
    expect(status).toBe(201);
  }
});
beforeEach(() => vendor.reset(answer));
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

/** Answers in the format of the path. */
function answer(request: RecordedRequest): Response {
  const { path } = request;
  if (path.endsWith("/messages"))
    return Response.json({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "Hello." }],
      stop_reason: "end_turn",
      usage: { input_tokens: 3, output_tokens: 2 },
    });
  if (path.endsWith("/responses"))
    return Response.json({
      id: "resp_1",
      object: "response",
      status: "completed",
      model: "m",
      output: [
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hello.", annotations: [] }],
        },
      ],
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    });
  if (path.endsWith("/embeddings"))
    return Response.json({
      object: "list",
      data: [{ index: 0, embedding: [0.5] }],
      model: "m",
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
  if (path.endsWith("/images/generations"))
    return Response.json({
      created: 1,
      data: [{ b64_json: "AAAA" }],
      usage: { input_tokens: 3, output_tokens: 9, total_tokens: 12 },
    });
  if (path.endsWith("/audio/speech"))
    return new Response("audio", { headers: { "content-type": "audio/mpeg" } });
  if (path.endsWith("/audio/transcriptions"))
    return Response.json({ text: "Hello.", usage: { type: "duration", seconds: 1 } });
  if (path.endsWith("/moderations"))
    return Response.json({ id: "modr", model: "m", results: [{ flagged: false }] });
  if (path.endsWith("/rerank"))
    return Response.json({
      id: "r",
      results: [{ index: 0, relevance_score: 0.5 }],
      meta: { billed_units: { search_units: 1 } },
    });
  return answerHello(request);
}

type Body = Readonly<Record<string, unknown>>;

/** Sends a request and returns the status, what the vendor received, and what the answer warns of. */
async function send(path: string, body: Body | FormData, key: string | null = gateway.key) {
  const isForm = body instanceof FormData;
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(isForm ? {} : { "content-type": "application/json" }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const json = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
  const metadata = (json["gateway_metadata"] ?? {}) as { warnings?: { field: string; message: string }[] };
  const sent = vendor.requests.at(-1);
  return {
    status: response.status,
    error: json["error"] as { message: string; metadata?: Record<string, unknown> } | undefined,
    sent: sent === undefined || isForm ? null : (JSON.parse(sent.text) as Record<string, unknown>),
    raw: sent?.text ?? "",
    warned: (metadata.warnings ?? []).map(({ field }) => field),
    warnings: metadata.warnings ?? [],
  };
}

const messages = [{ role: "user", content: "Hi" }];
const FREE = "openai/gpt-oss-20b:free";
const fn = { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } };
const flat = { type: "function", name: "look", parameters: { type: "object", properties: {} } };

/** A field or tool that costs, at a host that publishes its prices. */
const COSTLY: readonly (readonly [path: string, model: string, extra: Body, field: string])[] = [
  ["/chat/completions", "openai/gpt-4o", { web_search_options: {} }, "web_search_options"],
  ["/chat/completions", "openai/gpt-4o-mini", { service_tier: "priority" }, "service_tier"],
  ["/chat/completions", "openai/gpt-4o", { service_tier: "ultrafast" }, "service_tier"],
  ["/chat/completions", "openai/gpt-4o", { a_new_field: { on: true } }, "a_new_field"],
  ["/chat/completions", "openai/gpt-4o", { "serv\u0069ce_tier": "flex" }, "service_tier"],
  ["/chat/completions", "qwen/qwen-plus", { enable_search: true }, "enable_search"],
  ["/chat/completions", "qwen/qwen-plus", { search_options: { forced_search: true } }, "search_options"],
  [
    "/chat/completions",
    "z-ai/glm-4.6",
    { tools: [{ type: "web_search", web_search: { enable: true } }] },
    "tools[0]",
  ],
  [
    "/chat/completions",
    "moonshotai/kimi-k2.5",
    { tools: [fn, { type: "builtin_function", function: { name: "$web_search" } }] },
    "tools[1]",
  ],
  [
    "/chat/completions",
    "perplexity/sonar",
    { web_search_options: { search_type: "pro", search_context_size: "low" } },
    "web_search_options",
  ],
  ["/responses", "openai/gpt-5", { tools: [{ type: "image_generation" }, flat] }, "tools[0]"],
  [
    "/responses",
    "openai/gpt-5",
    { tools: [flat, { type: "code_interpreter", container: { type: "auto" } }] },
    "tools[1]",
  ],
  [
    "/responses",
    "openai/gpt-5",
    { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
    "tools[0]",
  ],
  [
    "/responses",
    "openai/gpt-5",
    { tools: [{ type: "shell", environment: { type: "container_auto" } }] },
    "tools[0]",
  ],
  ["/responses", "openai/gpt-4o", { tools: [{ type: "web_search_preview" }] }, "tools[0]"],
  ["/responses", "openai/gpt-5", { prompt: { id: "pmpt_1" } }, "prompt"],
  ["/messages", "anthropic/claude-sonnet-4.5", { speed: "fast" }, "speed"],
  ["/messages", "anthropic/claude-sonnet-4.5", { inference_geo: "us" }, "inference_geo"],
  ["/messages", "anthropic/claude-sonnet-4.5", { container: "container_1" }, "container"],
  [
    "/messages",
    "anthropic/claude-sonnet-4.5",
    { tools: [{ type: "code_execution_20250825", name: "code_execution" }] },
    "tools[0]",
  ],
];

/** The provider that serves models of an author in these tests, for authors of another name. */
const HOSTS: Readonly<Record<string, string>> = { qwen: "alibaba", "z-ai": "zai" };

function requestFor(path: string, model: string, extra: Body): Body {
  const author = model.slice(0, model.indexOf("/"));
  const provider = model === FREE ? {} : { provider: { only: [HOSTS[author] ?? author] } };
  if (path === "/responses") return { model, input: "Hi", ...provider, ...extra };
  return { model, messages, ...provider, ...(path === "/messages" ? { max_tokens: 16 } : {}), ...extra };
}

/** Returns the names and tool types of a request that may cost. */
function partsOf(sent: Body | null): string {
  const { model: _, messages: __, input: ___, max_tokens: ____, ...rest } = sent ?? {};
  return JSON.stringify(rest);
}

describe("what costs and has no price", () => {
  test.each(COSTLY)(
    "%s to %s leaves out %j with a platform key, and a warning names it",
    async (path, model, extra, field) => {
      const { status, sent, warned } = await send(path, requestFor(path, model, extra));
      expect(status).toBe(200);
      expect(warned).toContain(field);
      const parts = partsOf(sent);
      for (const word of [
        'web_search"',
        "priority",
        "flex",
        "ultrafast",
        "a_new_field",
        "enable_search",
        "search_options",
        "builtin",
        'pro"',
        "image_generation",
        "code_",
        "file_search",
        "container",
        "preview",
        "pmpt",
        "fast",
        "inference_geo",
      ])
        if (!(word === "search_options" && model.startsWith("perplexity"))) expect(parts).not.toContain(word);
      if (JSON.stringify(extra).includes("look")) expect(parts).toContain("look");
    },
  );

  test("is left out in the same way where the request is translated", async () => {
    const { sent, warned } = await send("/messages", {
      model: "openai/gpt-4o",
      provider: { only: ["openai"] },
      max_tokens: 16,
      messages,
      service_tier: "priority",
      speed: "fast",
    });
    expect(JSON.stringify(sent)).not.toContain("fast");
    expect(warned).toContain("speed");
    const chat = await send(
      "/chat/completions",
      requestFor("", "anthropic/claude-sonnet-4.5", { service_tier: "flex" }),
    );
    expect(chat.sent).not.toHaveProperty("service_tier");
    expect(chat.warned).toContain("service_tier");
  });

  test.each([
    ["/responses", { type: "image_generation" }, [{ type: "image_generation" }, flat]],
    ["/responses", "required", [{ type: "image_generation" }]],
    [
      "/responses",
      { type: "allowed_tools", mode: "required", tools: [{ type: "code_interpreter" }] },
      [flat, { type: "code_interpreter", container: { type: "auto" } }],
    ],
    [
      "/messages",
      { type: "tool", name: "code_execution" },
      [{ type: "code_execution_20250825", name: "code_execution" }],
    ],
    ["/messages", { type: "any" }, [{ type: "code_execution_20250825", name: "code_execution" }]],
  ])("%s is rejected if tool_choice %j requires it", async (path, tool_choice, tools) => {
    const model = path === "/messages" ? "anthropic/claude-sonnet-4.5" : "openai/gpt-5";
    const { status, error } = await send(path, requestFor(path, model, { tools, tool_choice }));
    expect(status).toBe(400);
    expect(error?.metadata).toMatchObject({ field: "tool_choice" });
    expect(vendor.requests).toEqual([]);
  });

  test.each([
    [
      "/responses",
      "anthropic/claude-sonnet-4.5",
      { type: "image_generation" },
      [{ type: "image_generation" }, flat],
    ],
    ["/responses", "anthropic/claude-sonnet-4.5", "required", [{ type: "image_generation" }]],
    [
      "/messages",
      "openai/gpt-4o",
      { type: "any" },
      [{ type: "code_execution_20250825", name: "code_execution" }],
    ],
  ])(
    "%s to %s is rejected if tool_choice %j requires it of a provider of another format",
    async (path, model, tool_choice, tools) => {
      const { status, error } = await send(path, requestFor(path, model, { tools, tool_choice }));
      expect([status, error?.metadata]).toEqual([400, expect.objectContaining({ field: "tool_choice" })]);
      expect(vendor.requests).toEqual([]);
    },
  );

  test("is rejected by tool_choice only where it requires it: other choices lose what is left out", async () => {
    const tools = [{ type: "image_generation" }, flat];
    const one = await send("/responses", {
      model: "openai/gpt-5",
      provider: { only: ["openai"] },
      input: "Hi",
      tools,
      tool_choice: "required",
    });
    expect(one.sent).toMatchObject({ tools: [flat], tool_choice: "required" });
    const auto = await send("/responses", {
      model: "openai/gpt-5",
      provider: { only: ["openai"] },
      input: "Hi",
      tools: [tools[0]],
      tool_choice: "auto",
      parallel_tool_calls: true,
    });
    for (const field of ["tools", "tool_choice", "parallel_tool_calls"])
      expect(auto.sent).not.toHaveProperty(field);
    const allowed = {
      type: "allowed_tools",
      mode: "auto",
      tools: [{ type: "image_generation" }, { type: "function", name: "look" }],
    };
    const some = await send("/responses", {
      model: "openai/gpt-5",
      provider: { only: ["openai"] },
      input: "Hi",
      tools,
      tool_choice: allowed,
    });
    expect(some.sent?.["tool_choice"]).toEqual({ ...allowed, tools: [{ type: "function", name: "look" }] });
  });

  test("keeps the bytes of everything else", async () => {
    const body =
      '{"model":"openai/gpt-5","provider":{"only":["openai"]}, "tools" : [ {"type":"image_generation"} , {"type":"function","name":"f","parameters":{"type":"object","x":1.50e+10}} ,{"type":"code_interpreter"}] ,"input":"Hi" , "made_up":[1,2] }';
    const response = await fetch(`${gateway.base}/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(200);
    expect(vendor.last().text).toContain(
      '"tools" : [ {"type":"function","name":"f","parameters":{"type":"object","x":1.50e+10}} ]',
    );
    expect(() => JSON.parse(vendor.last().text)).not.toThrow();
    expect(vendor.last().text).not.toContain("made_up");
  });
});

describe("what has a price", () => {
  test.each([
    ["/chat/completions", "openai/gpt-5", { service_tier: "priority" }],
    ["/chat/completions", "openai/gpt-5", { service_tier: "default" }],
    ["/responses", "openai/gpt-5", { service_tier: "flex" }],
    ["/responses", "openai/gpt-5", { tools: [{ type: "web_search", search_context_size: "low" }] }],
    [
      "/responses",
      "openai/gpt-5",
      {
        tools: [
          { type: "shell", environment: { type: "local" } },
          { type: "local_shell" },
          { type: "apply_patch" },
          { type: "custom", name: "c" },
        ],
      },
    ],
    ["/messages", "anthropic/claude-opus-4.8", { speed: "fast", inference_geo: "us" }],
    [
      "/messages",
      "anthropic/claude-sonnet-4.5",
      {
        tools: [
          { type: "web_search_20250305", name: "web_search", max_uses: 2 },
          { type: "web_fetch_20250910", name: "web_fetch" },
          { type: "bash_20250124", name: "bash" },
        ],
      },
    ],
    [
      "/chat/completions",
      "openai/gpt-oss-20b",
      {
        provider: { only: ["openrouter"] },
        plugins: [
          { id: "web", max_results: 3 },
          { id: "file-parser", pdf: { engine: "mistral-ocr" } },
        ],
      },
    ],
    [
      "/chat/completions",
      "perplexity/sonar",
      { web_search_options: { search_context_size: "high" }, search_domain_filter: ["a.example"] },
    ],
  ])("%s reaches %s with a platform key: %j", async (path, model, extra) => {
    const { status, sent, warned } = await send(path, requestFor(path, model, extra));
    expect([status, warned]).toEqual([200, []]);
    const { provider: _, ...expected } = extra as Body;
    expect(sent).toMatchObject(expected);
  });
});

describe("a free model", () => {
  const costly: Body = {
    plugins: [
      { id: "web" },
      { id: "response-healing" },
      { id: "file-parser", pdf: { engine: "mistral-ocr" } },
    ],
    web_search_options: { search_context_size: "high" },
    service_tier: "priority",
    tools: [fn, { type: "openrouter:web_search" }],
  };

  test.each([["without a key"], ["with a key"]])("gets nothing that costs from a caller %s", async (who) => {
    const key = who === "without a key" ? null : gateway.key;
    const { status, sent, warnings } = await send(
      "/chat/completions",
      { model: FREE, messages, ...costly },
      key,
    );
    expect(status).toBe(200);
    expect(sent).toEqual({
      model: "openai/gpt-oss-20b:free",
      messages,
      plugins: [{ id: "response-healing" }],
      tools: [fn],
    });
    expect(warnings.map(({ field }) => field)).toEqual([
      "plugins",
      "web_search_options",
      "service_tier",
      "tools[1]",
    ]);
    for (const { message } of warnings) expect(message).toContain("free model");
  });

  test("gets no plugins at all if all of them cost", async () => {
    const { sent } = await send(
      "/chat/completions",
      { model: FREE, messages, plugins: [{ id: "web" }] },
      null,
    );
    expect(sent).toEqual({ model: "openai/gpt-oss-20b:free", messages });
  });

  test.each([["/responses"], ["/messages"]])("gets nothing that costs through %s", async (path) => {
    const { plugins, web_search_options } = costly;
    const { status, raw } = await send(
      path,
      requestFor(path, FREE, { plugins: [{ id: "web" }], web_search_options, extra: plugins }),
      null,
    );
    expect(status).toBe(200);
    expect(raw).not.toContain("web");
  });

  test("gets files with the reader that costs nothing, and no other", async () => {
    const file = { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } };
    const withFile = [{ role: "user", content: [{ type: "text", text: "Read." }, file] }];
    const free = { id: "file-parser", pdf: { engine: "cloudflare-ai" } };
    for (const plugins of [
      undefined,
      [{ id: "file-parser" }],
      [{ id: "file-parser", pdf: { engine: "mistral-ocr" } }],
    ]) {
      const { status, sent } = await send(
        "/chat/completions",
        { model: FREE, messages: withFile, ...(plugins === undefined ? {} : { plugins }) },
        null,
      );
      expect([status, sent?.["plugins"]]).toEqual([200, [free]]);
    }
  });

  test("gets nothing that is known to cost at the operator's own host either, and all else", async () => {
    const { sent } = await send(
      "/chat/completions",
      { model: "mine/chat:free", messages, ...costly, a_field_of_mine: 1 },
      null,
    );
    expect(sent).toEqual({ model: "chat", messages, tools: [fn], a_field_of_mine: 1 });
  });
});

test("fields and tools of `send` of a provider are sent with platform keys, but not to free models", async () => {
  const at = `base_url: "${vendor.baseUrl}", api_keys: [k], send: { fields: [a_new_field, plugins], tools: [file_search, "code_*"] }`;
  const other = await startTestGateway({ yaml: `providers: { openai: { ${at} }, openrouter: { ${at} } }` });
  const ask = async (path: string, body: Body) => {
    const headers = { authorization: `Bearer ${other.key}`, "content-type": "application/json" };
    const response = await fetch(other.base + path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return JSON.parse(vendor.last().text) as Body;
  };
  const tools = [
    { type: "file_search", vector_store_ids: ["v"] },
    { type: "code_interpreter" },
    { type: "image_generation" },
  ];
  const sent = await ask("/responses", {
    ...requestFor("/responses", "openai/gpt-5", { tools, a_new_field: 1 }),
  });
  expect(sent).toMatchObject({ tools: tools.slice(0, 2), a_new_field: 1 });
  const free = await ask("/chat/completions", {
    model: FREE,
    messages,
    plugins: [{ id: "web" }],
    a_new_field: 1,
  });
  expect(free).toEqual({ model: "openai/gpt-oss-20b:free", messages });
  await other.stop();
});

describe("everything is sent", () => {
  test("to the operator's own hosts", async () => {
    const extra = {
      plugins: [{ id: "web" }],
      web_search_options: {},
      service_tier: "priority",
      a_new_field: 1,
      tools: [{ type: "browser" }],
    };
    const { sent, warned } = await send("/chat/completions", { model: "mine/chat", messages, ...extra });
    expect([sent, warned]).toEqual([{ model: "chat", messages, ...extra }, []]);
  });

  test.each([
    ["/chat/completions", FREE, { plugins: [{ id: "web" }], a_new_field: 1 }],
    ["/chat/completions", "openai/gpt-4o", { service_tier: "priority", web_search_options: {} }],
    [
      "/responses",
      "openai/gpt-5",
      {
        tools: [{ type: "image_generation" }, { type: "code_interpreter", container: { type: "auto" } }],
        tool_choice: { type: "image_generation" },
      },
    ],
    [
      "/messages",
      "anthropic/claude-sonnet-4.5",
      { speed: "fast", tools: [{ type: "code_execution_20250825", name: "code_execution" }] },
    ],
  ])("with an account's own provider key: %s to %s with %j", async (path, model, extra) => {
    const only = path === "/messages" ? "anthropic" : model === FREE ? "openrouter" : "openai";
    const { status, sent, warned } = await send(
      path,
      requestFor(path, model, { ...extra, provider: { only: [only] } }),
      byokKey,
    );
    expect([status, warned]).toEqual([200, []]);
    expect(sent).toMatchObject(extra);
  });
});

describe("endpoints whose bodies are forwarded", () => {
  test.each([
    ["/embeddings", { model: "openai/text-embedding-3-small", input: "a" }],
    ["/images/generations", { model: "openai/gpt-image-2", prompt: "a", quality: "low" }],
    ["/audio/speech", { model: "openai/tts-1", input: "a", voice: "alloy", speed: 1.25 }],
    ["/moderations", { model: "openai/omni-moderation-latest", input: "a" }],
    ["/rerank", { model: "cohere/rerank-v3.5", query: "a", documents: ["b"], top_n: 1 }],
  ])("%s sends only fields that are known to cost nothing more", async (path, body) => {
    const { status, sent } = await send(path, {
      ...body,
      service_tier: "priority",
      plugins: [{ id: "web" }],
      a_new_field: true,
    });
    expect(status).toBe(200);
    const { model: _, ...rest } = body;
    expect({ ...sent, model: "" }).toEqual({ ...rest, model: "" });
  });

  test("a transcription sends only fields that are known to cost nothing more", async () => {
    const form = new FormData();
    form.set("file", new File([new Uint8Array(4_000)], "a.mp3"));
    form.set("model", "openai/whisper-1");
    form.set("language", "en");
    form.append("timestamp_granularities[]", "word");
    form.set("service_tier", "priority");
    form.set("a_new_field", "1");
    const { status, raw } = await send("/audio/transcriptions", form);
    expect(status).toBe(200);
    for (const kept of ['"language"', '"timestamp_granularities[]"', '"file"']) expect(raw).toContain(kept);
    for (const lost of ["service_tier", "a_new_field"]) expect(raw).not.toContain(lost);
  });
});

test("a large request that another thread translates loses what costs, as small ones do", async () => {
  const text = "a word and another one ".repeat(1_500);
  const large = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: [{ type: "text", text }],
  }));
  const body = requestFor("/messages", "openai/gpt-4.1", {
    messages: [...large, ...messages],
    service_tier: "priority",
    speed: "fast",
    inference_geo: "us",
  });
  const { status, raw, warned } = await send("/messages", { ...body, transforms: [] });
  expect([status, warned.includes("speed")]).toEqual([200, true]);
  expect(raw).not.toContain('"fast"');
  expect(raw.length).toBeGreaterThan(1_000_000);
});

test("warnings about hundreds of unknown fields are bounded", async () => {
  const fields = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`made_up_${at}`, at]));
  const { status, sent, warned } = await send("/chat/completions", requestFor("", "openai/gpt-4o", fields));
  expect([status, sent]).toEqual([200, { model: "gpt-4o", messages }]);
  expect(warned).toHaveLength(50);
});
