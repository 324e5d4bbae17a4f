import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../src/wire/conversation/traits/format-name.ts";
import { CLIENT_APIS } from "../faults/client-apis.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../support/money.ts";
import { ANSWERED_TEXT, answerWithUsage } from "../support/vendors/scripts/answer-with-usage.ts";
import { USAGE_OF } from "../support/vendors/scripts/usage-of.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";

const WINDOW = 8_192;
/** Nanodollars per token. */
const PRICES = { prompt: 1_000, completion: 10_000 } as const;

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  const prices = '{prompt: "0.000001", completion: "0.00001", search: "0.01"}';
  const model = (id: string, more = "") =>
    `{id: ${id}, name: up, context_length: ${WINDOW}, prices: ${prices}${more}}`;
  const rows = FORMAT_NAMES.map(
    (format) =>
      `  at-${format}: {format: ${format}, auth: bearer, base_url: "${vendor.baseUrl}", api_keys: [k], models: [${model(`acme/${format}`)}]}`,
  );
  gateway = await startTestGateway({
    yaml: `
limits: {attempts: 1, repeats: 0}
providers:
${rows.join("\n")}
  mistral: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [${model("mistralai/code")}]}
  vectors: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [${model("acme/vectors", ", output: embedding")}]}
`,
  });
});
beforeEach(() => {
  gateway.log.length = 0;
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

/** Impossible counts of prompt and answer; null: a possible count. */
const IMPOSSIBLE_COUNTS: readonly (readonly [prompt: number | null, completion: number | null])[] = [
  [1e19, null],
  [null, 1e19],
  [1e12, null],
  [null, 1e12],
  [9e15, 9e15],
  [1e300, 1e300],
];

function perform(format: FormatName, usage: object): void {
  answerWithUsage(vendor, format, usage);
}

function post(path: string, body: object, key = gateway.key): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const url = path.startsWith("/fim") ? `${gateway.url}/api${path}` : gateway.base + path;
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}

async function fetchGeneration(response: Response) {
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  return ((await found.json()) as { data: Record<string, number> & { estimated: boolean } }).data;
}

const rejectedFields = () =>
  gateway.log
    .filter(({ level, event }) => level === "warn" && event.includes("counts more"))
    .map(({ fields }) => fields);

for (const format of FORMAT_NAMES) {
  describe(`impossible token counts of a vendor with format ${format}`, () => {
    for (const api of CLIENT_APIS) {
      for (const stream of [false, true]) {
        test(`the gateway charges an estimate and logs a warning: ${api.name} client, ${stream ? "streamed" : "whole"}`, async () => {
          for (const [prompt, completion] of IMPOSSIBLE_COUNTS) {
            gateway.log.length = 0;
            perform(format, USAGE_OF[format](prompt ?? 10, completion ?? 5));
            const response = await post(api.path, api.ask(`acme/${format}`, stream));
            const body = await response.text();
            expect([response.status, body]).toEqual([200, expect.any(String)]);
            const heard = stream ? api.readStream(body) : api.readDocument(body);
            expect([heard.text, heard.usage?.estimated]).toEqual([ANSWERED_TEXT, true]);
            const generation = await fetchGeneration(response);
            expect(generation.estimated).toBe(true);
            expect(generation["tokens_prompt"]).toBeWithin(1, 40);
            expect(generation["tokens_completion"]).toBeWithin(1, 8);
            expect(heard.usage?.completion).toBe(generation["tokens_completion"]!);
            expect(generation["total_cost_nanodollars"]).toBe(
              generation["tokens_prompt"]! * PRICES.prompt +
                generation["tokens_completion"]! * PRICES.completion,
            );
            expect(rejectedFields().map(({ field, count, provider }) => [field, count, provider])).toEqual(
              [
                ["prompt_tokens", prompt],
                ["completion_tokens", completion],
              ]
                .filter(([, count]) => count !== null)
                .map(([field, count]) => [
                  field,
                  Math.min(count as number, Number.MAX_SAFE_INTEGER),
                  `at-${format}`,
                ]),
            );
          }
        });
      }
    }
  });
}

describe("a count above the request's max_tokens", () => {
  test.each([false, true])("5,000 tokens for max_tokens 1 are not charged, streamed: %p", async (stream) => {
    perform("openai-chat", USAGE_OF["openai-chat"](10, 5_000));
    const messages = [{ role: "user", content: "Hello!" }];
    const response = await post("/chat/completions", {
      model: "acme/openai-chat",
      max_tokens: 1,
      stream,
      messages,
    });
    await response.text();
    const generation = await fetchGeneration(response);
    expect(generation).toMatchObject({ tokens_prompt: 10, estimated: true });
    expect(generation["tokens_completion"]).toBeLessThan(10);
    expect(rejectedFields()).toMatchObject([{ field: "completion_tokens", count: 5_000, bound: 257 }]);
  });

  test("the bound is multiplied by the number of answers", async () => {
    const usage = USAGE_OF["openai-chat"](10, 900);
    perform("openai-chat", usage);
    const ask = async (n: number) => {
      const messages = [{ role: "user", content: "Hello!" }];
      const body = { model: "acme/openai-chat", max_tokens: 100, n, messages };
      const response = await post("/chat/completions", body);
      await response.text();
      return (await fetchGeneration(response))["tokens_completion"];
    };
    expect(await ask(3)).toBe(900);
    expect(await ask(1)).toBeLessThan(10);
  });
});

describe("a count of prompt tokens", () => {
  test("a count is accepted up to a tenth above the context window, and above that up to the bytes of the text", async () => {
    const ask = async (prompt: number, content: string) => {
      perform("openai-chat", USAGE_OF["openai-chat"](prompt, 5));
      const response = await post("/chat/completions", {
        model: "acme/openai-chat",
        messages: [{ role: "user", content }],
      });
      await response.text();
      return (await fetchGeneration(response))["tokens_prompt"];
    };
    expect(await ask(WINDOW + 800, "Hello!")).toBe(WINDOW + 800);
    expect(await ask(WINDOW + 900, "Hello!")).toBeLessThan(10);
    expect(await ask(16_000, "x ".repeat(8_000))).toBe(16_000);
  });

  test("a count of several rounds is accepted if the vendor runs tools", async () => {
    const ask = async (tools: object[]) => {
      perform("openai-responses", USAGE_OF["openai-responses"](5 * WINDOW, 5));
      const response = await post("/responses", { model: "acme/openai-responses", input: "Hello!", tools });
      await response.text();
      return (await fetchGeneration(response))["tokens_prompt"];
    };
    expect(await ask([{ type: "web_search" }])).toBe(5 * WINDOW);
    expect(await ask([{ type: "code_interpreter", container: { type: "auto" } }])).toBe(5 * WINDOW);
    expect(await ask([{ type: "function", name: "f", parameters: {} }])).toBeLessThan(20);
  });
});

test.each([1e30, 1e12, 5_000])(
  "an impossible count of %p searches is not charged",
  async (num_search_queries) => {
    for (const stream of [false, true]) {
      gateway.log.length = 0;
      perform("openai-chat", { ...USAGE_OF["openai-chat"](10, 5), num_search_queries });
      const messages = [{ role: "user", content: "Hello!" }];
      const response = await post("/chat/completions", { model: "acme/openai-chat", stream, messages });
      await response.text();
      expect(await fetchGeneration(response)).toMatchObject({
        web_searches: 0,
        estimated: true,
        total_cost_nanodollars: 10 * PRICES.prompt + 5 * PRICES.completion,
      });
      expect(rejectedFields()).toMatchObject([{ field: "searches" }]);
    }
  },
);

test.each([1e19, 1e12])(
  "the tokens of embeddings are estimated if the vendor counts %p",
  async (prompt_tokens) => {
    const data = [{ index: 0, embedding: [0.5] }];
    vendor.perform((call) =>
      call.respond(200, { data, usage: { prompt_tokens, total_tokens: prompt_tokens } }),
    );
    const response = await post("/embeddings", { model: "acme/vectors", input: "Hello!" });
    expect(await response.json()).toMatchObject({ usage: { prompt_tokens: 2, estimated: true } });
  },
);

test.each([false, true])(
  "fill in the middle is charged by an estimate if the vendor's counts are impossible, streamed: %p",
  async (stream) => {
    perform("openai-chat", USAGE_OF["openai-chat"](1e19, 5_000));
    const response = await post("/fim/completions", { model: "mistralai/code", prompt: "def f(", stream });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    const generation = await fetchGeneration(response);
    expect(generation).toMatchObject({ tokens_prompt: 2, estimated: true });
    expect(generation["tokens_completion"]).toBeLessThan(10);
  },
);

test("the gateway stays ready and accounts readable after impossible counts of a vendor", async () => {
  const key = await addAccountWithKey(gateway, { id: "user_counted" });
  await manage(gateway, "/accounts/user_counted/credits", { amount: 1 });
  for (const [prompt, completion] of IMPOSSIBLE_COUNTS) {
    perform("openai-chat", USAGE_OF["openai-chat"](prompt ?? 10, completion ?? 5));
    const messages = [{ role: "user", content: "Hello!" }];
    const body = { model: "acme/openai-chat", messages };
    expect((await post("/chat/completions", body, key)).status).toBe(200);
  }
  const { balance, held } = await balanceOf(gateway, "user_counted");
  expect(held).toBe(0);
  expect(balance).toBeWithin(1_000_000_000 - 2_000_000, 1_000_000_000);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
});

test("the counters for a Messages client sum to the prompt's size if the vendor counts tokens as both read from and written to the cache", async () => {
  const prompt_tokens_details = { cached_tokens: 90, cache_write_tokens: 90 };
  for (const stream of [false, true]) {
    perform("openai-chat", { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details });
    const messages = [{ role: "user", content: "Hello!" }];
    const body = { model: "acme/openai-chat", max_tokens: 50, stream, messages };
    const text = await (await post("/messages", body)).text();
    const last = stream ? text.slice(text.indexOf("event: message_delta")) : text;
    const count = (name: string) => Number(new RegExp(`"${name}":(\\d+)`).exec(last)?.[1]);
    const counters = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].map(count);
    expect(counters).toEqual([0, 90, 10]);
  }
});
