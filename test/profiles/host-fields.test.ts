import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { answerAnyFormat } from "../support/vendors/answer-any-format.ts";
import { CHAT, type Fields, type ProfileSite, RESPONSES, startProfileSite } from "./sites/profile-site.ts";

/** A model that each host serves, and that restricts none of the parameters itself. */
const MODELS: Readonly<Record<string, string>> = {
  alibaba: "qwen/qwen-flash",
  azure: "deepseek/deepseek-v3.2",
  baseten: "z-ai/glm-5.1",
  cerebras: "openai/gpt-oss-120b",
  cohere: "cohere/command-r-08-2024",
  fireworks: "z-ai/glm-5.1",
  groq: "meta-llama/llama-3.3-70b-instruct",
  minimax: "minimax/minimax-m2.5",
  moonshotai: "moonshotai/kimi-k2",
  nvidia: "nvidia/nemotron-3-super-120b-a12b",
  perplexity: "perplexity/sonar",
  scaleway: "meta-llama/llama-3.3-70b-instruct",
  upstage: "upstage/solar-pro-2",
  venice: "z-ai/glm-4.7",
  vultr: "nvidia/deepseek-v3.2-nvfp4",
  xai: "x-ai/grok-4.20-0309-non-reasoning",
  zai: "z-ai/glm-4.6",
};

/** Fields that cost nothing here, so that only the profile of a host decides about them. */
const FIELDS =
  "prompt_cache_key prompt_cache_retention prompt_cache_options store metadata safety_identifier verbosity service_tier logit_bias user";

let site: ProfileSite;
beforeAll(async () => {
  const hosts = Object.keys(MODELS).map(
    (slug) =>
      `  ${slug}: { base_url: "{vendor}", api_keys: [sk-test-${slug}-0001], send: { fields: [${FIELDS.replaceAll(" ", ", ")}] } }`,
  );
  site = await startProfileSite(`providers:\n${hosts.join("\n")}\n`);
});
afterAll(() => site.stop());

type Table = Readonly<Record<string, Fields>>;

const CACHE = { prompt_cache_key: "k", prompt_cache_retention: "24h", prompt_cache_options: { ttl: "30m" } };
const LONG_CACHE = { prompt_cache_retention: "24h", prompt_cache_options: { ttl: "30m" } };

/** What each host rejects in a chat, from its documents (catalog/README.md). */
const REJECTED: Table = {
  azure: { prompt_cache_key: "k" },
  baseten: CACHE,
  cerebras: { ...LONG_CACHE, store: false, metadata: { a: "b" }, safety_identifier: "u", verbosity: "low" },
  fireworks: { ...LONG_CACHE, store: false, safety_identifier: "u", verbosity: "low" },
  groq: {
    ...CACHE,
    ...{
      store: false,
      metadata: { a: "b" },
      safety_identifier: "u",
      verbosity: "low",
      logit_bias: { "1": 2 },
    },
    ...{ logprobs: true, top_logprobs: 2, n: 2, service_tier: "priority" },
  },
  minimax: { n: 2 },
  nvidia: { ...CACHE, store: false, metadata: { a: "b" }, service_tier: "flex" },
  scaleway: { logit_bias: { "1": 2 }, user: "u", top_logprobs: 2, frequency_penalty: 0.5, n: 2 },
  upstage: { store: false },
  venice: {
    ...{ prompt_cache_options: { ttl: "30m" }, prompt_cache_retention: "in_memory" },
    ...{ service_tier: "flex", logit_bias: { "1": 2 }, safety_identifier: "u" },
  },
  vultr: CACHE,
  xai: { metadata: { a: "b" }, logit_bias: { "1": 2 } },
};

/** What each host documents, which arrives as the client sent it. */
const TAKEN: Table = {
  alibaba: { temperature: 1.9, top_p: 1, seed: 7, n: 2 },
  azure: { temperature: 1.5, seed: 7, store: false, metadata: { a: "b" } },
  baseten: { temperature: 1.5, seed: 7 },
  cerebras: {
    prompt_cache_key: "k",
    service_tier: "flex",
    logit_bias: { "1": 2 },
    seed: 7,
  },
  fireworks: {
    prompt_cache_key: "k",
    service_tier: "priority",
    metadata: { a: "b" },
    logit_bias: { "1": 2 },
    n: 2,
  },
  groq: { service_tier: "flex", n: 1, logprobs: false, seed: 7 },
  minimax: { temperature: 1, top_p: 0.9, n: 1 },
  moonshotai: { temperature: 0.6, n: 5, prompt_cache_key: "k" },
  nvidia: { temperature: 0.6, seed: 7, logit_bias: { "1": 2 } },
  perplexity: { max_tokens: 16, temperature: 1.9 },
  scaleway: { presence_penalty: 0.5, seed: 7, frequency_penalty: 0, n: 1 },
  upstage: { prompt_cache_key: "k", temperature: 1.5 },
  venice: { prompt_cache_key: "k", prompt_cache_retention: "24h", store: false, metadata: { a: "b" }, n: 2 },
  vultr: { temperature: 1.5, seed: 7 },
  xai: { seed: 7 },
  zai: { temperature: 1, top_p: 0.01 },
};

/** Values that each host documents as the ends of its ranges: what the client sends, and what arrives. */
const LIMITED: readonly (readonly [host: string, field: string, sent: number, arrives: number])[] = [
  ["alibaba", "temperature", 2, 1.99],
  ["cohere", "temperature", 1.4, 1],
  ["cohere", "frequency_penalty", -0.5, 0],
  ["cohere", "presence_penalty", 1.5, 1],
  ["minimax", "temperature", 0, 0.01],
  ["minimax", "temperature", 1.4, 1],
  ["minimax", "top_p", 0, 0.01],
  ["moonshotai", "temperature", 1.4, 1],
  ["moonshotai", "n", 7, 5],
  ["perplexity", "max_tokens", 1, 16],
  ["zai", "temperature", 1.4, 1],
  ["zai", "top_p", 0, 0.01],
];

