import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { callAdmin } from "../support/gateway/management.ts";
import { scrape } from "../support/servers/scrape.ts";
import { answerAnyFormat } from "../support/vendors/answer-any-format.ts";
import type { Responder } from "../support/vendors/recording-vendor.ts";
import {
  HOSTS,
  hasField,
  type LearningSite,
  refuse,
  startLearningSite,
  unsupported,
} from "./sites/learning-site.ts";
import { CHAT, type Fields, MESSAGES, RESPONSES } from "./sites/profile-site.ts";

let site: LearningSite;
beforeAll(async () => {
  site = await startLearningSite();
});
afterAll(() => site.stop());

const LEFT_OUT = "It was left out because the provider refused it.";

/** Texts with which vendors name a field, and the status that they come with. */
const WORDINGS: readonly (readonly [string, (field: string) => unknown, number?])[] = [
  ["OpenAI's code and param", unsupported],
  ["OpenAI's text", (field) => ({ error: { message: `Unknown parameter: '${field}'.`, type: "x" } })],
  [
    "OpenAI's text about the only value",
    (field) => ({
      error: {
        message: `Unsupported value: '${field}' does not support 0.2 with this model. Only the default (1) value is supported.`,
        param: field,
        code: "unsupported_value",
      },
    }),
  ],
  ["Azure's text", (field) => ({ error: { message: `Unrecognized request argument supplied: ${field}` } })],
  ["a detail", (field) => ({ detail: `Unsupported parameter: ${field}` })],
  ["Groq's text", (field) => ({ error: { message: `property '${field}' is unsupported` } })],
  [
    "Fireworks' text",
    (field) => ({ error: { message: `Extra inputs are not permitted, field: '${field}', value: 1` } }),
  ],
  ["Anthropic's text", (field) => ({ error: { message: `${field}: Extra inputs are not permitted` } })],
  ["Claude's text", (field) => ({ error: { message: `\`${field}\` is deprecated for this model.` } })],
  [
    "xAI's text",
    (field) => ({ code: "x", error: `Argument not supported on this model: ${toCamelCase(field)}` }),
  ],
  ["xAI's newer text", (field) => ({ error: `Model up does not support parameter ${toCamelCase(field)}.` })],
  [
    "Bedrock's text",
    (field) => ({
      message: `This model doesn't support the ${field} field. Remove ${field} and try again.`,
    }),
  ],
  [
    "pydantic's entries",
    (field) => ({ detail: [{ type: "extra_forbidden", loc: ["body", field], msg: "No.", input: 1 }] }),
    422,
  ],
  [
    "Mistral's entries",
    (field) => ({ message: { detail: [{ type: "extra_forbidden", loc: ["body", field], msg: "No." }] } }),
    422,
  ],
  [
    "Google's text",
    (field) => [
      {
        error: {
          code: 400,
          message: `Invalid JSON payload received. Unknown name "${field}": Cannot find field.`,
          status: "INVALID_ARGUMENT",
        },
      },
    ],
  ],
  ["Cohere's text", (field) => ({ message: `unknown field: parameter ${field} is not a valid field` }), 422],
];

