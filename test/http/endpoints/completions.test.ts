import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readEvents, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { completeTexts } from "../../support/vendors/complete-texts.ts";
import {
  type RecordingVendor,
  startRecordingVendor,
  streamOf,
} from "../../support/vendors/recording-vendor.ts";

let native: RecordingVendor;
let chats: RecordingVendor;
let gateway: TestGateway;

const PRICES = (prompt: string) => `{prompt: "${prompt}", completion: "0.000002"}`;

/** Finish reasons that mean a failure. Each has a provider of its own, which is not asked for a while after failures. */
const FAILED_FINISHES = ["error", "network_error", "insufficient_system_resource", "engine_overloaded"];

const failing = (baseUrl: string) =>
  FAILED_FINISHES.map(
    (reason) => `
  failing-${reason.replaceAll("_", "-")}:
    base_url: ${baseUrl}
    formats: [openai-completions]
    models: [{id: acme/${reason}, name: up, prices: ${PRICES("0.000001")}}]`,
  ).join("");

beforeAll(async () => {
  native = startRecordingVendor();
  chats = startRecordingVendor();
  const claude = chats.baseUrl.replace("/v1", "");
  gateway = await startTestGateway({
    yaml: `
sandbox: "on"
providers:
  cellar:
    base_url: ${native.baseUrl}
    api_keys: [sk-cellar-0123456789]
    formats: [openai-chat, openai-completions]
    models:
      - {id: acme/both, name: up-both, context_length: 1000, prices: ${PRICES("0.000003")}}
      - {id: acme/model, name: up-model, prices: ${PRICES("0.000001")}}
      - {id: "acme/model:free", name: up-free}
  base:
    base_url: ${native.baseUrl}
    api_keys: [sk-base-0123456789]
    formats: [openai-completions]
    models:
      - {id: acme/base, name: up-base, prices: ${PRICES("0.000001")}}
      - {id: acme/mixed, name: up-mixed, prices: ${PRICES("0.000001")}}
      - {id: acme/guarded, name: up-guarded, prices: ${PRICES("0.000001")}}
  chats:
    base_url: ${chats.baseUrl}
    api_keys: [sk-chats-0123456789]
    models:
      - {id: acme/both, name: chat-both, prices: ${PRICES("0.000001")}}
      - {id: acme/chat, name: chat-only, prices: ${PRICES("0.000001")}}
      - {id: acme/mixed, name: chat-mixed, prices: ${PRICES("0.000009")}}
${FAILED_FINISHES.map((reason) => `      - {id: acme/${reason}, name: chat}`).join("\n")}
  claude:
    base_url: ${claude}
    api_keys: [sk-claude-0123456789]
    format: anthropic-messages
    models: [{id: acme/claude, name: up-claude, prices: ${PRICES("0.000001")}}]
${failing(native.baseUrl)}
guardrails:
  - {name: times, kind: regex, on: answer, action: mask, patterns: [" there was"], models: [acme/guarded]}
  - {name: ends, kind: regex, on: answer, action: block, patterns: ["the end"], models: [acme/guarded]}
named_routes:
  story: {kind: alias, target: acme/model}
`,
  });
});
beforeEach(() => {
  native.reset(completeTexts);
  chats.reset(completeTexts);
});
afterAll(() => Promise.all([gateway.stop(), native.stop(), chats.stop()]));

const ASK = { model: "acme/model", prompt: "Once upon a time" };