/** A host that rejects these fields, as long as they have these values. */
const strictHost =
  (rejected: Fields): Parameters<ProfileSite["ask"]>[3] =>
  (request) => {
    const body = JSON.parse(request.text) as Fields;
    const found = Object.entries(rejected).find(
      ([field, value]) => JSON.stringify(body[field]) === JSON.stringify(value),
    );
    if (found === undefined)
      return request.path.endsWith("/chat") ? Response.json(COHERE) : answerAnyFormat(request);
    const message = `property '${found[0]}' is unsupported`;
    return Response.json({ error: { message, type: "invalid_request_error" } }, { status: 400 });
  };

const COHERE = {
  id: "c-1",
  finish_reason: "COMPLETE",
  message: { role: "assistant", content: [{ type: "text", text: "Hello there." }] },
  usage: { tokens: { input_tokens: 3, output_tokens: 2 } },
};

const askAt = (host: string, more: Fields, rejected: Fields = {}) =>
  site.ask(CHAT, MODELS[host] as string, { ...more, provider: { only: [host] } }, strictHost(rejected));

describe("a field that a strict host rejects", () => {
  test.each(
    Object.entries(REJECTED).flatMap(([host, fields]) =>
      Object.entries(fields).map(([field, value]) => [host, field, value] as const),
    ),
  )("is left out for %s, and named: %s", async (host, field, value) => {
    const { status, sent, named } = await askAt(host, { [field]: value }, { [field]: value });
    expect(status).toBe(200);
    expect(sent).not.toContainKey(field);
    expect(named).toContain(field);
  });

  test("is left out beside all others, which arrive as they are", async () => {
    for (const [host, rejected] of Object.entries(REJECTED)) {
      const taken = Object.fromEntries(
        Object.entries(TAKEN[host] ?? {}).filter(([field]) => !(field in rejected)),
      );
      const { status, sent } = await askAt(host, { ...taken, ...rejected }, rejected);
      expect([host, status]).toEqual([host, 200]);
      expect(sent).toMatchObject(taken);
    }
  });
});

describe("a field that a host documents", () => {
  test.each(Object.entries(TAKEN))("arrives at %s as the client sent it", async (host, fields) => {
    const { status, sent, named } = await askAt(host, fields);
    expect(status).toBe(200);
    expect(sent).toMatchObject(fields);
    expect(named).toEqual([]);
  });

  test.each(LIMITED)("is limited to the range of %s: %s", async (host, field, value, arrives) => {
    const { status, sent, named } = await askAt(host, { [field]: value });
    expect([status, sent[field]]).toEqual([200, arrives]);
    expect(named).toContain(field);
  });
});

test.each([["groq"], ["venice"]])(
  "a message of the role developer arrives at %s, which knows it",
  async (host) => {
    const messages = [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Hello!" },
    ];
    const { sent } = await askAt(host, { messages });
    expect(sent["messages"]).toEqual(messages);
  },
);

describe("names of messages", () => {
  const system = { role: "system", content: "Be brief.", name: "rules" };
  const user = { role: "user", content: "Hello!", name: "ada" };
  const answer = { role: "assistant", content: "Yes?", name: "grok" };

  test.each([
    ["in a body that is forwarded", {}],
    [
      "in a body that is translated",
      { functions: [{ name: "look", parameters: { type: "object", properties: {} } }] },
    ],
  ])("arrive at xAI only with the user's, %s", async (_, more) => {
    const { status, sent, named } = await askAt("xai", { ...more, messages: [system, user, answer, user] });
    const [{ name: _rules, ...rules }, { name: _grok, ...grok }] = [system, answer];
    expect([status, sent["messages"]]).toEqual([200, [rules, user, grok, user]]);
    expect(named).toContain("messages[0].name");
  });

  test("of users alone arrive without a warning", async () => {
    const { sent, named } = await askAt("xai", { messages: [user] });
    expect([sent["messages"], named]).toEqual([[user], []]);
  });
});

test.each([
  ["24h", "openai/gpt-5.5", true],
  ["in_memory", "openai/gpt-5.5", false],
  ["in_memory", "openai/gpt-5.4", true],
])("a cache of %s is asked for of %s if it has that", async (retention, model, isTaken) => {
  const more = { prompt_cache_retention: retention, provider: { only: ["openai"] } };
  const { status, sent, named } = await site.ask(CHAT, model, more);
  expect(status).toBe(200);
  expect(sent["prompt_cache_retention"]).toBe(isTaken ? retention : undefined);
  expect(named.includes("prompt_cache_retention")).toBe(!isTaken);
});

test.each([
  [{ prompt_cache_retention: "24h" }],
  [{ prompt_cache_options: { ttl: "30m" } }],
  [{ top_logprobs: 2 }],
  [{ service_tier: "priority" }],
])("a field that Groq's Responses API does not have is left out there, and named: %j", async (more) => {
  const { status, sent, named } = await site.ask(
    RESPONSES,
    MODELS["groq"] as string,
    { ...more, provider: { only: ["groq"] } },
    strictHost(more),
  );
  expect(status).toBe(200);
  expect(sent).not.toContainAnyKeys(Object.keys(more));
  expect(named).toEqual(expect.arrayContaining(Object.keys(more)));
});
