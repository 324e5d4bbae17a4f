import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { TokenCounter } from "../../src/core/generation/memory/token-counter.ts";
import { createTokenCounter } from "../../src/tokenizer/token-counter.ts";
import { CLIENT_APIS } from "../support/clients/client-apis.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestClock } from "../support/test-clock.ts";
import { answerAnyFormat } from "../support/vendors/answer-any-format.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";

const MODEL = "openai/gpt-4o-mini";
const WINDOW = 128_000;
/** A prompt that exceeds the window by less may fit it with another tokenizer (`TokenizerFamily.least` of GPT). */
const SURELY_OVER = Math.ceil(WINDOW / 0.96);

let vendor: RecordingVendor;
let larger: RecordingVendor;
let gateway: TestGateway;
/** The bytes of each text that was given to the token counter. */
let counted: number[];
/** Whether the token counter returns no count. */
let isBroken: boolean;

beforeAll(async () => {
  vendor = startRecordingVendor();
  larger = startRecordingVendor();
  gateway = await startTestGateway({
    tokenCounter: spyOn(createTokenCounter(createTestClock())),
    yaml: `
providers:
  openai: { base_url: "${vendor.baseUrl}", api_keys: [key] }
  small:
    base_url: ${vendor.baseUrl}
    api_keys: [key]
    models:
      - { id: acme/small, context_length: 8192 }
      - { id: "acme/small:free", context_length: 8192 }
      - { id: acme/unstated }
      - { id: acme/both, context_length: 8192 }
      - { id: acme/same, context_length: 8192 }
  large:
    base_url: ${larger.baseUrl}
    api_keys: [key]
    models:
      - { id: acme/large, context_length: 1000000 }
      - { id: acme/both, context_length: 1000000, prices: { prompt: "0.1", completion: "0.1" } }
      - { id: acme/same, context_length: 8192, prices: { prompt: "0.1", completion: "0.1" } }
`,
  });
});
beforeEach(() => {
  vendor.reset(answerAnyFormat);
  larger.reset();
  counted = [];
  isBroken = false;
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop(), larger.stop()]));

function spyOn(counter: TokenCounter): TokenCounter {
  return {
    count(texts) {
      counted.push(texts.reduce((sum, { length }) => sum + length, 0));
      return isBroken ? Promise.resolve(null) : counter.count(texts);
    },
    close: () => counter.close(),
  };
}

/** Returns a prompt of `tokens` tokens with five bytes each. */
const say = (tokens: number) => " word".repeat(tokens);