function post(body: unknown, { key = gateway.key, path = "/v1/completions" } = {}): Promise<Response> {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

interface Failed {
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
}

async function failureOf(response: Response) {
  const { error } = (await response.json()) as Failed;
  return {
    status: response.status,
    type: error.type,
    field: error.metadata?.["field"],
    message: error.message,
  };
}

/** Returns the data of all events but the last one, which must be `[DONE]`. */
async function readChunks(response: Response) {
  const events = await readEvents(response);
  expect(events.at(-1)).toBe("[DONE]");
  return events.slice(0, -1).map((event) => JSON.parse(event));
}

/** Returns the generation record of a response, as its caller sees it. */
async function recordOf(response: Response): Promise<Record<string, unknown>> {
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  return ((await found.json()) as { data: Record<string, unknown> }).data;
}

describe("POST completions at a provider with the endpoint", () => {
  test.each(["/v1/completions", "/api/v1/completions", "/api/gateway/completions"])(
    "is served at %s with the gateway's id, model, usage and cost",
    async (path) => {
      const response = await post(ASK, { path });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        id: response.headers.get("x-gateway-generation-id"),
        object: "text_completion",
        created: expect.any(Number),
        model: "acme/model",
        choices: [
          { index: 0, text: " there was.", logprobs: null, finish_reason: "stop", stop_reason: null },
        ],
        system_fingerprint: "fp_1",
        usage: expect.objectContaining({
          prompt_tokens: 3,
          completion_tokens: 2,
          total_tokens: 5,
          cost: 0.000007,
          is_byok: false,
        }),
      });
      expect(native.last().path).toBe("/v1/completions");
      expect(native.last().headers.get("authorization")).toBe("Bearer sk-cellar-0123456789");
    },
  );

  test("forwards the client's bytes with the provider's name of the model, without the gateway's fields", async () => {
    await post(
      '{"prompt":[[1,2,3],[4]] , "suffix":"\\u00e9 end","echo":true,"logprobs":0,"novelty":1.50,"best_of":2,"model":"ACME/Model","provider":{"only":["cellar"]},"session_id":"s","max_tokens":0}',
    );
    expect(native.last().text).toBe(
      '{"prompt":[[1,2,3],[4]] , "suffix":"\\u00e9 end","echo":true,"logprobs":0,"novelty":1.50,"best_of":2,"model":"up-model","max_tokens":0}',
    );
  });

  test("sends the provider a hash in place of the user", async () => {
    await post({ ...ASK, user: "ann@example.com" });
    expect(native.last().text).not.toContain("ann@example.com");
    expect(JSON.parse(native.last().text)).toHaveProperty("user");
  });

  test.each<[string, unknown, number]>([
    ["a list of texts", ["one", "two", "three"], 3],
    ["token ids", [1, 2, 3], 1],
    ["lists of token ids", [[1, 2], [3]], 2],
  ])("returns one choice for each prompt of %s", async (_name, prompt, count) => {
    const answer = (await (await post({ ...ASK, prompt })).json()) as { choices: { index: number }[] };
    expect(answer.choices.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, at) => at));
  });

  test("streams text as it comes, one finish for each choice, and the usage in the last chunk", async () => {
    const chunks = await readChunks(await post({ ...ASK, n: 2, stream: true }));
    const texts = [0, 1].map((index) =>
      chunks
        .flatMap(({ choices }) => choices)
        .filter((choice) => choice.index === index)
        .map(({ text }) => text)
        .join(""),
    );
    expect(texts).toEqual([" there was.", " there was."]);
    expect(chunks.every(({ object, model }) => object === "text_completion" && model === ASK.model)).toBe(
      true,
    );
    const finishes = chunks
      .flatMap(({ choices }) => choices)
      .filter((choice) => choice.finish_reason !== null);
    expect(finishes.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, "length"],
      [1, "length"],
    ]);
    expect(chunks.map(({ usage }) => usage !== undefined).indexOf(true)).toBe(chunks.length - 1);
    expect(chunks.at(-1)).toMatchObject({ usage: { total_tokens: 5, cost: 0.000007 } });
    expect(JSON.parse(native.last().text)).toEqual({
      model: "up-model",
      prompt: ASK.prompt,
      n: 2,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("sends the usage in a chunk of its own if the client asks for it", async () => {
    const chunks = await readChunks(
      await post({ ...ASK, stream: true, stream_options: { include_usage: true } }),
    );
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 5 } });
    expect(chunks.at(-2)).toMatchObject({ choices: [{ text: "", finish_reason: "length" }] });
    expect(chunks.at(-2)).not.toHaveProperty("usage");
  });

  test("keeps the log probabilities of tokens, also of those without text", async () => {
    const logprobs = { tokens: ["\u00c3"], token_logprobs: [-1.5] };
    native.reset(() =>
      streamOf([
        { choices: [{ index: 0, text: "", logprobs, finish_reason: null }] },
        { choices: [{ index: 0, text: "é", logprobs, finish_reason: "stop" }] },
      ]),
    );
    const chunks = await readChunks(await post({ ...ASK, logprobs: 1, stream: true }));
    expect(chunks.map(({ choices: [choice] }) => [choice.text, choice.logprobs])).toEqual([
      ["", logprobs],
      ["é", logprobs],
      ["", null],
    ]);
  });

  test("accepts an empty completion, streamed or not", async () => {
    const choice = { index: 0, text: "", logprobs: null, finish_reason: "stop" };
    native.reset(({ text }) =>
      text.includes('"stream":true')
        ? streamOf([{ choices: [choice] }])
        : Response.json({ choices: [choice] }),
    );
    expect(await (await post(ASK)).json()).toMatchObject({ choices: [{ text: "", finish_reason: "stop" }] });
    expect(await readChunks(await post({ ...ASK, stream: true }))).toMatchObject([
      { choices: [{ text: "", finish_reason: "stop" }], usage: { estimated: true } },
    ]);
    expect(native.requests).toHaveLength(2);
  });

  test("estimates the usage if the provider sends none", async () => {
    native.reset(() =>
      Response.json({
        choices: [{ index: 0, text: "It was a dark and stormy night.", finish_reason: "stop" }],
      }),
    );
    const response = await post(ASK);
    const { usage } = (await response.json()) as { usage: Record<string, unknown> };
    expect(usage).toMatchObject({ estimated: true });
    expect(usage["completion_tokens"]).toBeGreaterThan(3);
    expect(usage["cost"]).toBeGreaterThan(0);
  });

  test("gives a document to a client that asked for a stream as a stream", async () => {
    native.reset(() =>
      Response.json({
        choices: [{ index: 0, text: " whole.", finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      }),
    );
    const chunks = await readChunks(await post({ ...ASK, stream: true }));
    expect(chunks).toMatchObject([
      { choices: [{ text: " whole.", finish_reason: null }] },
      { choices: [{ text: "", finish_reason: "stop" }], usage: { total_tokens: 5 } },
    ]);
  });

  test("ends a stream that breaks off with an error event and without [DONE]", async () => {
    native.reset(
      () =>
        new Response('data: {"choices":[{"index":0,"text":" there","finish_reason":null}]}\n\n', {
          headers: { "content-type": "text/event-stream" },
        }),
    );
    const events = await readEvents(await post({ ...ASK, stream: true }));
    expect(JSON.parse(events.at(-1) as string)).toMatchObject({
      error: { type: "upstream_error", code: 502 },
    });
    expect(events).not.toContain("[DONE]");
  });

  test.each(FAILED_FINISHES)(
    "takes the finish reason %s for a failure: a stream ends with an error event, and the next provider is asked before its first text",
    async (reason) => {
      const chunk = (text: string, finish: string | null) => ({
        ...{ id: "cmpl-vendor", object: "text_completion", created: 1, model: "up" },
        choices: [{ index: 0, text, finish_reason: finish }],
      });
      const begun = Promise.withResolvers<void>();
      native.reset(() => {
        const eventOf = (one: object) => `data: ${JSON.stringify(one)}\n\n`;
        const body = async function* () {
          yield eventOf(chunk(" there", null));
          await begun.promise;
          yield eventOf(chunk("", reason));
        };
        return new Response(body(), { headers: { "content-type": "text/event-stream" } });
      });
      const asked = { ...ASK, model: `acme/${reason}`, stream: true };
      const response = await post(asked);
      begun.resolve();
      const last = JSON.parse((await readEvents(response)).at(-1) as string);
      expect(last.error).toMatchObject({ type: expect.any(String), message: expect.any(String) });
      expect(await recordOf(response)).toMatchObject({ outcome: "failed" });
      native.reset(() => streamOf([chunk("", reason)]));
      const other = await post(asked);
      expect(other.headers.get("x-gateway-provider")).toBe("chats");
      expect((await readEvents(other)).at(-1)).toBe("[DONE]");
    },
  );

  test.each([
    ["an error in the body", () => Response.json({ error: { message: "no", code: 500 } })],
    ["no choices", () => Response.json({ choices: [] })],
    ["a body that is not JSON", () => new Response("<html>")],
  ])("fails with 502 for %s", async (_name, answer) => {
    native.reset(answer);
    expect((await post(ASK)).status).toBe(502);
  });

  test.each([true, false])(
    "gives the same answer again for an Idempotency-Key (stream: %p)",
    async (stream) => {
      const headers = {
        "content-type": "application/json",
        authorization: `Bearer ${gateway.key}`,
        "idempotency-key": `once-${stream}`,
      };
      const send = async () => {
        const body = JSON.stringify({ ...ASK, stream });
        const response = await fetch(`${gateway.url}/v1/completions`, { method: "POST", headers, body });
        return (await response.text()).replaceAll(/gen_\w+/g, "gen_…");
      };
      const first = await send();
      expect(first).toContain(" there");
      expect(await send()).toBe(first);
      expect(native.requests).toHaveLength(1);
    },
  );

  test("writes a generation record with api, usage, finish and format", async () => {
    const response = await post({ ...ASK, stream: true });
    await response.text();
    expect(await recordOf(response)).toMatchObject({
      api: "completions",
      outcome: "completed",
      tokens_prompt: 3,
      tokens_completion: 2,
      finish_reason: "length",
      streamed: true,
    });
  });
});

