import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, manage } from "../support/money.ts";
import {
  answerHello,
  type RecordingVendor,
  startRecordingVendor,
} from "../support/vendors/recording-vendor.ts";
import { hasRecordings, readAnswers, readStreams } from "../support/vendors/recordings.ts";

const MINE = "mine/chat";

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  const prices = `{prompt: "0.000001", completion: "0.00001", request: "0.001", image: "0.002", search: "0.003"}`;
  const origin = vendor.baseUrl.replace("/v1", "");
  gateway = await startTestGateway({
    yaml: `
limits: { attempts: 1, hold_searches: 4 }
providers:
  mine: { base_url: "${vendor.baseUrl}", api_keys: [k], models: [{ id: ${MINE}, context_length: 200000, prices: ${prices} }] }
  anthropic: { base_url: "${origin}", api_keys: [k] }
  openai: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  perplexity: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  xai: { base_url: "${vendor.baseUrl}" }
`,
  });
});
beforeEach(() => vendor.reset());
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

interface Priced {
  readonly status: number;
  readonly provider: string | null;
  readonly text: string;
  /** The answer of `GET generation`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the answer
  readonly generation: any;
  /** The price lines that are not for tokens: `[kind, count, price, nanodollars]`. */
  readonly charges: readonly (readonly unknown[])[];
}

/** @param body as an object, or as its JSON */
async function ask(path: string, body: Record<string, unknown> | string, key = gateway.key): Promise<Priced> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const json = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(gateway.base + path, { method: "POST", headers, body: json });
  const text = await response.text();
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, { headers });
  const generation = ((await found.json()) as { data?: Record<string, unknown> }).data ?? {};
  const pricing = (generation["pricing"] ?? []) as Record<string, unknown>[];
  return {
    status: response.status,
    provider: response.headers.get("x-gateway-provider"),
    text,
    generation,
    charges: pricing
      .filter((line) => !("tokens" in line))
      .map(({ kind, count, price, cost_nanodollars }) => [kind, count, price, cost_nanodollars]),
  };
}

/** Returns the hold of a request in nanodollars, as the rejection of an account without money names it. */
async function holdOf(path: string, body: Record<string, unknown> | string): Promise<number> {
  probes += 1;
  const { text } = await ask(path, body, await addAccountWithKey(gateway, { id: `user_probe${probes}` }));
  const { error } = JSON.parse(text) as { error: { metadata: { required: number } } };
  return Math.round(error.metadata.required * 1e9);
}
let probes = 0;

const REQUEST = ["request", 1, "0.001", "1000000"];
const TWO_IMAGES = ["image", 2, "0.002", "4000000"];
const url = "data:image/png;base64,AAAA";
const hello = { role: "user", content: "Hello!" };
const image = { type: "image_url", image_url: { url } };
const block = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };

/** Requests with two images each, one of them in a tool result. */
const WITH_IMAGES: readonly (readonly [path: string, body: Record<string, unknown>])[] = [
  [
    "/chat/completions",
    {
      messages: [
        { role: "user", content: [{ type: "text", text: "Look." }, image] },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: [image] },
      ],
    },
  ],
  [
    "/responses",
    {
      input: [
        { role: "user", content: [{ type: "input_image", image_url: url }] },
        { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "call_1",
          output: [{ type: "input_image", image_url: url }],
        },
      ],
    },
  ],
  [
    "/messages",
    {
      max_tokens: 100,
      messages: [
        { role: "user", content: [{ type: "text", text: "Look." }, block] },
        { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "look", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: [block] }] },
      ],
    },
  ],
];

