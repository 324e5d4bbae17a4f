import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type RecordingVendor,
  type Responder,
  startRecordingVendor,
} from "../../support/vendors/recording-vendor.ts";
import { readAnswers } from "../../support/vendors/recordings.ts";

let first: RecordingVendor;
let second: RecordingVendor;
let gateway: TestGateway;

const PRICES = '{prompt: "0.000001", completion: "0"}';

beforeAll(async () => {
  first = startRecordingVendor();
  second = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
sandbox: "on"
providers:
  alpha:
    base_url: ${first.baseUrl}
    api_keys: [sk-alpha-0123456789]
    models:
      - {id: acme/embed, name: up-alpha, output: embedding, context_length: 100, prices: ${PRICES}}
      - {id: "acme/embed:free", name: up-free, output: embedding}
      - {id: acme/chat, name: up-chat}
  beta:
    base_url: ${second.baseUrl}
    api_keys: [sk-beta-0123456789]
    models:
      - {id: acme/embed, name: up-beta, output: embedding, context_length: 100, prices: ${PRICES.replace("1", "2")}}
`,
    environment: {
      GEMINI_API_KEY: "gemini-0123456789",
      GEMINI_BASE_URL: first.baseUrl.replace("/v1", ""),
      COHERE_API_KEY: "cohere-0123456789",
      COHERE_BASE_URL: first.baseUrl.replace("/v1", ""),
      MISTRAL_API_KEY: "mistral-0123456789",
      MISTRAL_BASE_URL: first.baseUrl,
    },
  });
});
beforeEach(() => {
  first.reset(embed);
  second.reset(embed);
});
afterAll(() => Promise.all([gateway.stop(), first.stop(), second.stop()]));

/** Returns a vector of two numbers for each input. */
const embed: Responder = ({ text }) => {
  const { input } = JSON.parse(text) as { input: unknown };
  const inputs = Array.isArray(input) ? input : [input];
  const data = inputs.map((_, index) => ({ object: "embedding", index, embedding: [index, 0.5] }));
  return Response.json({ object: "list", data, model: "up", usage: { prompt_tokens: 6, total_tokens: 6 } });
};

function post(body: unknown, options: { key?: string | null; path?: string } = {}): Promise<Response> {
  const { key = gateway.key, path = "/api/gateway/embeddings" } = options;
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

interface Answer {
  readonly object: string;
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly model: string;
  readonly usage: unknown;
}

async function read(response: Response): Promise<Answer> {
  return (await response.json()) as Answer;
}

/** Returns the generation record of a response, as its caller sees it. */
async function generationOf(response: Response): Promise<Record<string, unknown>> {
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  return ((await found.json()) as { data: Record<string, unknown> }).data;
}

const ASK = { model: "acme/embed", input: ["one", "two"] };

describe("POST embeddings", () => {
  test.each([
    "/api/gateway/embeddings",
    "/api/gateway/v1/embeddings",
    "/api/v1/embeddings",
    "/v1/embeddings",
  ])("is served at %s", async (path) => {
    const response = await post(ASK, { path });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-gateway-provider")).toBe("alpha");
    expect(await read(response)).toEqual({
      object: "list",
      data: [
        { object: "embedding", index: 0, embedding: [0, 0.5] },
        { object: "embedding", index: 1, embedding: [1, 0.5] },
      ],
      model: "acme/embed",
      usage: {
        prompt_tokens: 6,
        total_tokens: 6,
        cost: 0.000006,
        cost_details: {
          upstream_inference_cost: 0.000006,
          upstream_inference_prompt_cost: 0.000006,
          upstream_inference_completions_cost: 0,
        },
        is_byok: false,
      },
    });
  });

  test("sends the vendor the client's bytes with the vendor's name of the model", async () => {
    await post('{"input":[1,2,3] , "novelty":1.50,"model":"ACME/Embed","provider":{"order":["alpha"]}}');
    expect(first.last().text).toBe('{"input":[1,2,3] , "novelty":1.50,"model":"up-alpha"}');
    expect(first.last().path).toBe("/v1/embeddings");
    expect(first.last().headers.get("accept")).toBe("application/json");
  });

  test("writes a generation record", async () => {
    const response = await post(ASK);
    await response.text();
    expect(await generationOf(response)).toMatchObject({
      api: "embeddings",
      requested_model: "acme/embed",
      provider_name: "alpha",
      streamed: false,
      outcome: "completed",
      finish_reason: null,
      tokens_prompt: 6,
      tokens_completion: 0,
      estimated: false,
      total_cost: 0.000006,
    });
  });

  test("estimates the tokens of texts and of token ids if the vendor reports none", async () => {
    for (const [input, tokens] of [
      [["12345678", "1234"], 3],
      [[[5, 6], [7]], 3],
    ] as const) {
      first.reset(() => Response.json({ data: [{ embedding: [1] }, { embedding: [2] }] }));
      const response = await post({ model: "acme/embed", input });
      const { usage } = await read(response);
      expect(usage).toMatchObject({ prompt_tokens: tokens, estimated: true, cost: tokens / 1e6 });
      expect(await generationOf(response)).toMatchObject({ tokens_prompt: tokens, estimated: true });
    }
  });
});

describe("an embedding model", () => {
  const error = (message: string) => ({
    error: { type: "invalid_model", message: expect.stringContaining(message) },
  });

  test("is not used for conversations, nor a chat model for embeddings, and the error names the right endpoint", async () => {
    const wrong = await post({ ...ASK, model: "acme/chat" });
    expect([wrong.status, await read(wrong)]).toMatchObject([
      400,
      error("POST /api/gateway/chat/completions"),
    ]);
    const chat = { model: "acme/embed", messages: [{ role: "user", content: "x" }] };
    const other = await post(chat, { path: "/v1/chat/completions" });
    expect([other.status, await read(other)]).toMatchObject([400, error("POST /api/gateway/embeddings")]);
    const among = await post({ ...ASK, models: ["acme/chat"] });
    expect([among.status, await read(among)]).toMatchObject([400, error("acme/chat")]);
    expect(first.requests).toEqual([]);
  });

  test("whose provider has no key is rejected with an error that names the environment variable", async () => {
    const refused = await post({ ...ASK, model: "openai/text-embedding-3-small" });
    expect(await read(refused)).toMatchObject(error("OPENAI_API_KEY"));
  });

  test("is listed with the other models and has the output modality `embedding`", async () => {
    interface Listed {
      readonly id: string;
      readonly architecture: { readonly output_modalities: readonly string[] };
    }
    const { data } = (await (await fetch(`${gateway.base}/models`)).json()) as { data: Listed[] };
    const listed = data.filter(({ architecture }) => architecture.output_modalities.includes("embedding"));
    expect(listed.map(({ id }) => id)).toContainValues([
      "acme/embed",
      "sandbox/embed",
      "google/gemini-embedding-001",
      "cohere/embed-v4.0",
    ]);
    expect(listed.find(({ id }) => id === "acme/embed")).toMatchObject({
      context_length: 100,
      pricing: { prompt: "0.000002", completion: "0" },
      top_provider: { max_completion_tokens: null },
    });
  });

  test("applies its context window to each text, not to their sum", async () => {
    const fits = await post({ model: "acme/embed", input: Array(20).fill("x".repeat(700)) });
    expect(fits.status).toBe(200);
    const tooLong = await post({ model: "acme/embed", input: ["x", "x".repeat(900)] });
    expect(await read(tooLong)).toMatchObject({ error: { type: "context_length_exceeded" } });
  });
});

describe("an embeddings request without a key", () => {
  test("is answered by a free model at no cost, and counts towards the anonymous rate limit", async () => {
    const response = await post({ ...ASK, model: "acme/embed:free" }, { key: null });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ratelimit-limit-requests")).toBe("200");
    expect((await read(response)).usage).toMatchObject({ cost: 0 });
    expect((await post({ model: "sandbox/embed:free", input: "x" }, { key: null })).status).toBe(200);
  });

  test("is rejected for a paid model", async () => {
    const response = await post(ASK, { key: null });
    expect([response.status, await read(response)]).toMatchObject([
      401,
      { error: { type: "authentication" } },
    ]);
  });
});

describe("an invalid embeddings request", () => {
  test.each([
    ["without input", { model: "acme/embed" }, "input"],
    ["with too many inputs", { model: "acme/embed", input: Array(2049).fill("x") }, "input"],
    ["with an empty text", { model: "acme/embed", input: ["x", ""] }, "input[1]"],
    ["with zero dimensions", { ...ASK, dimensions: 0 }, "dimensions"],
  ])("%s is rejected with an error that names the field", async (_what, body, field) => {
    const response = await post(body);
    expect([response.status, await read(response)]).toMatchObject([
      400,
      { error: { type: "invalid_request", metadata: { field } }, error_type: "invalid_request" },
    ]);
    expect(first.requests).toEqual([]);
  });

  test("that the vendor rejects is the client's error and is not retried", async () => {
    first.reset(() => Response.json({ error: { message: "dimensions is not known" } }, { status: 400 }));
    const response = await post({ ...ASK, dimensions: 7 });
    expect([response.status, await read(response)]).toMatchObject([
      400,
      { error: { type: "invalid_request", message: "dimensions is not known" } },
    ]);
    expect(second.requests).toEqual([]);
  });
});

/** Failures of a vendor, and the error that the client gets if no other vendor answers. */
const FAULTS: readonly (readonly [string, Responder, number, string])[] = [
  [
    "returns 429",
    () =>
      Response.json({ error: { message: "Slow down" } }, { status: 429, headers: { "retry-after": "3" } }),
    429,
    "rate_limit_exceeded",
  ],
  ["returns 500", () => new Response("oops", { status: 500 }), 502, "upstream_error"],
  [
    "returns an HTML page",
    () => new Response("<html></html>", { headers: { "content-type": "text/html" } }),
    502,
    "upstream_error",
  ],
  ["returns an empty body", () => new Response(""), 502, "upstream_error"],
  ["returns no vectors", () => Response.json({ object: "list", data: [] }), 502, "upstream_error"],
  ["returns too few vectors", () => Response.json({ data: [{ embedding: [1] }] }), 502, "upstream_error"],
  ["returns an error with status 200", () => Response.json({ error: { code: 503 } }), 503, "unavailable"],
  [
    "is out of credit",
    () => Response.json({ error: { message: "Pay" } }, { status: 402 }),
    503,
    "unavailable",
  ],
];

describe("a vendor of embeddings", () => {
  for (const [what, respond, status, type] of FAULTS) {
    test(`that ${what} is followed by the next candidate, or by a ${status} if there is none`, async () => {
      // A key that is out of credit cools down for a minute, so each case has its own gateway.
      const own = await startOwn();
      first.reset(respond);
      const both = await askAt(own, {});
      expect([both.status, both.headers.get("x-gateway-provider")]).toEqual([200, "beta"]);
      expect(both.headers.get("x-gateway-attempts")).toBe("2");
      expect(second.last().text).toContain("up-beta");
      second.reset(respond);
      const neither = await askAt(own, { provider: { only: ["beta"] } });
      expect([neither.status, await read(neither)]).toMatchObject([status, { error: { type } }]);
      await own.stop();
    });
  }
});

function startOwn(): Promise<TestGateway> {
  const provider = (vendor: RecordingVendor, name: string, price: string) =>
    `{base_url: "${vendor.baseUrl}", api_keys: [sk-${name}], models: [{id: acme/embed, name: up-${name}, output: embedding, prices: {prompt: "${price}", completion: "0"}}]}`;
  return startTestGateway({
    yaml: `providers: {alpha: ${provider(first, "alpha", "0.000001")}, beta: ${provider(second, "beta", "0.000002")}}`,
  });
}

function askAt(target: TestGateway, more: Record<string, unknown>): Promise<Response> {
  return fetch(`${target.base}/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${target.key}` },
    body: JSON.stringify({ ...ASK, ...more }),
  });
}

describe("embeddings from vendors of other formats", () => {
  test("Gemini requests and responses are translated", async () => {
    first.reset(() => Response.json({ embeddings: [{ values: [0.5, -2] }, { values: [1, 0] }] }));
    const response = await post({
      model: "google/gemini-embedding-001",
      input: ["one", "two"],
      dimensions: 768,
      encoding_format: "base64",
    });
    expect(first.last().path).toBe("/v1beta/models/gemini-embedding-001:batchEmbedContents");
    expect(first.last().headers.get("x-goog-api-key")).toBe("gemini-0123456789");
    expect(JSON.parse(first.last().text)).toMatchObject({
      requests: [{ model: "models/gemini-embedding-001", outputDimensionality: 768 }, {}],
    });
    const { data, model, usage } = await read(response);
    expect(model).toBe("google/gemini-embedding-001");
    const bytes = Buffer.from(String(data[0]?.["embedding"]), "base64");
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([0.5, -2]);
    expect(usage).toMatchObject({ prompt_tokens: 2, estimated: true });
  });

  test("Cohere requests and responses are translated", async () => {
    const { text } = readAnswers("cohere").find(({ name }) => name.includes("embedding")) ?? { text: "" };
    first.reset(() => new Response(text, { headers: { "content-type": "application/json" } }));
    const response = await post({ model: "cohere/embed-v4.0", input: ["one", "two"], user: "u" });
    expect(first.last().path).toBe("/v2/embed");
    expect(JSON.parse(first.last().text)).toMatchObject({ model: "embed-v4.0", texts: ["one", "two"] });
    const answer = await read(response);
    expect(answer.data.map((item) => item["embedding"])).toEqual(JSON.parse(text).embeddings.float);
    expect(answer).toMatchObject({
      usage: { prompt_tokens: 10, cost: 0.0000012 },
      gateway_metadata: { warnings: [{ field: "user" }] },
    });
  });

  test("token ids are rejected for models that accept only text", async () => {
    for (const model of ["cohere/embed-v4.0", "google/gemini-embedding-001"]) {
      const response = await post({ model, input: [1, 2] });
      expect([response.status, await read(response)]).toMatchObject([
        400,
        { error: { message: "input must be text for this model; it takes no token ids." } },
      ]);
    }
    expect(first.requests).toEqual([]);
  });

  test("Mistral gets `output_dimension` instead of `dimensions`, and a warning names the parameter it lacks", async () => {
    const ask = { model: "mistralai/codestral-embed", input: "x", dimensions: 8, user: "u" };
    const answer: unknown = await (await post(ask)).json();
    expect(answer).toMatchObject({ gateway_metadata: { warnings: [{ field: "user" }] } });
    expect(JSON.parse(first.last().text)).toEqual({
      model: "codestral-embed",
      input: "x",
      output_dimension: 8,
    });
  });
});

test("an embeddings response of 25 MB is forwarded unchanged", async () => {
  const vector = JSON.stringify(Array.from({ length: 3072 }, (_, at) => Math.sin(at)));
  const data = Array.from(
    { length: 500 },
    (_, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
  );
  first.reset(
    () => new Response(`{"object":"list","data":[${data.join(",")}],"usage":{"prompt_tokens":500}}`),
  );
  const response = await post({ model: "acme/embed", input: Array(500).fill("x") });
  const text = await response.text();
  expect(text.length).toBeGreaterThan(25_000_000);
  expect(text.split(vector)).toHaveLength(501);
});
