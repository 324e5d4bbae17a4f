import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readEvents, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import {
  answerHello,
  type RecordedRequest,
  type RecordingVendor,
  startRecordingVendor,
} from "../support/vendors/recording-vendor.ts";

let codestral: RecordingVendor;
let mistral: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  codestral = startRecordingVendor();
  mistral = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  codestral: {base_url: "${codestral.baseUrl}", api_keys: [codestral-key-1], trains_on_data: true}
  mistral: {base_url: "${mistral.baseUrl}", api_keys: [mistral-key-1], zero_retention: true, trains_on_data: false}
  cellar: {base_url: "${mistral.baseUrl}", models: [{id: mistralai/cellar}, {id: acme/model}]}`,
  });
});
afterAll(() => Promise.all([gateway.stop(), codestral.stop(), mistral.stop()]));
beforeEach(() => {
  codestral.reset();
  mistral.reset();
});

const BODY = { model: "mistralai/codestral-latest", prompt: "def add(a, b):\n    return " };

function ask(more: Readonly<Record<string, unknown>> = {}, path = "/api/fim/completions", key = gateway.key) {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ ...BODY, ...more }),
  });
}

interface Failed {
  readonly error: { readonly type: string; readonly message: string };
}

describe("fill in the middle", () => {
  test.each([
    "/api/fim/completions",
    "/v1/fim/completions",
    "/api/gateway/v1/fim/completions",
    "/api/gateway/fim/completions",
  ])("is served at %s with responses in the chat completions format", async (path) => {
    const response = await ask({}, path);
    expect(response.status).toBe(200);
    const answer = (await response.json()) as Record<string, unknown>;
    expect(answer).toMatchObject({
      id: response.headers.get("x-gateway-generation-id"),
      object: "chat.completion",
      model: BODY.model,
      choices: [{ index: 0, message: { role: "assistant", content: "Hello there." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
    expect(response.headers.get("x-gateway-warning")).toBeNull();
  });

  test("prefers the code-completion provider to the general one", async () => {
    await ask();
    expect(codestral.last().path).toBe("/v1/fim/completions");
    expect(codestral.last().headers.get("authorization")).toBe("Bearer codestral-key-1");
    expect(mistral.requests).toHaveLength(0);
  });

  test("fails over to the general provider", async () => {
    codestral.reset(() => new Response("{}", { status: 500 }));
    const response = await ask();
    expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "mistral"]);
    expect(mistral.last().path).toBe("/v1/fim/completions");
  });

  test("is streamed in chunks, with the usage in the last one, and ends with [DONE]", async () => {
    const events = await readEvents(await ask({ stream: true }));
    expect(events.at(-1)).toBe("[DONE]");
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
    expect(chunks.map(({ choices }) => choices[0].delta.content ?? "").join("")).toBe("Hello there.");
    expect(
      chunks.every(({ object, model }) => object === "chat.completion.chunk" && model === BODY.model),
    ).toBe(true);
    expect(chunks.map(({ usage }) => usage !== undefined).indexOf(true)).toBe(chunks.length - 1);
    expect(chunks.at(-1)).toMatchObject({ usage: { total_tokens: 5 }, choices: [{ finish_reason: "stop" }] });
    expect(JSON.parse(codestral.last().text)).toMatchObject({ stream: true });
  });

  test("forwards every field to the vendor", async () => {
    const fields = {
      suffix: "\n\nprint(add(1, 2))",
      stop: ["\n\n", "###"],
      temperature: 0.2,
      top_p: 0.9,
      max_tokens: 64,
      min_tokens: 3,
      random_seed: 7,
    };
    await ask({ ...fields, provider: { order: ["codestral"] }, session_id: "s" });
    expect(JSON.parse(codestral.last().text)).toEqual({
      model: "codestral-latest",
      prompt: BODY.prompt,
      ...fields,
    });
  });

  test.each([true, false])(
    "sets a missing max_tokens to the maximum of 1000 (stream: %p)",
    async (stream) => {
      for (const missing of [undefined, null]) {
        const response = await ask({ stream, max_tokens: missing });
        await response.text();
        expect(JSON.parse(codestral.last().text).max_tokens).toBe(1_000);
        // No warning, because no value of the client was changed.
        expect(response.headers.get("x-gateway-warning")).toBeNull();
      }
    },
  );

  test.each<[string, Record<string, unknown>, string]>([
    ["only", { only: ["mistral"] }, "mistral"],
    ["ignore", { ignore: ["codestral"] }, "mistral"],
    ["order", { order: ["mistral"] }, "mistral"],
    ["order without fallbacks", { order: ["mistral"], allow_fallbacks: false }, "mistral"],
    ["zdr", { zdr: true }, "mistral"],
    ["data_collection", { data_collection: "deny" }, "mistral"],
    ["max_price that no provider exceeds", { max_price: { completion: 1_000 } }, "codestral"],
    ["require_parameters that every provider meets", { require_parameters: true }, "codestral"],
  ])("applies provider.%s and does not forward it", async (_name, provider, expected) => {
    const response = await ask({ provider, max_tokens: 9 });
    await response.text();
    expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, expected]);
    const asked = expected === "mistral" ? mistral : codestral;
    expect(JSON.parse(asked.last().text)).toEqual({
      model: "codestral-latest",
      prompt: BODY.prompt,
      max_tokens: 9,
    });
  });

  test("does not fail over if the request allows only the provider that failed", async () => {
    codestral.reset(() => new Response("{}", { status: 500 }));
    const response = await ask({ provider: { order: ["codestral"], allow_fallbacks: false } });
    expect([response.status, mistral.requests.length]).toEqual([502, 0]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["provider.only allows no provider", { provider: { only: ["cellar"] } }, "provider"],
    [
      "provider.max_price allows no provider",
      { provider: { max_price: { completion: 0 } } },
      "provider.max_price",
    ],
    ["provider.zdr is not a boolean", { provider: { zdr: "yes" } }, "provider.zdr"],
    ["provider is not an object", { provider: "mistral" }, "provider"],
    ["models is not a list", { models: "mistralai/codestral-2508" }, "models"],
    [
      "models contains a model of another author",
      { models: ["mistralai/codestral-2508", "acme/model"] },
      "models[1]",
    ],
  ])("rejects a request with 400 and the field's name if %s", async (_name, more, field) => {
    const response = await ask(more);
    const { error } = (await response.json()) as { error: { metadata: { field: string } } };
    expect([response.status, error.metadata.field]).toEqual([400, field]);
    expect([codestral.requests, mistral.requests]).toEqual([[], []]);
  });

  test("falls back to other models of the request, and does not forward the list", async () => {
    const failLatest = (request: RecordedRequest) =>
      JSON.parse(request.text).model === "codestral-2508"
        ? answerHello(request)
        : new Response("{}", { status: 500 });
    codestral.reset(failLatest);
    mistral.reset(failLatest);
    const response = await ask({ models: ["mistralai/codestral-2508"] });
    expect([response.status, response.headers.get("x-gateway-model")]).toEqual([
      200,
      "mistralai/codestral-2508",
    ]);
    for (const { text } of [...codestral.requests, ...mistral.requests])
      expect(JSON.parse(text)).not.toHaveProperty("models");
  });

  test.each([true, false])("lowers a max_tokens above 1000 with a warning (stream: %p)", async (stream) => {
    const response = await ask({ max_tokens: 5_000, stream });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-gateway-warning")).toBe("max_tokens was lowered from 5000 to 1000");
    expect(JSON.parse(codestral.last().text).max_tokens).toBe(1_000);
    await response.text();
    await ask({ max_tokens: 1_000 });
    expect(JSON.parse(codestral.last().text).max_tokens).toBe(1_000);
  });

  test.each([
    ["a model of another author", { model: "acme/model" }, "invalid_model", /begin with "mistralai\/"/],
    ["a model without an author", { model: "codestral-latest" }, "invalid_model", /begin with "mistralai\/"/],
    ["an unknown model", { model: "mistralai/codestrel" }, "invalid_model", /no model/],
    [
      "a model whose providers do not support FIM",
      { model: "mistralai/cellar" },
      "invalid_model",
      /Choose another model/,
    ],
    ["no prompt", { prompt: undefined }, "invalid_request", /prompt/],
    ["a prompt of the wrong type", { prompt: 7 }, "invalid_request", /prompt/],
    ["a suffix of the wrong type", { suffix: 7 }, "invalid_request", /suffix/],
    ["a temperature out of range", { temperature: 3 }, "invalid_request", /temperature/],
    ["a max_tokens of zero", { max_tokens: 0 }, "invalid_request", /max_tokens/],
  ])("rejects a request with %s with 400", async (_name, more, type, message) => {
    const response = await ask(more);
    const { error } = (await response.json()) as Failed;
    expect([response.status, error.type]).toEqual([400, type]);
    expect(error.message).toMatch(message);
    expect(codestral.requests).toHaveLength(0);
  });

  test.each([
    ["without a key", ""],
    ["with the key anonymous", "anonymous"],
    ["with an invalid key", "gw_wrong"],
  ])("rejects a request %s with 401", async (_name, key) => {
    const response = await ask({}, undefined, key);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(((await response.json()) as Failed).error.type).toBe("authentication");
  });

  test("ends a stream that breaks off with an error event and without [DONE]", async () => {
    codestral.reset((request) => {
      const whole = answerHello(request);
      const body = new ReadableStream({
        async start(controller) {
          const text = await whole.text();
          controller.enqueue(new TextEncoder().encode(text.slice(0, text.indexOf(" there"))));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    const events = await readEvents(await ask({ stream: true }));
    expect(JSON.parse(events.at(-1) as string)).toEqual({
      error: {
        type: "upstream_error",
        code: 502,
        message: expect.any(String),
        metadata: {
          code: "upstream_error",
          provider: "codestral",
          upstream_status: 200,
          raw: expect.any(String),
        },
      },
    });
  });

  test("writes a generation record with token usage and cost", async () => {
    const response = await ask();
    await response.text();
    const id = response.headers.get("x-gateway-generation-id");
    const record = await fetch(`${gateway.base}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    expect(await record.json()).toMatchObject({
      data: {
        api: "fim",
        outcome: "completed",
        tokens_prompt: 3,
        tokens_completion: 2,
        finish_reason: "stop",
      },
    });
  });
});