describe("POST completions at a provider that only has chats", () => {
  test("sends the prompt as a user message and says so", async () => {
    const response = await post({ ...ASK, model: "acme/chat", max_tokens: 9, stop: "END", seed: 1 });
    expect(await response.json()).toMatchObject({
      id: response.headers.get("x-gateway-generation-id"),
      object: "text_completion",
      model: "acme/chat",
      choices: [{ index: 0, text: "Hello there.", logprobs: null, finish_reason: "stop" }],
      usage: { total_tokens: 5, cost: 0.000007 },
      gateway_metadata: { warnings: [{ field: "prompt", message: expect.stringMatching(/user message/) }] },
    });
    expect(JSON.parse(chats.last().text)).toEqual({
      model: "chat-only",
      messages: [{ role: "user", content: ASK.prompt }],
      max_tokens: 9,
      stop: ["END"],
      seed: 1,
    });
  });

  test("streams the answer as text, with the usage in the last chunk", async () => {
    const chunks = await readChunks(await post({ ...ASK, model: "acme/chat", stream: true }));
    expect(chunks.map(({ choices: [choice] }) => [choice.text, choice.finish_reason])).toEqual([
      ["Hello", null],
      [" there.", null],
      ["", "stop"],
    ]);
    expect(chunks.every(({ object }) => object === "text_completion")).toBe(true);
    expect(chunks.at(-1)).toMatchObject({ usage: { total_tokens: 5, cost: 0.000007 } });
  });

  test("is translated to other formats, with the reasoning in a field of its own", async () => {
    chats.reset(() =>
      Response.json({
        type: "message",
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "s" },
          { type: "text", text: "there was." },
        ],
        stop_reason: "max_tokens",
        usage: { input_tokens: 4, output_tokens: 6 },
      }),
    );
    const response = await post({ ...ASK, model: "acme/claude", max_tokens: 20 });
    expect(await response.json()).toMatchObject({
      choices: [{ text: "there was.", reasoning: "Hm.", finish_reason: "length" }],
      usage: { prompt_tokens: 4, completion_tokens: 6 },
    });
    expect(JSON.parse(chats.last().text)).toMatchObject({
      max_tokens: 20,
      messages: [{ role: "user" }],
    });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["suffix", { suffix: "The end." }, "suffix"],
    ["echo", { echo: true }, "echo"],
    ["logprobs", { logprobs: 0 }, "logprobs"],
    ["a best_of above n", { best_of: 2 }, "best_of"],
    ["several prompts", { prompt: ["one", "two"] }, "prompt"],
    ["token ids", { prompt: [1, 2] }, "prompt"],
    ["an empty prompt", { prompt: "" }, "prompt"],
  ])("rejects %s with 400 and the field's name", async (_name, more, field) => {
    const failure = await failureOf(await post({ ...ASK, model: "acme/chat", ...more }));
    expect(failure).toMatchObject({ status: 400, type: "invalid_request", field });
    expect(failure.message).toContain("text completions endpoint");
    expect(chats.requests).toHaveLength(0);
  });

  test.each<[string, Record<string, unknown>]>([
    ["a list of one text", { prompt: [ASK.prompt] }],
    ["values that ask for nothing", { suffix: "", echo: false, logprobs: null, best_of: 1, n: null }],
  ])("accepts %s", async (_name, more) => {
    expect((await post({ ...ASK, model: "acme/chat", ...more })).status).toBe(200);
    expect(JSON.parse(chats.last().text)).toEqual({
      model: "chat-only",
      messages: [{ role: "user", content: ASK.prompt }],
    });
  });

  test("names fields in a warning that the provider does not get", async () => {
    const response = await post({ ...ASK, model: "acme/chat", min_tokens: 5 });
    const { gateway_metadata } = (await response.json()) as {
      gateway_metadata: { warnings: { field: string }[] };
    };
    expect(gateway_metadata.warnings.map(({ field }) => field)).toEqual(["prompt", "min_tokens"]);
  });

  test("works in the sandbox", async () => {
    const response = await post({ model: "sandbox/echo", prompt: "Once" });
    expect(await response.json()).toMatchObject({ choices: [{ text: "You said: Once" }] });
  });
});