describe("a price per request and per image", () => {
  for (const [path, body] of WITH_IMAGES) {
    for (const stream of [false, true]) {
      test(`request and images are charged to the nanodollar at ${path}, ${stream ? "streamed" : "whole"}`, async () => {
        const answer = await ask(path, { model: MINE, stream, ...body });
        expect([answer.status, answer.provider]).toEqual([200, "mine"]);
        expect(answer.charges).toEqual([REQUEST, TWO_IMAGES]);
        const { generation } = answer;
        expect(generation).toMatchObject({ images_prompt: 2, web_searches: 0 });
        const tokens = 3 * 1_000 + 2 * 10_000;
        expect(generation.total_cost_nanodollars).toBe(tokens + 1_000_000 + 4_000_000);
      });
    }

    test(`the hold includes request and images at ${path}`, async () => {
      const [three, one] = [await holdOf(path, withImages(path, 3)), await holdOf(path, withImages(path, 1))];
      // The price of two images, and the most tokens that they may have.
      expect(three - one).toBe(2 * (2_000_000 + 5_000 * 1_000));
      expect(one).toBeGreaterThan(1_000_000 + 2_000_000);
    });
  }

  test("searches with a BYOK key cost the account nothing and are part of the list price", async () => {
    const key = await addAccountWithKey(gateway, { id: "user_byok" });
    const brought = await manage(gateway, "/accounts/user_byok/provider-keys", {
      provider: "xai",
      key: "xai-own-0123456789",
    });
    expect(brought.status).toBe(201);
    vendor.reset(() => Response.json(xaiAnswer(3)));
    const { generation, charges } = await ask(
      "/chat/completions",
      { model: "x-ai/grok-4.3", messages: [hello] },
      key,
    );
    expect(charges).toEqual([["search", 3, "0.025", "75000000"]]);
    expect(generation).toMatchObject({ is_byok: true, total_cost_nanodollars: 0, web_searches: 3 });
    expect(generation.upstream_inference_cost).toBeGreaterThan(0.075);
    expect((await balanceOf(gateway, "user_byok")).balance).toBe(0);
  });

  test("a request that failed costs nothing, although it contains images", async () => {
    vendor.reset(() => Response.json({ error: { message: "down" } }, { status: 500 }));
    const [path, body] = WITH_IMAGES[0]!;
    const { generation } = await ask(path, { model: MINE, ...body });
    expect(generation).toMatchObject({ outcome: "failed", total_cost_nanodollars: 0, pricing: [] });
  });
});

function withImages(path: string, count: number): Record<string, unknown> {
  const bound = { model: MINE, max_tokens: 100, max_output_tokens: 100 };
  const part = { "/responses": { type: "input_image", image_url: url }, "/messages": block }[path] ?? image;
  const message = { role: "user", content: Array(count).fill(part) };
  return { ...bound, [path === "/responses" ? "input" : "messages"]: [message] };
}

function plainBody(path: string): Record<string, unknown> {
  return path === "/responses" ? { input: "Hello!" } : { messages: [hello] };
}

function xaiAnswer(sources: number): Record<string, unknown> {
  return {
    id: "x",
    object: "chat.completion",
    created: 1,
    model: "grok-4.3",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, num_sources_used: sources },
  };
}

function recorded(folder: string, name: string, stream: boolean): () => Response {
  const all = stream ? readStreams(folder) : readAnswers(folder);
  const { text } = all.find((recording) => recording.name.startsWith(`${folder}/${name}`))!;
  const type = stream ? "text/event-stream" : "application/json";
  return () => new Response(text, { headers: { "content-type": type } });
}

const CLAUDE = "anthropic/claude-sonnet-4.5";

/** Answers with searches: written by hand and, if the recordings are available, recorded ones. */
const SEARCHING = [
  { kind: "handwritten", claude: "web-search", openai: "web-search" },
  ...(hasRecordings
    ? [{ kind: "recorded", claude: "anthropic-web-search-tool.1", openai: "openai-web-search-tool.1" }]
    : []),
] as const;

describe.each(SEARCHING)("$kind searches", ({ claude, openai }) => {
  for (const [stream, count] of [
    [false, 2],
    [true, 1],
  ] as const) {
    const how = stream ? "streamed" : "whole";
    const charge = ["search", count, "0.01", String(count * 10_000_000)];

    test.each<[string, Record<string, unknown>]>([
      ["/messages", { max_tokens: 1_000, messages: [hello] }],
      ["/chat/completions", { messages: [hello] }],
      ["/responses", { input: "Hello!" }],
    ])(`searches of Claude are charged at %s, ${how}`, async (path, body) => {
      vendor.reset(recorded("anthropic", claude, stream));
      const { generation, charges, text } = await ask(path, { model: CLAUDE, stream, ...body });
      expect(charges).toEqual([charge]);
      expect(generation.web_searches).toBe(count);
      if (path !== "/responses") expect(text).toMatch(new RegExp(`"web_search_requests": ?${count}\\b`));
    });

    test.each<[string, Record<string, unknown>]>([
      ["/responses", { input: "Hello!" }],
      ["/chat/completions", { messages: [hello] }],
    ])(`searches of OpenAI are charged at %s and opened pages are not, ${how}`, async (path, body) => {
      vendor.reset(recorded("openai-responses", openai, stream));
      const { charges } = await ask(path, { model: "openai/gpt-5-codex", stream, ...body });
      const searches = stream ? 2 : 1;
      expect(charges).toEqual([["search", searches, "0.01", String(searches * 10_000_000)]]);
    });
  }

  test("searches cost no more than their hold, with all tokens that their results add to the prompt", async () => {
    const tools = [{ type: "web_search_20250305", name: "web_search", max_uses: 2 }];
    const body = { model: CLAUDE, max_tokens: 1_000, tools, messages: [hello] };
    vendor.reset(recorded("anthropic", claude, false));
    const { generation } = await ask("/messages", body);
    expect(generation.tokens_prompt).toBeGreaterThan(20_000);
    expect(await holdOf("/messages", body)).toBeGreaterThanOrEqual(generation.total_cost_nanodollars);
  });

  test.each<[string, string, Record<string, unknown>]>([
    ["/messages", CLAUDE, { max_tokens: 1_000, messages: [hello] }],
    ["/chat/completions", CLAUDE, { messages: [hello] }],
    ["/responses", "openai/gpt-5-codex", { input: "Hello!" }],
  ])("searches are charged at %s, by %s, if the stream breaks off after them", async (path, model, body) => {
    const isOpenai = model.startsWith("openai");
    const [folder, name] = isOpenai
      ? (["openai-responses", openai] as const)
      : (["anthropic", claude] as const);
    const whole = await recorded(folder, name, true)().text();
    const events = whole.split("\n\n");
    const text = events.findIndex((event) => /"(text_delta|response\.output_text\.delta)"/.test(event));
    const cut = `${events.slice(0, text + 1).join("\n\n")}\n\n`;
    vendor.reset(() => new Response(cut, { headers: { "content-type": "text/event-stream" } }));
    const { generation, charges } = await ask(path, { model, stream: true, ...body });
    expect(generation).toMatchObject({ outcome: "failed", estimated: true });
    const searches = isOpenai ? 2 : 1;
    expect(charges).toEqual([["search", searches, "0.01", String(searches * 10_000_000)]]);
  });
});