describe("fill in the middle in the sandbox", () => {
  let sandboxGateway: TestGateway;
  beforeAll(async () => {
    sandboxGateway = await startTestGateway();
  });
  afterAll(() => sandboxGateway.stop());

  const fill = (more: Readonly<Record<string, unknown>> = {}) =>
    fetch(`${sandboxGateway.url}/api/fim/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${sandboxGateway.key}` },
      body: JSON.stringify({ model: "mistralai/sandbox-fim", prompt: "def f(", suffix: "return 1", ...more }),
    });

  test("returns the prompt and the suffix with a cursor between them", async () => {
    const response = await fill();
    expect(await response.json()).toMatchObject({
      object: "chat.completion",
      model: "mistralai/sandbox-fim",
      choices: [{ message: { content: "You said: def f([…]return 1" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 4, completion_tokens: 8, total_tokens: 12 },
    });
    expect(await (await fill({ suffix: null })).json()).toMatchObject({
      choices: [{ message: { content: "You said: def f(" } }],
    });
  });

  test("streams the same answer, with the usage in the last chunk", async () => {
    const events = await readEvents(await fill({ stream: true }));
    expect(events.at(-1)).toBe("[DONE]");
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    expect(text).toBe("You said: def f([…]return 1");
    expect(chunks.at(-1)).toMatchObject({ usage: { prompt_tokens: 4, completion_tokens: 8 } });
  });

  test("applies stop, max_tokens and the markers in the prompt", async () => {
    expect(await (await fill({ stop: ["f("] })).json()).toMatchObject({
      choices: [{ message: { content: "You said: def " }, finish_reason: "stop" }],
    });
    expect(await (await fill({ max_tokens: 2 })).json()).toMatchObject({
      choices: [{ message: { content: "You said" }, finish_reason: "length" }],
    });
    expect(await (await fill({ prompt: "[sandbox:long=3]" })).json()).toMatchObject({
      choices: [{ message: { content: "word-1 word-2 word-3" } }],
    });
    expect((await fill({ prompt: "[sandbox:error=429]" })).status).toBe(429);
  });

  test("is served by a listed model that also answers chats", async () => {
    const list = (await (await fetch(`${sandboxGateway.base}/models`)).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toContain("mistralai/sandbox-fim");
    const response = await fetch(`${sandboxGateway.base}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${sandboxGateway.key}` },
      body: JSON.stringify({ model: "mistralai/sandbox-fim", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "You said: Hi" } }] });
  });
});
