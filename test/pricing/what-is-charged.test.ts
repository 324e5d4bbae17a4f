import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, manage } from "../support/money.ts";
import { type RecordingVendor, startRecordingVendor, streamOf } from "../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;
/** Keys of accounts that pay 10 per cent more, and a price of their own. */
let dearKey: string;
let fixedKey: string;

const DEAR = "user_dear";
const FIXED = "user_fixed";

/** A model of the operator's own with a price for each kind of token. */
const OWN_MODEL = `
    {
      id: mine/all,
      prices: { prompt: "0.0000010", completion: "0.00001", cache_read: "0.0000001", cache_write: "0.000002", audio_in: "0.000004", reasoning: "0.00002", request: "0.001" },
      price_tiers: [{ min_prompt_tokens: 5000, prompt: "0.000003", completion: "0.00003", cache_read: "0.0000003" }],
      price_changes: [{ from: "2999-01-01", prices: { prompt: "1", completion: "1" } }],
    }`;

beforeAll(async () => {
  vendor = startRecordingVendor();
  const origin = vendor.baseUrl.replace("/v1", "");
  const prices = `{ prompt: "0.000001", completion: "0.00001" }`;
  gateway = await startTestGateway({
    yaml: `
limits: { attempts: 1 }
providers:
  openrouter: { base_url: "${vendor.baseUrl}", api_keys: [k], models: [{ id: here/model, context_length: 10000, max_output_tokens: 1000, prices: ${prices} }] }
  openai: { base_url: "${vendor.baseUrl}", api_keys: [k] }
  anthropic: { base_url: "${origin}", api_keys: [k] }
  mine: { base_url: "${vendor.baseUrl}", api_keys: [k], models: [{ id: mine/chat, prices: ${prices} }, ${OWN_MODEL}] }
catalog:
  overrides:
    openai/gpt-4o-mini:
      endpoints:
        openai:
          prices: { prompt: "0.000001", completion: "0.00001" }
          price_tiers: [{ min_prompt_tokens: 1000, prompt: "0.000002", completion: "0.00002" }]
    openai/gpt-4o:
      endpoints:
        openai:
          prices: { prompt: "0.000001", completion: "0.00001" }
          price_changes:
            - { from: "2020-01-01", prices: { prompt: "0.000003", completion: "0.00003" } }
            - { from: "2999-01-01", prices: { prompt: "0.000009", completion: "0.00009" } }
pricing:
  rules:
    - { accounts: [${DEAR}], markup_percent: 10 }
    - { accounts: [${FIXED}], prices: { prompt: "0.000003", completion: "0.00003" } }
`,
  });
  dearKey = await addAccountWithKey(gateway, { id: DEAR });
  fixedKey = await addAccountWithKey(gateway, { id: FIXED });
  for (const account of [DEAR, FIXED])
    expect((await manage(gateway, `/accounts/${account}/credits`, { amount: "100" })).status).toBe(201);
});
beforeEach(() => vendor.reset());
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

type Body = Readonly<Record<string, unknown>>;

/** Sends a request, which the vendor answers with `answer`, and returns the generation. */
async function charge(path: string, body: Body, answer: Body, key = gateway.key) {
  vendor.reset(() => (body["stream"] === true ? streamOf([answer]) : Response.json(answer)));
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(gateway.base + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.any(String)]);
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, { headers });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the answer
  const generation = ((await found.json()) as any).data;
  const sum = (generation.pricing as { cost_nanodollars: string }[]).reduce(
    (total, { cost_nanodollars }) => total + Number(cost_nanodollars),
    0,
  );
  return { nanodollars: Math.round(generation.total_cost * 1e9), sum: Math.round(sum), generation, text };
}

const messages = [{ role: "user", content: "Hi" }];
const choices = [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }];

/** An answer of the chat format: 1,000 tokens of a prompt, 100 of them cached, and 200 of an answer. */
function chat(extra: Body = {}, usage: Body = {}): Body {
  return {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices,
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 200,
      total_tokens: 1200,
      prompt_tokens_details: { cached_tokens: 100 },
      ...usage,
    },
    ...extra,
  };
}

function response(extra: Body = {}): Body {
  return {
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
    usage: {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 100 },
      output_tokens: 200,
      total_tokens: 1200,
    },
    ...extra,
  };
}

function message(usage: Body): Body {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "Hello." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 900, cache_read_input_tokens: 100, output_tokens: 200, ...usage },
  };
}

