import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../support/money.ts";
import { chunkOf, documentOf, opening, startVendor, type Vendor } from "../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({
    yaml: `
pricing:
  rules: [{prices: {prompt: "0.000001", completion: "0.00001", cache_read: "0.0000001", cache_write: "0.000002", audio_in: "0.00002", audio_out: "0.00004", search: "0.01"}}]
providers:
  host: {base_url: "${vendor.baseUrl}", models: [{id: acme/counted, context_length: 128000}]}`,
  });
  key = await addAccountWithKey(gateway, { id: "user_counted" });
  await manage(gateway, "/accounts/user_counted/credits", { amount: "100" });
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

/** Tokens of each kind, and searches, at the prices above. Nanodollars. */
interface Units {
  readonly prompt?: number;
  readonly cached?: number;
  readonly written?: number;
  readonly audioIn?: number;
  readonly completion?: number;
  readonly audioOut?: number;
  readonly searches?: number;
}

function priceOf(units: Units): number {
  const {
    prompt = 0,
    cached = 0,
    written = 0,
    audioIn = 0,
    completion = 0,
    audioOut = 0,
    searches = 0,
  } = units;
  return (
    1_000 * prompt +
    100 * cached +
    2_000 * written +
    20_000 * audioIn +
    10_000 * completion +
    40_000 * audioOut +
    10_000_000 * searches
  );
}

/** Usage objects in the form of each vendor, and what they come to. */
const USAGES: readonly (readonly [vendor: string, usage: object, units: Units])[] = [
  [
    "OpenAI",
    {
      prompt_tokens: 1_200,
      completion_tokens: 300,
      total_tokens: 1_500,
      prompt_tokens_details: { cached_tokens: 1_024, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 192,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    { prompt: 176, cached: 1_024, completion: 300 },
  ],
  [
    "OpenAI with audio",
    {
      prompt_tokens: 100,
      completion_tokens: 60,
      total_tokens: 160,
      prompt_tokens_details: { cached_tokens: 0, text_tokens: 20, audio_tokens: 80 },
      completion_tokens_details: { reasoning_tokens: 0, text_tokens: 10, audio_tokens: 50 },
    },
    { prompt: 20, audioIn: 80, completion: 10, audioOut: 50 },
  ],
  [
    "DeepSeek, hits and misses beside the details",
    {
      prompt_tokens: 100,
      completion_tokens: 40,
      total_tokens: 140,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 30 },
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
    },
    { prompt: 36, cached: 64, completion: 40 },
  ],
  [
    "a host of DeepSeek, only prompt_cache_hit_tokens",
    { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140, prompt_cache_hit_tokens: 64 },
    { prompt: 36, cached: 64, completion: 40 },
  ],
  [
    "only hits and misses, without a sum of the prompt",
    { completion_tokens: 40, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
    { prompt: 36, cached: 64, completion: 40 },
  ],
  [
    "xAI, reasoning beside the completion",
    {
      prompt_tokens: 12,
      completion_tokens: 1,
      total_tokens: 303,
      prompt_tokens_details: { text_tokens: 12, audio_tokens: 0, image_tokens: 0, cached_tokens: 11 },
      completion_tokens_details: { reasoning_tokens: 290, audio_tokens: 0 },
      num_sources_used: 0,
    },
    { prompt: 1, cached: 11, completion: 291 },
  ],
  [
    "more reasoning than completion, without a total",
    { prompt_tokens: 12, completion_tokens: 1, completion_tokens_details: { reasoning_tokens: 290 } },
    { prompt: 12, completion: 291 },
  ],
  [
    "more reasoning than completion, in a total that has none beside",
    {
      prompt_tokens: 12,
      completion_tokens: 10,
      total_tokens: 22,
      completion_tokens_details: { reasoning_tokens: 290 },
    },
    { prompt: 12, completion: 10 },
  ],
  [
    "a total that is too high by something else than the reasoning",
    {
      prompt_tokens: 12,
      completion_tokens: 10,
      total_tokens: 500,
      completion_tokens_details: { reasoning_tokens: 4 },
    },
    { prompt: 12, completion: 10 },
  ],
  [
    "a total that is too low",
    { prompt_tokens: 12, completion_tokens: 10, total_tokens: 3 },
    { prompt: 12, completion: 10 },
  ],
  [
    "more cached tokens than prompt",
    { prompt_tokens: 12, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 50 } },
    { cached: 12, completion: 10 },
  ],
  [
    "OpenRouter, with a written cache",
    {
      prompt_tokens: 200,
      completion_tokens: 10,
      total_tokens: 210,
      cost: 0.5,
      is_byok: false,
      prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: 100, audio_tokens: 0, video_tokens: 0 },
      cost_details: { upstream_inference_cost: null },
      completion_tokens_details: { reasoning_tokens: 0, image_tokens: 0 },
    },
    { prompt: 50, cached: 50, written: 100, completion: 10 },
  ],
  [
    "Perplexity, with searches",
    {
      prompt_tokens: 14,
      completion_tokens: 30,
      total_tokens: 44,
      search_context_size: "low",
      num_search_queries: 2,
      citation_tokens: 900,
    },
    { prompt: 14, completion: 30, searches: 2 },
  ],
  [
    "Groq, with times",
    {
      queue_time: 0.02,
      prompt_tokens: 14,
      prompt_time: 0.001,
      completion_tokens: 30,
      completion_time: 0.1,
      total_tokens: 44,
      total_time: 0.101,
    },
    { prompt: 14, completion: 30 },
  ],
  [
    "Moonshot and Together, cached_tokens beside",
    { prompt_tokens: 14, completion_tokens: 30, total_tokens: 44, cached_tokens: 8 },
    { prompt: 6, cached: 8, completion: 30 },
  ],
  [
    "details that are null",
    {
      prompt_tokens: 14,
      completion_tokens: 30,
      total_tokens: 44,
      prompt_tokens_details: null,
      completion_tokens_details: null,
    },
    { prompt: 14, completion: 30 },
  ],
  [
    "a reseller of Claude",
    {
      prompt_tokens: 14,
      completion_tokens: 30,
      total_tokens: 44,
      server_tool_use: { web_search_requests: 1 },
    },
    { prompt: 14, completion: 30, searches: 1 },
  ],
];