describe("the fee of a model that always searches", () => {
  const sonar = (more: Record<string, unknown> = {}) => ({
    model: "perplexity/sonar",
    max_tokens: 10,
    messages: [hello],
    ...more,
  });
  const asking = (size: string) => ({ web_search_options: { search_context_size: size } });

  test.each<[string, Record<string, unknown>, string]>([
    ["nothing", {}, "0.005"],
    ["low", asking("low"), "0.005"],
    ["medium", asking("medium"), "0.008"],
    ["high", asking("high"), "0.012"],
  ])("the fee depends on the requested search context: %s", async (_size, more, price) => {
    for (const stream of [false, true]) {
      const { charges } = await ask("/chat/completions", sonar({ stream, ...more }));
      expect(charges).toEqual([["request", 1, price, String(Number(price) * 1e9)]]);
    }
  });

  test("the fee depends on the search context that the vendor reports, if it reports one", async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, search_context_size: "high" };
    vendor.reset(async (request) => {
      const plain = (await answerHello(request).json()) as Record<string, unknown>;
      return Response.json({ ...plain, usage });
    });
    const { charges, generation } = await ask("/chat/completions", sonar(asking("low")));
    expect(charges).toEqual([["request", 1, "0.012", "12000000"]]);
    expect(generation.search_context).toBe("high");
  });

  test("the hold includes the fee", async () => {
    const [low, high] = [
      await holdOf("/chat/completions", sonar(asking("low"))),
      await holdOf("/chat/completions", sonar(asking("high"))),
    ];
    expect(high - low).toBeGreaterThanOrEqual(7_000_000);
    expect(low).toBeGreaterThan(5_000_000);
  });

  test("the list of models names the fee, and a lower max_price filters the provider out", async () => {
    const response = await fetch(`${gateway.base}/models/perplexity/sonar`);
    expect(((await response.json()) as { pricing: unknown }).pricing).toMatchObject({ request: "0.012" });
    const most = (request: string) => sonar({ provider: { max_price: { request } } });
    expect((await ask("/chat/completions", most("0.011"))).status).toBe(400);
    expect((await ask("/chat/completions", most("0.012"))).status).toBe(200);
    const claude = (await (await fetch(`${gateway.base}/models/${CLAUDE}`)).json()) as { pricing: unknown };
    expect(claude.pricing).toMatchObject({ web_search: "0.01" });
    const mine = (await (await fetch(`${gateway.base}/models/${MINE}`)).json()) as { pricing: unknown };
    expect(mine.pricing).toMatchObject({ request: "0.001", image: "0.002", web_search: "0.003" });
  });
});