/** gpt-5: 900 tokens at $1.25, 100 at $0.125 and 200 at $10 per million. */
const GPT_5 = 900 * 1_250 + 100 * 125 + 200 * 10_000;
/** claude-opus-4.8: 900 tokens at $5, 100 at $0.50 and 200 at $25 per million. */
const OPUS = 900 * 5_000 + 100 * 500 + 200 * 25_000;

const TIERS: readonly (readonly [
  path: string,
  model: string,
  asked: Body,
  answer: Body,
  nanodollars: number,
])[] = [
  [
    "/chat/completions",
    "openai/gpt-5",
    { service_tier: "priority" },
    chat({ service_tier: "priority" }),
    2 * GPT_5,
  ],
  ["/chat/completions", "openai/gpt-5", { service_tier: "fast" }, chat({ service_tier: "fast" }), 2 * GPT_5],
  [
    "/chat/completions",
    "openai/gpt-5",
    { service_tier: "priority" },
    chat({ service_tier: "default" }),
    GPT_5,
  ],
  ["/chat/completions", "openai/gpt-5", { service_tier: "flex" }, chat({ service_tier: "flex" }), GPT_5 / 2],
  ["/chat/completions", "openai/gpt-5", {}, chat({ service_tier: "priority" }), 2 * GPT_5],
  ["/chat/completions", "openai/gpt-5", {}, chat({ service_tier: "a-tier-to-come" }), GPT_5],
  [
    "/responses",
    "openai/gpt-5",
    { service_tier: "priority" },
    response({ service_tier: "priority" }),
    2 * GPT_5,
  ],
  ["/responses", "openai/gpt-5", { service_tier: "auto" }, response({ service_tier: "default" }), GPT_5],
  ["/messages", "openai/gpt-5", {}, response({ service_tier: "flex" }), GPT_5 / 2],
  ["/messages", "anthropic/claude-opus-4.8", { speed: "fast" }, message({ speed: "fast" }), 2 * OPUS],
  ["/messages", "anthropic/claude-opus-4.8", { speed: "fast" }, message({ speed: "standard" }), OPUS],
  [
    "/messages",
    "anthropic/claude-opus-4.8",
    { inference_geo: "us" },
    message({ inference_geo: "us" }),
    (OPUS * 11) / 10,
  ],
  [
    "/messages",
    "anthropic/claude-opus-4.8",
    { inference_geo: "us", speed: "fast" },
    message({ inference_geo: "us", speed: "fast" }),
    (OPUS * 22) / 10,
  ],
  [
    "/messages",
    "anthropic/claude-opus-4.8",
    {},
    message({ service_tier: "standard", inference_geo: "global" }),
    OPUS,
  ],
];