function post(path: string, body: unknown, key: string | null = gateway.key): Promise<Response> {
  return fetch(`${gateway.base}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  });
}

const chat = (model: string, prompt: string, more: object = {}) =>
  post("/chat/completions", { model, messages: [{ role: "user", content: prompt }], ...more });

const PROMPTS: Readonly<Record<string, (prompt: string) => object>> = {
  "chat completions": (content) => ({ messages: [{ role: "user", content }] }),
  responses: (input) => ({ input }),
  messages: (content) => ({ messages: [{ role: "user", content }] }),
};
const APIS = CLIENT_APIS.filter(({ name }) => name in PROMPTS);

async function readError(response: Response) {
  const { error } = (await response.json()) as { error: { message: string; metadata?: object } };
  return { status: response.status, message: error.message };
}

describe.each(APIS)("the context window check of $name", ({ name, path, body }) => {
  const ask = (tokens: number, more: object = {}) =>
    post(path, { ...body(MODEL), ...(PROMPTS[name] as (prompt: string) => object)(say(tokens)), ...more });
  const overflow = (least: number) =>
    name === "messages"
      ? new RegExp(`prompt is too long: ${least}\\d{3} tokens > 128000 maximum`)
      : new RegExp(`maximum context length is 128000 tokens.* about ${least}\\d{3} tokens`);

  test("a prompt far below the context window is not counted", async () => {
    expect((await ask(60_000)).status).toBe(200);
    expect(counted).toEqual([]);
  });

  test("a prompt clearly below the context window is sampled", async () => {
    expect((await ask(90_000)).status).toBe(200);
    expect(counted).toEqual([expect.any(Number)]);
    expect(counted[0]).toBeLessThan(20_000);
  });

  test("a prompt just below the context window is counted completely and sent to the upstream", async () => {
    expect((await ask(SURELY_OVER - 500)).status).toBe(200);
    expect(counted).toHaveLength(2);
    expect(vendor.requests).toHaveLength(1);
  });

  test("a prompt just above the context window is rejected with both numbers, and no upstream is called", async () => {
    const refused = await readError(await ask(SURELY_OVER + 500));
    expect(refused).toEqual({ status: 400, message: expect.stringMatching(overflow(133)) });
    expect(counted).toHaveLength(2);
    expect(vendor.requests).toHaveLength(0);
  });

  test("a prompt far above the context window is rejected after a sample", async () => {
    const refused = await readError(await ask(190_000));
    expect(refused).toEqual({ status: 400, message: expect.stringMatching(/ (1[89]\d|20\d)\d{3} tokens/) });
    expect(counted).toHaveLength(1);
  });

  test("a prompt that fits only the larger window of a fallback model is answered by that model", async () => {
    const response = await ask(140_000, { models: ["acme/large"] });
    expect(response.status).toBe(200);
    expect([vendor.requests.length, larger.requests.length]).toEqual([0, 1]);
  });

  test("a prompt that fits no window is rejected with the largest window", async () => {
    const refused = await readError(await ask(190_000, { models: ["acme/small"] }));
    expect(refused.message).toContain("128000");
  });

  test("a prompt whose tokens could not be counted is sent to the upstream", async () => {
    isBroken = true;
    expect((await ask(SURELY_OVER + 500)).status).toBe(200);
  });
});

describe("the providers of one model", () => {
  test("the provider whose context window fits the prompt answers", async () => {
    expect((await chat("acme/both", say(20_000))).status).toBe(200);
    expect([vendor.requests.length, larger.requests.length]).toEqual([0, 1]);
  });

  const refuseOverflow = () =>
    Response.json(
      {
        error: {
          message: "This model's maximum context length is 8192 tokens.",
          code: "context_length_exceeded",
        },
      },
      { status: 400 },
    );

  test("a provider with a larger window is called after another rejected the prompt as too long", async () => {
    vendor.reset(refuseOverflow);
    expect((await chat("acme/both", "short")).status).toBe(200);
    expect([vendor.requests.length, larger.requests.length]).toEqual([1, 1]);
  });

  test("a provider with the same window is not called after another rejected the prompt as too long", async () => {
    vendor.reset(refuseOverflow);
    const refused = await readError(await chat("acme/same", "short"));
    expect(refused).toEqual({ status: 400, message: expect.stringContaining("8192 tokens") });
    expect([vendor.requests.length, larger.requests.length]).toEqual([1, 0]);
  });
});

describe("content that may be shortened or is not text", () => {
  test.each([
    [
      "a conversation that the vendor may truncate",
      "/responses",
      { input: say(190_000), truncation: "auto" },
    ],
    [
      "a conversation that the vendor may edit",
      "/messages",
      {
        max_tokens: 5,
        context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
        messages: [{ role: "user", content: say(190_000) }],
      },
    ],
    [
      "an image",
      "/chat/completions",
      {
        messages: [
          {
            role: "user",
            content: [
              {
                type: "image_url",
                image_url: { url: `data:image/png;base64,${"iVBORw0K".repeat(100_000)}` },
              },
            ],
          },
        ],
      },
    ],
  ])("%s is not counted", async (_name, path, body) => {
    expect((await post(path, { model: MODEL, ...body })).status).toBe(200);
    expect(counted).toEqual([]);
  });
});

describe("embeddings", () => {
  const embed = (input: unknown, model = "openai/text-embedding-3-small") =>
    post("/embeddings", { model, input });
  const answerVectors = () =>
    Response.json({ data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 1, total_tokens: 1 } });

  test("the context window applies to each text separately", async () => {
    vendor.reset(answerVectors);
    expect((await embed([say(8_000)])).status).toBe(200);
    const refused = await readError(await embed(["short", say(9_000)]));
    expect(refused).toEqual({
      status: 400,
      message: expect.stringMatching(/maximum context length is 8191 tokens.* about 9000 tokens/),
    });
  });

  test("many short texts are not counted", async () => {
    vendor.reset(() => Response.json({ data: [], usage: {} }));
    await embed(Array(500).fill(say(100)));
    expect(counted).toEqual([]);
  });
});

test("a prompt above the context window is rejected without an API key too", async () => {
  const body = { model: "acme/small:free", messages: [{ role: "user", content: say(16_000) }] };
  const refused = await readError(await post("/chat/completions", body, null));
  expect(refused).toEqual({ status: 400, message: expect.stringContaining("8192 tokens") });
});

test("the prompt for a paid model is not counted without an API key", async () => {
  const body = { model: MODEL, messages: [{ role: "user", content: say(140_000) }] };
  expect((await post("/chat/completions", body, null)).status).toBe(401);
  expect(counted).toEqual([]);
});

describe("the error for a prompt that is too long", () => {
  const listed = async (id: string): Promise<number> => {
    const { data } = (await (await fetch(`${gateway.base}/models`)).json()) as {
      data: { id: string; context_length: number }[];
    };
    return data.find((model) => model.id === id)?.context_length as number;
  };
  const refused = async (model: string, prompt: string, more: object = {}) => {
    const response = await chat(model, prompt, more);
    const { error } = (await response.json()) as {
      error: { message: string; metadata: { limit: number; prompt_limit?: number; requested: number } };
    };
    return { status: response.status, ...error };
  };

  test.each(["openai/gpt-4", "openai/gpt-5.4", "acme/small", "acme/same", "acme/both"])(
    "the error names the context window that the model list has for %s",
    async (model) => {
      const { status, message, metadata } = await refused(model, say(1_300_000));
      const window = await listed(model);
      expect([status, metadata.limit]).toEqual([400, window]);
      expect(message).toStartWith(`This model's maximum context length is ${window} tokens`);
    },
  );

  test("the error names the limit of the prompt if that is lower than the context window", async () => {
    const { message, metadata } = await refused("openai/gpt-5.4", say(1_000_000));
    expect(message).toStartWith(
      "This model's maximum context length is 1050000 tokens, of which the prompt may have 922000. However, you requested about 1000000 tokens.",
    );
    expect(metadata).toMatchObject({ limit: 1_050_000, prompt_limit: 922_000 });
  });

  test.each([
    [9_000, "about"],
    [12_000, "at least"],
    [120_000, "at least"],
  ])("the error names the number of tokens to within 5 percent: %i words", async (words, wording) => {
    const { message, metadata } = await refused("openai/gpt-4", say(words));
    expect(message).toContain(`${wording} ${metadata.requested} tokens`);
    expect(metadata.requested).toBeWithin(words * 0.95, words * 1.05);
  });

  test.each([
    [
      "tools, which vendors encode differently",
      { tools: [{ type: "function", function: { name: "f", description: "d".repeat(4_000) } }] },
    ],
    [
      "many short texts, to each of which vendors add tokens",
      { messages: Array.from({ length: 9_000 }, () => ({ role: "user", content: " word" })) },
    ],
  ])("the error names a lower bound with %s", async (_name, more) => {
    const { message, metadata } = await refused("openai/gpt-4", say(9_000), more);
    expect(message).toContain(`at least ${metadata.requested} tokens`);
    expect(metadata).toMatchObject({ requested_is: "at_least" });
    expect(metadata.requested).toBeWithin(8_193, 9_001);
  });

  test("the error names a lower bound for another vendor's tokenizer and for an unknown one", async () => {
    const { message, metadata } = await refused("acme/small", say(12_000));
    expect(message).toContain(`at least ${metadata.requested} tokens`);
    expect(metadata.requested).toBeWithin(10_000, 12_001);
  });
});

describe("a context window that the operator configures", () => {
  test("a prompt that exceeds it by a tenth is rejected, as for OpenAI", async () => {
    expect((await chat("acme/small", say(8_000))).status).toBe(200);
    expect((await chat("acme/small", say(9_000))).status).toBe(400);
    expect(vendor.requests).toHaveLength(1);
  });

  test("a prompt in another script near the window is sent to the upstream, because tokenizers differ much", async () => {
    expect((await chat("acme/small", "すべての人間は自由である。".repeat(1_200))).status).toBe(200);
    expect(vendor.requests).toHaveLength(1);
  });

  test("without a configured window, a prompt near the listed one is sent to the upstream", async () => {
    expect(await (await chat("acme/unstated", say(36_000))).status).toBe(200);
  });
});