describe("routing of text completions", () => {
  test("prefers a provider with the endpoint to a cheaper one that only has chats", async () => {
    const response = await post({ ...ASK, model: "acme/both" });
    expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "cellar"]);
    expect(chats.requests).toHaveLength(0);
  });

  test("fails over to a chat if the provider with the endpoint fails", async () => {
    native.reset(() => new Response("{}", { status: 500 }));
    const response = await post({ ...ASK, model: "acme/both" });
    expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "chats"]);
    expect(await response.json()).toMatchObject({ choices: [{ text: "Hello there." }] });
  });

  test("reports the failure of the provider with the endpoint if the others cannot express the request", async () => {
    native.reset(() => Response.json({ error: { message: "broken" } }, { status: 500 }));
    const response = await post({ ...ASK, model: "acme/both", suffix: "The end." });
    expect(await failureOf(response)).toMatchObject({ status: 502, type: "upstream_error" });
    expect(chats.requests).toHaveLength(0);
  });

  test.each([
    ["does not have the endpoint", 404, "Not Found"],
    [
      "has the model at another endpoint",
      404,
      "This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?",
    ],
  ])("asks for a chat if the provider %s", async (_name, status, message) => {
    native.reset((request) =>
      request.path === "/v1/completions"
        ? Response.json({ error: { message, code: null } }, { status })
        : completeTexts(request),
    );
    const response = await post(ASK);
    expect(await response.json()).toMatchObject({ choices: [{ text: "Hello there." }] });
    expect(native.requests.map(({ path }) => path)).toEqual(["/v1/completions", "/v1/chat/completions"]);
  });

  test("serves a model of a provider that only completes texts, and names the endpoint in the error of a chat", async () => {
    expect(await (await post({ ...ASK, model: "acme/base" })).json()).toMatchObject({
      choices: [{ text: " there was." }],
    });
    const chat = { model: "acme/base", messages: [{ role: "user", content: "Hi" }] };
    const failure = await failureOf(await post(chat, { path: "/v1/chat/completions" }));
    expect(failure).toMatchObject({ status: 400, type: "invalid_model" });
    expect(failure.message).toContain("POST /api/gateway/completions");
  });

  test("sends chats with a model only to those of its providers that have chats", async () => {
    const chat = { model: "acme/mixed", messages: [{ role: "user", content: "Hi" }] };
    const answered = await post(chat, { path: "/v1/chat/completions" });
    expect([answered.status, answered.headers.get("x-gateway-provider")]).toEqual([200, "chats"]);
    const completed = await post({ ...ASK, model: "acme/mixed" });
    expect([completed.status, completed.headers.get("x-gateway-provider")]).toEqual([200, "base"]);
  });

  test("leaves chats of a provider with both endpoints as they were", async () => {
    const chat = { model: "acme/model", messages: [{ role: "user", content: "Hi" }] };
    expect((await post(chat, { path: "/v1/chat/completions" })).status).toBe(200);
    expect(native.last().path).toBe("/v1/chat/completions");
  });

  test("follows named routes", async () => {
    const response = await post({ ...ASK, model: "story" });
    expect([response.status, response.headers.get("x-gateway-model")]).toEqual([200, "acme/model"]);
  });

  test("resolves tiers, whose models get the prompt as a chat", async () => {
    const response = await post({ model: "gateway-auto/balanced", prompt: "Once" });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ object: "text_completion" });
  });

  test("falls back to other models of the request", async () => {
    native.reset(() => new Response("{}", { status: 500 }));
    const response = await post({ ...ASK, models: ["acme/chat"] });
    expect(response.headers.get("x-gateway-model")).toBe("acme/chat");
  });

  test("explains its routing without calling a provider", async () => {
    const response = await post(
      { ...ASK, model: "acme/both" },
      { path: "/v1/route/explain?api=completions" },
    );
    expect(await response.json()).toMatchObject({
      data: {
        candidates: [
          { provider: "cellar", upstream_format: "openai-completions" },
          { provider: "chats", upstream_format: "openai-chat" },
        ],
      },
    });
    expect([...native.requests, ...chats.requests]).toEqual([]);
  });
});