function toCamelCase(field: string): string {
  return field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

describe("a parameter that a vendor refuses", () => {
  test.each(WORDINGS.map(([name, say, status = 400]) => [name, say, status] as const))(
    "is left out of one repetition after %s",
    async (_, say, status) => {
      const key = await site.newAccount();
      const respond = refuse(["frequency_penalty"], say, status);
      const more = { frequency_penalty: 0.5, top_p: 0.9, x_own: 1 };
      const asked = await site.ask(key, CHAT, HOSTS.chat, { more, respond });
      expect(asked.status).toBe(200);
      expect(asked.sent).toHaveLength(2);
      expect(asked.sent[1]).toEqual(without(asked.sent[0] ?? {}, "frequency_penalty"));
      expect(asked.text).toContain(`"field":"frequency_penalty","message":"${LEFT_OUT}"`);
      await forget();
    },
  );

  test.each([
    ["chat to a chat host", CHAT, HOSTS.chat, "seed", "seed"],
    ["chat to a Messages host", CHAT, HOSTS.messages, "temperature", "temperature"],
    ["chat to a Responses host", CHAT, HOSTS.responses, "prompt_cache_key", "prompt_cache_key"],
    ["chat to a Gemini host", CHAT, HOSTS.gemini, "presence_penalty", "presencePenalty"],
    ["Messages to a Messages host", MESSAGES, HOSTS.messages, "top_k", "top_k"],
    ["Messages to a chat host", MESSAGES, HOSTS.chat, "top_p", "top_p"],
    ["Messages to a Gemini host", MESSAGES, HOSTS.gemini, "top_k", "topK"],
    ["Responses to a Responses host", RESPONSES, HOSTS.responses, "safety_identifier", "safety_identifier"],
    ["Responses to a chat host", RESPONSES, HOSTS.chat, "user", "user"],
  ] as const)("is left out of a request of %s", async (_, api, model, field, upstream) => {
    const key = await site.newAccount();
    const value = ["prompt_cache_key", "safety_identifier", "user"].includes(field) ? "abc" : 1;
    const respond = refuse([upstream], (name) => ({
      error: { message: `${name}: Extra inputs are not permitted` },
    }));
    const { status, sent, text } = await site.ask(key, api, model, { more: { [field]: value }, respond });
    expect([status, sent.map((body) => hasField(body, upstream))]).toEqual([200, [true, false]]);
    expect(text).toContain(LEFT_OUT);
    await forget();
  });

  test("is left out of a stream before its first token", async () => {
    const key = await site.newAccount();
    const respond = refuse(["seed"], unsupported);
    const more = { seed: 7, stream: true };
    const { status, sent, text } = await site.ask(key, CHAT, HOSTS.chat, { more, respond });
    expect([status, sent.map((body) => hasField(body, "seed"))]).toEqual([200, [true, false]]);
    expect(text).toContain("Hello");
    expect(text).toContain("[DONE]");
    await forget();
  });

  test.each([
    ["an embeddings request", "/embeddings", { model: "acme/embed", input: "Hello!" }, { user: "ada" }],
    ["a text completion", "/completions", { model: "acme/base", prompt: "Hello!" }, { seed: 7 }],
  ])("is left out of %s", async (_, path, body, more) => {
    const key = await site.newAccount();
    const [field = ""] = Object.keys(more);
    const api = { ...CHAT, path, body: () => ({ ...body, ...more }) };
    const answers = [
      Response.json(unsupported(field), { status: 400 }),
      Response.json(path === "/embeddings" ? EMBEDDING : COMPLETION),
    ];
    const respond = (_request: unknown, index: number) => answers[index] ?? new Response();
    const { status, sent } = await site.ask(key, api, body.model, { more, respond });
    expect([status, sent.map((one) => hasField(one, field))]).toEqual([200, [true, false]]);
    await forget();
  });

  test("is left out where the provider has another name for it", async () => {
    const { key } = site.gateway;
    const say = (field: string) => ({ detail: [{ type: "extra_forbidden", loc: ["body", field] }] });
    const respond = refuse(["random_seed"], say, 422);
    const model = "mistralai/mistral-small-latest";
    const asked = await site.ask(key, CHAT, model, { more: { seed: 7, temperature: 0.5 }, respond });
    expect(asked.status).toBe(200);
    expect(asked.sent).toMatchObject([{ random_seed: 7 }, { temperature: 0.5 }]);
    expect(asked.sent[1]).not.toContainAnyKeys(["seed", "random_seed"]);
    await forget();
  });

  test("is left out of a large request that another thread encodes", async () => {
    const key = await site.newAccount();
    const turn = [
      { role: "user", content: "Go on." },
      { role: "assistant", content: "I do." },
    ];
    const messages = [...Array.from({ length: 1_500 }, () => turn).flat(), turn[0]];
    const more = { temperature: 0.5, messages };
    const respond = refuse(["temperature"], unsupported);
    const { status, sent } = await site.ask(key, CHAT, HOSTS.gemini, { more, respond });
    expect([status, sent.map((body) => hasField(body, "temperature"))]).toEqual([200, [true, false]]);
    await forget();
  });

  test("is left out with all others that the error names", async () => {
    const key = await site.newAccount();
    const say = () => ({
      error: {
        message:
          'Invalid JSON payload received. Unknown name "seed": Cannot find field.\nInvalid JSON payload received. Unknown name "top_k": Cannot find field.',
      },
    });
    const more = { seed: 7, top_k: 5 };
    const asked = await site.ask(key, CHAT, HOSTS.chat, { more, respond: refuse(["seed", "top_k"], say) });
    expect([asked.status, asked.sent.length]).toEqual([200, 2]);
    await forget();
  });

  test("is left out of what goes to another key of the endpoint in the same request", async () => {
    const key = await site.newAccount();
    const refusing = refuse(["seed"], unsupported);
    const respond: Responder = (request, index) =>
      index === 1
        ? Response.json({ error: { message: "Slow down." } }, { status: 429 })
        : refusing(request, index);
    const { status, sent } = await site.ask(key, CHAT, "acme/keys", { more: { seed: 1 }, respond });
    expect([status, sent.map((body) => hasField(body, "seed"))]).toEqual([200, [true, false, false]]);
    await forget();
  });

  test("is left out although a request may have one attempt only", async () => {
    const strict = await startLearningSite("limits: {attempts: 1}");
    const asked = { more: { seed: 1 }, respond: refuse(["seed"], unsupported) };
    const { status, sent } = await strict.ask(await strict.newAccount(), CHAT, HOSTS.chat, asked);
    expect([status, sent.length]).toEqual([200, 2]);
    await strict.stop();
  });

  test("is left out of every request of one account, without using up the retries of the provider", async () => {
    const key = await site.newAccount();
    const asked = { more: { seed: 1 }, respond: refuse(["seed"], unsupported) };
    for (let at = 0; at < 15; at++)
      expect((await site.ask(key, CHAT, "acme/keys", asked)).sent).toHaveLength(2);
    const respond: Responder = (request, index) =>
      index === 0
        ? Response.json({ error: { message: "Slow down." } }, { status: 429 })
        : answerAnyFormat(request);
    const { status, sent } = await site.ask(key, CHAT, "acme/keys", { more: {}, respond });
    expect([status, sent.length]).toEqual([200, 2]);
    await forget();
  });

  test("leaves the rest of the request as it was", async () => {
    const key = await site.newAccount();
    const messages = [
      { role: "system", content: "You are  helpful." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "temperature: Extra inputs are not permitted" },
    ];
    const more = { messages, temperature: 0.3, x_own: { a: [1.0, 2e3] } };
    const { sent } = await site.ask(key, CHAT, HOSTS.chat, {
      more,
      respond: refuse(["temperature"], unsupported),
    });
    expect(sent[1]).toEqual(without(sent[0] ?? {}, "temperature"));
    await forget();
  });

  test("is one attempt more in the record, which names the refusal and costs nothing", async () => {
    const key = await site.newAccount();
    const { id } = await site.ask(key, CHAT, HOSTS.chat, {
      more: { seed: 7 },
      respond: refuse(["seed"], unsupported),
    });
    const response = await fetch(`${site.gateway.base}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await response.json()).toMatchObject({
      data: {
        attempts: [
          { error_type: "invalid_request", upstream_status: 400, upstream_code: "unsupported_parameter" },
          { error_type: null, upstream_status: 200 },
        ],
        warnings: [{ field: "seed", message: LEFT_OUT }],
      },
    });
    await forget();
  });
});

describe("the caller gets the vendor's error, after one call, if the vendor", () => {
  const value =
    (message: string, more: Fields = {}) =>
    () => ({ error: { message, ...more } });
  test.each<[string, Fields, string, (field: string) => unknown]>([
    ["names a range", { temperature: 1.5 }, "temperature", value("temperature must be between 0 and 1")],
    [
      "names a value",
      { temperature: 1.5 },
      "temperature",
      value("Invalid 'temperature': decimal above maximum value.", { param: "temperature", code: "x" }),
    ],
    [
      "names the only value, which depends on the request",
      { temperature: 0.2 },
      "temperature",
      value("invalid temperature: only 1 is allowed for this model"),
    ],
    ["refuses tools", { tools: [toolOf("read")] }, "tools", unsupported],
    ["refuses response_format", { response_format: { type: "json_object" } }, "response_format", unsupported],
    ["refuses store", { store: false }, "store", unsupported],
    ["refuses metadata", { metadata: { a: "b" } }, "metadata", unsupported],
    ["refuses logit_bias", { logit_bias: { "5": 1 } }, "logit_bias", unsupported],
    ["refuses logprobs", { logprobs: true }, "logprobs", unsupported],
    ["refuses stop", { stop: ["x"] }, "stop", unsupported],
    ["refuses a service tier", { service_tier: "flex" }, "service_tier", unsupported],
    [
      "refuses the shortest retention of a cache",
      { prompt_cache_retention: "in_memory" },
      "prompt_cache_retention",
      unsupported,
    ],
    [
      "refuses a parameter together with tools",
      { seed: 1, tools: [toolOf("read")] },
      "seed",
      () => ({
        detail: [
          { type: "extra_forbidden", loc: ["body", "seed"] },
          { type: "extra_forbidden", loc: ["body", "tools"] },
        ],
      }),
    ],
    [
      "refuses a parameter and a value",
      { seed: 1, top_p: 0.9 },
      "seed",
      () => ({
        detail: [
          { type: "extra_forbidden", loc: ["body", "seed"] },
          { type: "less_than_equal", loc: ["body", "top_p"], msg: "Input should be at most 1" },
        ],
      }),
    ],
    [
      "refuses a member of a message",
      { seed: 1 },
      "seed",
      () => ({ error: { message: "messages.0.seed: Extra inputs are not permitted" } }),
    ],
    [
      "refuses a member far within a message",
      { seed: 1 },
      "seed",
      () => ({
        error: { message: `${"messages.0.content.".repeat(4)}seed: Extra inputs are not permitted` },
      }),
    ],
    [
      "refuses a name that ends like that of a parameter",
      { seed: 1 },
      "seed",
      () => ({ error: { message: "tools.0.my-seed: Extra inputs are not permitted" } }),
    ],
    [
      "refuses a member of a tool's schema",
      { seed: 1 },
      "seed",
      () => ({ error: { message: "Unknown name \"seed\" at 'tools[0].parameters': Cannot find field." } }),
    ],
    ["names what was not sent", { seed: 1 }, "seed", () => unsupported("top_k")],
  ])("%s", async (_, more, field, say) => {
    const key = await site.newAccount();
    const asked = await site.ask(key, CHAT, HOSTS.chat, { more, respond: refuse([field], say) });
    expect([asked.status, asked.sent.length]).toEqual([400, 1]);
    expect(await listed()).toEqual([]);
  });

  test("fails with a 500 that names a parameter", async () => {
    const key = await site.newAccount();
    const respond = refuse(["seed"], unsupported, 500);
    const asked = await site.ask(key, CHAT, HOSTS.chat, { more: { seed: 1 }, respond });
    expect([asked.status, asked.sent.length]).toEqual([502, 1]);
    expect(await listed()).toEqual([]);
  });

  test("refuses another parameter after the first one was left out", async () => {
    const key = await site.newAccount();
    const respond = refuse(["seed", "top_k"], unsupported);
    const asked = await site.ask(key, CHAT, HOSTS.chat, { more: { seed: 1, top_k: 2 }, respond });
    expect([asked.status, asked.sent.length]).toEqual([400, 2]);
    expect(asked.text).toContain("top_k");
    expect((await listed()).map(({ parameter }) => parameter)).toEqual(["seed"]);
    await forget();
  });

  test("refuses the same parameter again, which is not remembered", async () => {
    const key = await site.newAccount();
    const respond = () => Response.json(unsupported("seed"), { status: 400 });
    const asked = await site.ask(key, CHAT, HOSTS.chat, { more: { seed: 1 }, respond });
    expect([asked.status, asked.sent.length]).toEqual([400, 2]);
    expect(await listed()).toEqual([]);
  });

  test("refuses a parameter of a caller who requires all of them", async () => {
    const key = await site.newAccount();
    const more = { min_p: 0.1, provider: { require_parameters: true } };
    const respond = refuse(["min_p"], unsupported);
    const asked = await site.ask(key, CHAT, HOSTS.chat, { more, respond });
    expect(asked.status).toBe(400);
    expect(asked.sent.length).toBeLessThan(2);
    expect(await listed()).toEqual([]);
  });
});

test("the longest retention of a cache is left out of one repetition", async () => {
  const key = await site.newAccount();
  const more = { prompt_cache_retention: "24h" };
  const respond = refuse(["prompt_cache_retention"], unsupported);
  const asked = await site.ask(key, CHAT, HOSTS.chat, { more, respond });
  expect([asked.status, asked.sent.length]).toEqual([200, 2]);
  await forget();
});

describe("a refused parameter is left out before the first call", () => {
  const respond = refuse(["seed"], unsupported);
  const asked = { more: { seed: 7 }, respond };

  test("after two accounts saw it, for an hour, and is then tried again", async () => {
    const [ada, bob, cyd] = [await site.newAccount(), await site.newAccount(), await site.newAccount()];
    const countCalls = async (key: string) => (await site.ask(key, CHAT, HOSTS.chat, asked)).sent.length;
    expect([await countCalls(ada), await countCalls(ada), await countCalls(bob)]).toEqual([2, 2, 2]);
    const third = await site.ask(cyd, CHAT, HOSTS.chat, asked);
    expect(third.sent.map((body) => hasField(body, "seed"))).toEqual([false]);
    expect(third.text).toContain(LEFT_OUT);
    expect(await countCalls(ada)).toBe(1);
    site.clock.advance(3_599_000);
    expect(await countCalls(cyd)).toBe(1);
    site.clock.advance(2_000);
    expect(await countCalls(cyd)).toBe(2);
    expect(await countCalls(cyd)).toBe(2);
    await forget();
  });

  test("of the other client APIs that reach the endpoint in this format, and not of other endpoints", async () => {
    await learn("temperature");
    const more = { temperature: 0.5 };
    const refusing = refuse(["temperature"], unsupported);
    const key = await site.newAccount();
    for (const api of [CHAT, RESPONSES, MESSAGES])
      expect((await site.ask(key, api, HOSTS.chat, { more, respond: refusing })).sent).toHaveLength(1);
    const other = await site.ask(key, CHAT, HOSTS.messages, { more, respond: refusing });
    expect(other.sent).toHaveLength(2);
    await forget();
  });

  test("while its conversation keeps the format in which it was sent", async () => {
    const refusing = refuse(["temperature"], unsupported);
    const more = { temperature: 0.5 };
    for (const calls of [2, 2, 1]) {
      const key = await site.newAccount();
      const { sent } = await site.ask(key, MESSAGES, "acme/both", { more, respond: refusing });
      expect(sent).toHaveLength(calls);
      for (const body of sent) expect(body).toContainKey("messages");
    }
    await forget();
  });

  test("and is sent to a caller's endpoint who requires all parameters", async () => {
    await learn("seed");
    const key = await site.newAccount();
    const more = { seed: 1, provider: { require_parameters: true } };
    const { sent } = await site.ask(key, CHAT, HOSTS.chat, { more, respond: refuse([], unsupported) });
    expect(sent.map((body) => hasField(body, "seed"))).toEqual([true]);
    await forget();
  });

  test("of the BYOK key that it was refused to, at once, and of no other key", async () => {
    const [own, other] = [await site.newAccount("chat"), await site.newAccount("chat")];
    const plain = await site.newAccount();
    const countCalls = async (key: string) => (await site.ask(key, CHAT, HOSTS.chat, asked)).sent.length;
    expect([await countCalls(own), await countCalls(own)]).toEqual([2, 1]);
    expect([await countCalls(other), await countCalls(other)]).toEqual([2, 1]);
    // Two accounts saw it with their BYOK keys, which does not count for platform keys.
    expect([await countCalls(plain), await countCalls(plain)]).toEqual([2, 2]);
    const rows = await listed();
    expect(rows.map(({ byok_key_id }) => byok_key_id !== null).sort()).toEqual([false, true, true]);
    await forget();
  });
});

test("the health of a provider lists what was learned, and metrics count it", async () => {
  await forget();
  const before = (await scrape(site.gateway)).value("gateway_refused_parameters_total", {
    parameter: "min_p",
  });
  expect(before).toBeNull();
  const key = await site.newAccount();
  const asked = { more: { min_p: 0.1 }, respond: refuse(["min_p"], unsupported) };
  await site.ask(key, CHAT, HOSTS.chat, asked);
  expect(await listed()).toMatchObject([{ parameter: "min_p", is_applied: false }]);
  await site.ask(await site.newAccount(), CHAT, HOSTS.chat, asked);
  const now = site.clock.now();
  expect(await listed()).toEqual([
    {
      model: HOSTS.chat,
      upstream_model: "up",
      format: "openai-chat",
      parameter: "min_p",
      byok_key_id: null,
      is_applied: true,
      since: new Date(now).toISOString(),
      until: new Date(now + 3_600_000).toISOString(),
    },
  ]);
  const metrics = await scrape(site.gateway);
  const labels = { provider: "chat", parameter: "min_p" };
  expect(metrics.value("gateway_refused_parameters_total", labels)).toBe(2);
  expect(metrics.value("gateway_learned_refusals", { ...labels, keys: "platform" })).toBe(1);
  await forget();
  expect(await listed()).toEqual([]);
});

test("nothing is left out where the operator has switched learning off", async () => {
  const other = await startLearningSite("routing: {learn_refused_parameters: false}");
  const key = await other.newAccount();
  const asked = { more: { seed: 7 }, respond: refuse(["seed"], unsupported) };
  const { status, sent } = await other.ask(key, CHAT, HOSTS.chat, asked);
  expect([status, sent.length]).toEqual([400, 1]);
  await other.stop();
});

const EMBEDDING = {
  object: "list",
  data: [{ object: "embedding", index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 2, total_tokens: 2 },
};
const COMPLETION = {
  object: "text_completion",
  choices: [{ index: 0, text: "Hi.", finish_reason: "stop" }],
  usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
};

function without(body: Fields, field: string): Fields {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
}

function toolOf(name: string): Fields {
  return { type: "function", function: { name, parameters: { type: "object", properties: {} } } };
}

/** Lets two accounts see that the chat host refuses a parameter. */
async function learn(field: string): Promise<void> {
  const asked = { more: { [field]: 1 }, respond: refuse([field], unsupported) };
  for (const key of [await site.newAccount(), await site.newAccount()])
    await site.ask(key, CHAT, HOSTS.chat, asked);
}

type Refusal = Fields & { readonly parameter: string; readonly byok_key_id: string | null };

/** Lists the refused parameters of the chat host. */
async function listed(): Promise<readonly Refusal[]> {
  const { rows } = await callAdmin(site.gateway, site.gateway.adminKey, "GET", "/health");
  return rows.find(({ provider }) => provider === "chat")?.["refused_parameters"] as readonly Refusal[];
}

/** Forgets what was learned at all hosts. */
async function forget(): Promise<void> {
  for (const provider of [...Object.keys(HOSTS), "texts", "both", "keys", "embeddings", "mistral"])
    await callAdmin(site.gateway, site.gateway.adminKey, "POST", `/health/${provider}/clear`);
}