describe("a request is charged for how the provider says that it was served", () => {
  test.each(TIERS)("%s to %s asking for %j, answered %j", async (path, model, asked, answer, nanodollars) => {
    const provider = { only: [model.slice(0, model.indexOf("/"))] };
    const rest =
      path === "/responses"
        ? { input: "Hi" }
        : { messages, ...(path === "/messages" ? { max_tokens: 300 } : {}) };
    const body = { model, provider, ...rest, ...asked };
    // A Messages request to OpenAI is answered in the format in which it was sent there.
    const translated =
      path === "/messages" && model.startsWith("openai/") ? chat({ service_tier: "flex" }) : answer;
    const charged = await charge(path, body, translated);
    expect(charged.nanodollars).toBe(nanodollars);
    expect(charged.sum).toBe(nanodollars);
  });

  test("a stream is charged so, too", async () => {
    const chunk = {
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      service_tier: "priority",
      choices: [{ index: 0, delta: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
      usage: chat()["usage"],
    };
    const body = {
      model: "openai/gpt-5",
      provider: { only: ["openai"] },
      messages,
      service_tier: "priority",
      stream: true,
    };
    expect((await charge("/chat/completions", body, chunk)).nanodollars).toBe(2 * GPT_5);
  });
});

/** Of `here/model`: 1,000 tokens at $1 and 200 at $10 per million. */
const HERE = 1_000 * 1_000 + 200 * 10_000;
const web = { plugins: [{ id: "web" }] };

const REPORTED: readonly (readonly [name: string, asked: Body, usage: Body, nanodollars: number])[] = [
  ["a cost with a search in it", web, { cost: 0.0234567891, is_byok: false }, 23_456_789],
  ["a cost without is_byok", web, { cost: 0.02 }, 20_000_000],
  ["a cost below the listed prices", {}, { cost: 0.0000125, is_byok: false }, 12_500],
  ["a cost with an exponent", {}, { cost: 1.25e-7 }, 125],
  ["a cost of nothing", {}, { cost: 0 }, 0],
  [
    "the fee for a request that the provider bills to another account",
    {},
    { cost: 0.00015, is_byok: true },
    HERE,
  ],
  ["no cost", {}, {}, HERE],
  ["a cost that is no number", {}, { cost: "0.5" }, HERE],
  ["a cost below zero", {}, { cost: -1 }, HERE],
  ["a cost that no request can have", {}, { cost: 5_000 }, HERE],
  // What the plugin may cost at most, because nothing tells what it has cost.
  ["no cost of a search", web, {}, HERE + 100_000_000],
];

describe("a provider whose answers report their cost", () => {
  test.each(REPORTED)("%s is charged to the nanodollar", async (_name, asked, usage, nanodollars) => {
    const body = { model: "here/model", messages, max_tokens: 300, ...asked };
    const charged = await charge("/chat/completions", body, chat({}, usage));
    expect(charged.nanodollars).toBe(nanodollars);
    expect(charged.sum).toBe(nanodollars);
    expect(vendor.requests).toHaveLength(1);
  });

  test.each([["/chat/completions"], ["/responses"], ["/messages"]])(
    "is charged by it through %s, streamed or not",
    async (path) => {
      const cost = { cost: 0.0123, is_byok: false };
      const answers: Readonly<Record<string, Body>> = {
        "/chat/completions": chat({}, cost),
        "/responses": response({ usage: { ...(response()["usage"] as Body), ...cost } }),
        "/messages": message(cost),
      };
      const rest = path === "/responses" ? { input: "Hi" } : { messages, max_tokens: 300 };
      const charged = await charge(path, { model: "here/model", ...rest }, answers[path] as Body);
      expect([charged.nanodollars, charged.sum]).toEqual([12_300_000, 12_300_000]);
      if (path !== "/chat/completions") return;
      const delta = { role: "assistant", content: "Hello." };
      const chunk = {
        id: "c",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, finish_reason: "stop" }],
        usage: chat({}, cost)["usage"],
      };
      expect((await charge(path, { model: "here/model", ...rest, stream: true }, chunk)).nanodollars).toBe(
        12_300_000,
      );
    },
  );

  test("is charged with the account's mark-up", async () => {
    const body = { model: "here/model", messages, ...web };
    const before = await balanceOf(gateway, DEAR);
    const charged = await charge("/chat/completions", body, chat({}, { cost: 0.03 }), dearKey);
    expect([charged.nanodollars, charged.sum]).toEqual([33_000_000, 33_000_000]);
    expect(before.balance - (await balanceOf(gateway, DEAR)).balance).toBe(33_000_000);
  });

  test("is charged at the account's own prices, and for what exceeds the list price", async () => {
    const own = 1_000 * 3_000 + 200 * 30_000;
    const body = { model: "here/model", messages, ...web };
    const charged = await charge("/chat/completions", body, chat({}, { cost: 0.03 }), fixedKey);
    expect(charged.nanodollars).toBe(own + 30_000_000 - HERE);
    expect(charged.sum).toBe(charged.nanodollars);
  });

  test("holds what a plugin may cost before the provider is called", async () => {
    const poor = await addAccountWithKey(gateway, { id: "user_poor" });
    await manage(gateway, "/accounts/user_poor/credits", { amount: "0.05" });
    const ask = (extra: Body) =>
      fetch(`${gateway.base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${poor}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "here/model", messages, max_tokens: 16, ...extra }),
      });
    expect((await ask(web)).status).toBe(402);
    expect(vendor.requests).toHaveLength(0);
    vendor.reset(() => Response.json(chat({}, { cost: 0.001 })));
    expect((await ask({})).status).toBe(200);
  });
});

test("the cost that the operator's own host reports is not charged: its prices are", async () => {
  const body = { model: "mine/chat", messages, ...web };
  expect((await charge("/chat/completions", body, chat({}, { cost: 0.5 }))).nanodollars).toBe(HERE);
});

describe("a model of the operator's own is charged at its price", () => {
  const REQUEST = 1_000_000;
  const usageOf = (prompt: number, details: Body, completion: Body = {}) => ({
    prompt_tokens: prompt,
    completion_tokens: 100,
    total_tokens: prompt + 100,
    prompt_tokens_details: details,
    completion_tokens_details: completion,
  });

  test.each([
    [
      "of cached tokens",
      usageOf(1_000, { cached_tokens: 900 }),
      100 * 1_000 + 900 * 100 + 100 * 10_000 + REQUEST,
    ],
    ["of audio", usageOf(1_000, { audio_tokens: 200 }), 800 * 1_000 + 200 * 4_000 + 100 * 10_000 + REQUEST],
    [
      "of reasoning",
      usageOf(1_000, {}, { reasoning_tokens: 60 }),
      1_000 * 1_000 + 40 * 10_000 + 60 * 20_000 + REQUEST,
    ],
    [
      "of a longer prompt",
      usageOf(6_000, { cached_tokens: 5_000 }),
      1_000 * 3_000 + 5_000 * 300 + 100 * 30_000,
    ],
  ])("%s", async (_name, usage, nanodollars) => {
    const body = { model: "mine/all", messages };
    expect((await charge("/chat/completions", body, chat({}, usage))).nanodollars).toBe(nanodollars);
  });

  test("and the price of a cache write is held", async () => {
    const poor = await addAccountWithKey(gateway, { id: "user_cache_write" });
    const answer = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${poor}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "mine/all",
        messages: [{ role: "user", content: "x".repeat(4_000) }],
        max_tokens: 1,
      }),
    });
    const { error } = (await answer.json()) as { error: { metadata: { required: number } } };
    // At least a token for eight characters, at the price of a cache write, and the request.
    expect(error.metadata.required).toBeGreaterThan(500 * 0.000002 + 0.001);
  });
});

test("a request for a more expensive tier holds its price", async () => {
  const poor = await addAccountWithKey(gateway, { id: "user_tier" });
  const ask = async (extra: Body) => {
    const answer = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${poor}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "openai/gpt-5",
        provider: { only: ["openai"] },
        messages,
        max_tokens: 1000,
        ...extra,
      }),
    });
    return ((await answer.json()) as { error: { metadata: { required: number } } }).error.metadata.required;
  };
  expect(await ask({ service_tier: "priority" })).toBeCloseTo(2 * (await ask({})), 9);
  expect(await ask({ service_tier: "flex" })).toBe(await ask({}));
});

describe("a stream that breaks off before its usage", () => {
  const content = "A text that is long enough to have some tokens. ".repeat(20);
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const chunk = {
    ...head,
    choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }],
  };

  /** Returns what a request costs whose stream breaks off. Nanodollars. */
  async function costOf(body: Body): Promise<number> {
    const event = `data: ${JSON.stringify(chunk)}\n\n`;
    vendor.reset(() => new Response(event, { headers: { "content-type": "text/event-stream" } }));
    const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
    const sent = JSON.stringify({ messages, max_tokens: 1000, stream: true, ...body });
    const response = await fetch(`${gateway.base}/chat/completions`, { method: "POST", headers, body: sent });
    await response.text();
    const id = response.headers.get("x-gateway-generation-id");
    const found = await fetch(`${gateway.base}/generation?id=${id}`, { headers });
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the answer
    return Math.round(((await found.json()) as any).data.total_cost * 1e9);
  }

  test("costs the price of the mode that the request asked for", async () => {
    const body = { model: "openai/gpt-5", provider: { only: ["openai"] } };
    const usual = await costOf(body);
    expect(usual).toBeGreaterThan(0);
    expect(await costOf({ ...body, service_tier: "priority" })).toBe(2 * usual);
  });

  test("costs the most that its services may have cost", async () => {
    const usual = await costOf({ model: "here/model" });
    expect(usual).toBeGreaterThan(0);
    expect(await costOf({ model: "here/model", ...web })).toBe(usual + 100_000_000);
  });
});

test.each([
  ["openai/gpt-4o-mini", 999, 999 * 1_000 + 200 * 10_000],
  ["openai/gpt-4o-mini", 1_000, 1_000 * 2_000 + 200 * 20_000],
  ["openai/gpt-4o", 1_000, 1_000 * 3_000 + 200 * 30_000],
])("%s costs the price of this day for a prompt of %i tokens", async (model, prompt_tokens, nanodollars) => {
  const body = { model, messages, provider: { only: ["openai"] } };
  const answer = chat({}, { prompt_tokens, prompt_tokens_details: { cached_tokens: 0 } });
  const charged = await charge("/chat/completions", body, answer);
  expect([charged.nanodollars, charged.sum]).toEqual([nanodollars, nanodollars]);
});