describe("guardrails on answers", () => {
  const GUARDED = { ...ASK, model: "acme/guarded", logprobs: 1 };

  test("mask the text of every choice, and leave out log probabilities, which repeat it", async () => {
    const response = await post({ ...GUARDED, n: 2 });
    const text = await response.text();
    expect(text).not.toContain("there");
    expect(JSON.parse(text)).toMatchObject({
      object: "text_completion",
      choices: [
        { index: 0, text: "[TIMES_1].", logprobs: null, finish_reason: "stop" },
        { index: 1, text: "[TIMES_1].", logprobs: null, finish_reason: "stop" },
      ],
      usage: { total_tokens: 5, cost: 0.000007 },
      gateway_metadata: { warnings: [{ field: "guardrail:times" }] },
    });
  });

  test.each([
    ["a stream", completeTexts],
    [
      "a document in place of a stream",
      () => Response.json({ choices: [{ text: " there was.", finish_reason: "length" }] }),
    ],
  ])("mask text that is split over the events of %s", async (_name, answer) => {
    native.reset(answer);
    const response = await post({ ...GUARDED, stream: true });
    const chunks = await readChunks(response);
    expect(
      chunks.flatMap(({ choices }) => choices.map((choice: { text: string }) => choice.text)).join(""),
    ).toBe("[TIMES_1].");
    expect(JSON.stringify(chunks)).not.toContain("there");
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "length" }] });
  });

  test.each([true, false])("block an answer with an error and charge it (stream: %p)", async (stream) => {
    const choice = { index: 0, text: "It is the end.", finish_reason: "stop" };
    const usage = { prompt_tokens: 3, completion_tokens: 2 };
    native.reset(() =>
      stream
        ? streamOf([{ choices: [choice] }, { choices: [], usage }])
        : Response.json({ choices: [choice], usage }),
    );
    const response = await post({ ...GUARDED, stream });
    const text = await response.text();
    expect(text).toContain("content_blocked");
    expect(text).not.toContain("the end");
    expect(await recordOf(response)).toMatchObject({ outcome: "failed", error_type: "content_blocked" });
  });

  test.each([
    ["fails", () => Response.json({ error: { message: "no" } }, { status: 500 })],
    ["sends what is not JSON", () => new Response("<html>")],
    ["sends no choices", () => Response.json({ choices: [] })],
  ])("change nothing about a provider that %s", async (_name, answer) => {
    native.reset(answer);
    expect((await post(GUARDED)).status).toBe(502);
  });
});