/** Where a stream has its usage. */
const PLACES: readonly (readonly [string, (usage: object) => readonly object[]])[] = [
  ["an event of its own", (usage) => [chunkOf({}, "stop"), { ...chunkOf({}), choices: [], usage }]],
  ["the event with the finish reason", (usage) => [{ ...chunkOf({}, "stop"), usage }]],
  [
    "every event, zeros first",
    (usage) => [
      { ...chunkOf({}, "stop"), usage: NOTHING },
      { ...chunkOf({}), choices: [], usage },
    ],
  ],
  ["x_groq", (usage) => [{ ...chunkOf({}, "stop"), x_groq: { usage } }]],
];
const NOTHING = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

async function chargeFor(stream: boolean): Promise<number> {
  const before = (await balanceOf(gateway, "user_counted")).balance;
  const response = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "acme/counted",
      stream,
      messages: [{ role: "user", content: "Hello there!" }],
    }),
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.stringContaining("Alpha")]);
  return before - (await balanceOf(gateway, "user_counted")).balance;
}

describe.each(USAGES.map((row) => [...row] as const))(
  "the usage of a chat as counted by %s",
  (_vendor, usage, units) => {
    test("costs what its tokens cost, in a whole answer", async () => {
      vendor.perform((call) => call.respond(200, { ...documentOf("Alpha one two"), usage }));
      expect(await chargeFor(false)).toBe(priceOf(units));
    });

    test.each(PLACES.map((place) => [...place] as const))(
      "costs the same in a stream that has it in %s",
      async (_place, place) => {
        vendor.perform(async (call) => {
          await call.begin();
          await call.events(...opening("Alpha one"), ...place(usage));
          await call.piece("data: [DONE]\n\n");
          await call.end();
        });
        expect(await chargeFor(true)).toBe(priceOf(units));
      },
    );
  },
);