describe("the hold of a request that allows the vendor to search", () => {
  /** The cost of one search: its price, and the prompt tokens that it may add. */
  const ONE = 3_000_000 + 15_000 * 1_000;

  test.each<[string, string, Record<string, unknown>, number]>([
    ["a tool without a limit", "/responses", { tools: [{ type: "web_search" }] }, 4],
    [
      "a tool with a limit",
      "/messages",
      { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 2 }] },
      2,
    ],
    ["options", "/chat/completions", { web_search_options: {} }, 4],
    [
      "xAI's parameters",
      "/chat/completions",
      { search_parameters: { mode: "auto", max_search_results: 3 } },
      3,
    ],
    ["the plugin that searches", "/chat/completions", { plugins: [{ id: "web", max_results: 5 }] }, 1],
    ["another plugin", "/chat/completions", { plugins: [{ id: "file-parser" }] }, 0],
    ["parameters that are off", "/chat/completions", { search_parameters: { mode: "off" } }, 0],
    [
      "a tool of the client",
      "/chat/completions",
      { tools: [{ type: "function", function: { name: "web_search" } }] },
      0,
    ],
  ])("the hold includes the searches of %s", async (_name, path, more, searches) => {
    const plain = { model: MINE, max_tokens: 50, max_output_tokens: 50, ...plainBody(path) };
    const difference = (await holdOf(path, { ...plain, ...more })) - (await holdOf(path, plain));
    // The field itself adds a few tokens to the prompt.
    expect(Math.round(difference / ONE)).toBe(searches);
    expect(difference).toBeGreaterThanOrEqual(searches * ONE);
  });

  test("the hold includes a thousand searches at most, which is more than any vendor makes", async () => {
    const hold = (max_uses: number) => {
      const tools = [{ type: "web_search_20250305", name: "web_search", max_uses }];
      return holdOf("/messages", { model: MINE, max_tokens: 50, ...plainBody("/messages"), tools });
    };
    const most = await hold(1_000);
    // The context window is full of results either way. A digit fewer is half a token, which is rounded up.
    expect(most - (await hold(998))).toBeWithin(2 * 3_000_000, 2 * 3_000_000 + 1_001);
    expect(await hold(1_001)).toBe(most);
    expect(await hold(9_999)).toBe(most);
  });
});

describe("the hold of a request with files", () => {
  /** The model's context window, and what a token of a prompt costs. */
  const [WINDOW, PER_TOKEN] = [200_000, 1_000];
  const bytes = "A".repeat(40_000);
  const inChat = (file: object) => ({ messages: [{ role: "user", content: [{ type: "file", file }] }] });
  const inMessages = (source: object) => ({
    messages: [{ role: "user", content: [{ type: "document", source }] }],
  });
  const inResponses = (file: object) => ({
    input: [{ role: "user", content: [{ type: "input_file", ...file }] }],
  });
  const base64 = (data: string) => ({ type: "base64", media_type: "application/pdf", data });

  test.each<[string, string, Record<string, unknown>]>([
    ["a file id", "/chat/completions", inChat({ file_id: "file-1" })],
    ["a file id", "/responses", inResponses({ file_id: "file-1" })],
    ["an address", "/responses", inResponses({ file_url: "https://example.com/a.pdf" })],
    ["an address", "/messages", inMessages({ type: "url", url: "https://example.com/a.pdf" })],
    ["a file id", "/messages", inMessages({ type: "file", file_id: "file_1" })],
  ])("fills the context window if the vendor reads the file behind %s at %s", async (_what, path, body) => {
    const json = JSON.stringify({ model: MINE, max_tokens: 50, max_output_tokens: 50, ...body });
    const escaped = json.replaceAll("file_id", "file\\u005fid").replaceAll("://", ":\\u002f\\/");
    expect(escaped).not.toBe(json);
    const most = (WINDOW + 1_000) * PER_TOKEN + 2_000_000;
    for (const sent of [json, escaped]) expect(await holdOf(path, sent)).toBeWithin(WINDOW * PER_TOKEN, most);
  });

  test.each<[string, string, (data: string) => Record<string, unknown>]>([
    ["chat completions", "/chat/completions", (data) => inChat({ filename: "a.pdf", file_data: data })],
    ["Responses", "/responses", (data) => inResponses({ filename: "a.pdf", file_data: data })],
    ["Messages", "/messages", (data) => inMessages(base64(data))],
  ])("grows with the bytes of a file inside of %s", async (_api, path, bodyWith) => {
    const hold = (data: string) =>
      holdOf(path, { model: MINE, max_tokens: 50, max_output_tokens: 50, ...bodyWith(data) });
    const [small, large] = [await hold("AAAA"), await hold(bytes)];
    expect(small).toBeLessThan(10_000 * PER_TOKEN);
    expect(large - small).toBeWithin((bytes.length / 8) * PER_TOKEN, bytes.length * PER_TOKEN);
    // A text of the file is no reference.
    expect(await hold(`${bytes}://${bytes}`)).toBeLessThan(WINDOW * PER_TOKEN);
  });
});