describe("checks of text completions", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["no prompt", { prompt: undefined }, "prompt"],
    ["messages in place of a prompt", { prompt: undefined, messages: [] }, "prompt"],
    ["an object as prompt", { prompt: {} }, "prompt"],
    ["a prompt of mixed kinds", { prompt: ["a", [1]] }, "prompt[1]"],
    ["no prompts", { prompt: [] }, "prompt"],
    ["no model", { model: undefined }, "model"],
    ["a temperature out of range", { temperature: 3 }, "temperature"],
    ["a top_p above one", { top_p: 1.1 }, "top_p"],
    ["a negative top_p", { top_p: -0.1 }, "top_p"],
    ["a frequency_penalty out of range", { frequency_penalty: 2.1 }, "frequency_penalty"],
    ["a presence_penalty out of range", { presence_penalty: -2.1 }, "presence_penalty"],
    ["a negative max_tokens", { max_tokens: -1 }, "max_tokens"],
    ["too many answers", { n: 129 }, "n"],
    ["too many answers to all prompts", { n: 100, prompt: Array(11).fill("a") }, "n"],
    ["a suffix of the wrong type", { suffix: 7 }, "suffix"],
    ["an echo of the wrong type", { echo: "yes" }, "echo"],
    ["a number as stop", { stop: 1 }, "stop"],
    ["an object as stop", { stop: {} }, "stop"],
    ["a stop of the wrong type", { stop: [1] }, "stop"],
    ["a stop of mixed types", { stop: ["a", 1] }, "stop"],
    ["a stream of the wrong type", { stream: "yes" }, "stream"],
  ])("reject %s with 400 and the field's name", async (_name, more, field) => {
    expect(await failureOf(await post({ ...ASK, ...more }))).toMatchObject({ status: 400, field });
    expect(native.requests).toHaveLength(0);
  });

  test.each([
    ["lowest", { temperature: 0, top_p: 0, frequency_penalty: -2, presence_penalty: -2, max_tokens: 0 }],
    ["highest", { temperature: 2, top_p: 1, frequency_penalty: 2, presence_penalty: 2, max_tokens: 16 }],
  ])("accept the %s value of each parameter", async (_name, more) => {
    expect((await post({ ...ASK, ...more })).status).toBe(200);
    expect(JSON.parse(native.last().text)).toMatchObject(more);
  });

  test("reject a prompt that is longer than the window, and measure each prompt by itself", async () => {
    const words = (count: number) => "word ".repeat(count);
    const provider = { only: ["cellar"] };
    const long = await failureOf(await post({ model: "acme/both", prompt: words(3_000), provider }));
    expect(long).toMatchObject({ status: 400, type: "context_length_exceeded" });
    const many = await post({ model: "acme/both", prompt: Array(5).fill(words(500)), provider });
    expect(many.status).toBe(200);
  });

  test("serve free models without a key, and others only with one", async () => {
    expect((await post({ ...ASK, model: "acme/model:free" }, { key: "" })).status).toBe(200);
    expect((await post(ASK, { key: "" })).status).toBe(401);
  });
});
