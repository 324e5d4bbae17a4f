import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, {
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { turnEventLoop } from "../support/event-loop.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { answerHello, startRecordingVendor, yamlFor } from "../support/vendors/recording-vendor.ts";

type Body = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;
type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk;
type Call = OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall;

let gateway: TestGateway;
let openai: OpenAI;

beforeAll(async () => {
  gateway = await startTestGateway();
  openai = clientOf(gateway);
});
afterAll(() => gateway.stop());

function clientOf({ base, key }: TestGateway, options: ConstructorParameters<typeof OpenAI>[0] = {}): OpenAI {
  return new OpenAI({ baseURL: base, apiKey: key, maxRetries: 0, ...options });
}

function createBody(content: string, more: Partial<Body> = {}): Body {
  return { model: "sandbox/echo", messages: [{ role: "user", content }], ...more };
}

async function readChunks(body: Body, more: { include_usage: boolean } | null = null): Promise<Chunk[]> {
  const stream = await openai.chat.completions.create({
    ...body,
    stream: true,
    ...(more === null ? {} : { stream_options: more }),
  });
  return Array.fromAsync(stream);
}

function textOf(chunks: readonly Chunk[], index = 0): string {
  return chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index)
    .map((choice) => choice.delta.content ?? "")
    .join("");
}

async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("this should have failed");
}

describe("chat", () => {
  test("answers with all typed fields", async () => {
    const before = Math.floor(Date.now() / 1000);
    const { data, response, request_id } = await openai.chat.completions
      .create(createBody("Hello!"))
      .withResponse();
    expect(data.id).toStartWith("gen_");
    expect(data.object).toBe("chat.completion");
    expect(data.model).toBe("sandbox/echo");
    expect(data.created).toBeInteger();
    expect(data.created).toBeGreaterThanOrEqual(before);
    expect(data.choices).toHaveLength(1);
    expect(data.choices[0]).toMatchObject({
      index: 0,
      message: { role: "assistant", content: "You said: Hello!" },
      finish_reason: "stop",
    });
    expect(data.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
    expect(request_id).toStartWith("req_");
    expect(response.headers.get("x-gateway-generation-id")).toBe(data.id);
  });

  test("returns as many choices as n requests", async () => {
    const { choices } = await openai.chat.completions.create(createBody("Hello!", { n: 2 }));
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, "You said: Hello!"],
      [1, "You said (2): Hello!"],
    ]);
  });

  test("streams as many choices as n requests, each with one finish reason", async () => {
    const chunks = await readChunks(createBody("Hello!", { n: 2 }));
    expect(textOf(chunks, 0)).toBe("You said: Hello!");
    expect(textOf(chunks, 1)).toBe("You said (2): Hello!");
    const finishes = chunks.flatMap(({ choices }) => choices).filter((choice) => choice.finish_reason);
    expect(finishes.map(({ index }) => index).sort()).toEqual([0, 1]);
  });

  test("has the finish reason length if max_tokens ended the answer", async () => {
    const { choices, usage } = await openai.chat.completions.create(
      createBody("a b c d e f g h i", { max_tokens: 2 }),
    );
    expect(choices[0]?.finish_reason).toBe("length");
    expect(usage?.completion_tokens).toBe(2);
  });

  test("returns the reasoning in both fields that clients read, streamed and not streamed", async () => {
    const whole = await openai.chat.completions.create(createBody("[sandbox:reasoning] Hello!"));
    const message = whole.choices[0]?.message as unknown as Record<string, unknown>;
    expect(message["reasoning_content"]).toBeString();
    expect(message["reasoning"]).toBe(message["reasoning_content"]);
    expect(message["content"]).toBe("You said: Hello!");
    expect(whole.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
    const deltas = (await readChunks(createBody("[sandbox:reasoning] Hello!")))
      .flatMap(({ choices }) => choices)
      .map(({ delta }) => delta as Record<string, unknown>);
    const joined = (field: string) => deltas.map((delta) => delta[field] ?? "").join("");
    expect(joined("reasoning")).toBe(String(message["reasoning"]));
    expect(joined("reasoning_content")).toBe(String(message["reasoning"]));
    expect(joined("content")).toBe("You said: Hello!");
  });
});

describe("streams", () => {
  test("can be iterated, with one id, one finish reason and the complete text", async () => {
    const chunks = await readChunks(createBody("[sandbox:long=200] go"));
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(["sandbox/echo"]));
    expect(new Set(chunks.map(({ created }) => created)).size).toBe(1);
    expect(chunks.every(({ object }) => object === "chat.completion.chunk")).toBe(true);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.flatMap(({ choices }) => choices).filter((choice) => choice.finish_reason)).toHaveLength(1);
    const whole = await openai.chat.completions.create(createBody("[sandbox:long=200] go"));
    expect(textOf(chunks)).toBe(whole.choices[0]?.message.content as string);
  });

  test("can be read with the SDK's stream helper", async () => {
    const seen: string[] = [];
    const stream = openai.chat.completions.stream({
      ...createBody("Hello there!"),
      stream: true,
      stream_options: { include_usage: true },
    });
    stream.on("content", (piece) => seen.push(piece));
    expect(await stream.finalContent()).toBe("You said: Hello there!");
    expect(seen.join("")).toBe("You said: Hello there!");
    expect(await stream.totalUsage()).toMatchObject({
      prompt_tokens: 3,
      completion_tokens: 6,
      total_tokens: 9,
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.finish_reason).toBe("stop");
  });

  test("have the usage in the chunk with the finish reason unless include_usage is set", async () => {
    for (const asked of [null, { include_usage: false }]) {
      const chunks = await readChunks(createBody("Hello!"), asked);
      expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
      expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
      const last = chunks.at(-1);
      expect(last?.choices[0]?.finish_reason).toBe("stop");
      expect(last?.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
    }
  });

  test("have the usage in a last chunk without choices if include_usage is set", async () => {
    const chunks = await readChunks(createBody("Hello!"), { include_usage: true });
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
    expect(chunks.at(-1)?.choices).toEqual([]);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
  });

  test("have an estimated usage if the upstream reports none", async () => {
    const last = (await readChunks(createBody("[sandbox:no-usage] Hello!"))).at(-1);
    expect(last?.usage).toMatchObject({ estimated: true });
    expect(last?.usage?.total_tokens).toBeGreaterThan(0);
  });
});

const WEATHER = {
  type: "function" as const,
  function: {
    name: "get_weather",
    description: "The weather at a place.",
    parameters: {
      type: "object",
      properties: { city: { type: "string", enum: ["Paris", "Rome"] } },
      required: ["city"],
    },
  },
};
const TIME = {
  type: "function" as const,
  function: { name: "get_time", parameters: { type: "object", properties: {} } },
};

describe("tools", () => {
  test("a tool call is returned complete, with null content and the finish reason tool_calls", async () => {
    const { choices } = await openai.chat.completions.create(
      createBody("Weather?", { tools: [WEATHER], tool_choice: "required" }),
    );
    const [choice] = choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(choice?.message.content).toBeNull();
    const call = choice?.message.tool_calls?.[0] as Call;
    expect(call.type).toBe("function");
    expect(call.id).toBeString();
    expect(call.function).toEqual({ name: "get_weather", arguments: '{"city":"Paris"}' });
  });

  test("a call of a named tool has the finish reason tool_calls, whatever the upstream reported", async () => {
    const body = createBody("Weather?", {
      tools: [TIME, WEATHER],
      tool_choice: { type: "function", function: { name: "get_weather" } },
    });
    const whole = await openai.chat.completions.create(body);
    expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
    const finishes = (await readChunks(body)).flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
    expect(finishes).toEqual(["tool_calls"]);
  });

  test("streamed tool calls are joined by the SDK, parallel ones by their index", async () => {
    const stream = openai.chat.completions.stream({
      ...createBody("[sandbox:tools] Both!", { tools: [WEATHER, TIME] }),
      stream: true,
    });
    const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0] as {
      message: OpenAI.Chat.Completions.ChatCompletionMessage;
      finish_reason: string;
    };
    expect(finish_reason).toBe("tool_calls");
    const calls = message.tool_calls as Call[];
    expect(calls.map((call) => call.function.name)).toEqual(["get_weather", "get_time"]);
    expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([{ city: "Paris" }, {}]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  test("streamed tool calls have their id and name once, and their index in each event", async () => {
    const chunks = await readChunks(createBody("[sandbox:tools] Both!", { tools: [WEATHER, TIME] }));
    const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    for (const index of [0, 1]) {
      const own = pieces.filter((piece) => piece.index === index);
      expect(own.map(({ id }) => id).filter(Boolean)).toHaveLength(1);
      expect(own.map((piece) => piece.function?.name).filter(Boolean)).toHaveLength(1);
      expect(own[0]?.id).toBeString();
    }
    expect(pieces.every((piece) => typeof piece.function?.arguments === "string")).toBe(true);
  });

  test("at most one tool call is returned if parallel_tool_calls is false", async () => {
    const { choices } = await openai.chat.completions.create(
      createBody("[sandbox:tools] Both!", { tools: [WEATHER, TIME], parallel_tool_calls: false }),
    );
    expect(choices[0]?.message.tool_calls).toHaveLength(1);
  });

  test("a complete loop of call, result and answer works", async () => {
    const messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = [
      { role: "system", content: "You are a weather service." },
      { role: "user", content: "[sandbox:tools] Weather and time?" },
    ];
    const tools = [WEATHER, TIME];
    const asked = await openai.chat.completions.create({ model: "sandbox/echo", messages, tools });
    const { message } = asked.choices[0] as { message: OpenAI.Chat.Completions.ChatCompletionMessage };
    messages.push(message);
    for (const call of message.tool_calls as Call[]) {
      const content = call.function.name === "get_time" ? "noon" : "sunny";
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
    const answered = await openai.chat.completions.create({ model: "sandbox/echo", messages, tools });
    expect(answered.choices[0]?.finish_reason).toBe("stop");
    expect(answered.choices[0]?.message.content).toBe("The tools answered: sunny; noon");
    expect(answered).not.toHaveProperty("gateway_metadata");
  });

  test("the SDK's own tool runner works", async () => {
    const called: unknown[] = [];
    const runner = openai.chat.completions.runTools({
      ...createBody("[sandbox:tools] Weather?"),
      tools: [
        {
          type: "function",
          function: {
            ...WEATHER.function,
            parse: JSON.parse,
            function: (args: unknown) => {
              called.push(args);
              return "sunny";
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe("The tools answered: sunny");
    expect(called).toEqual([{ city: "Paris" }]);
  });
});

describe("structured output", () => {
  const Answer = z.object({ city: z.enum(["Paris", "Rome"]), degrees: z.number() });

  test("is parsed by the SDK", async () => {
    const { choices } = await openai.chat.completions.parse({
      ...createBody("Where is it warm?"),
      response_format: zodResponseFormat(Answer, "answer"),
    });
    expect(choices[0]?.message.parsed).toEqual({ city: "Paris", degrees: 0 });
  });

  test("is parsed from a stream", async () => {
    const stream = openai.chat.completions.stream({
      ...createBody("Where is it warm?"),
      stream: true,
      response_format: zodResponseFormat(Answer, "answer"),
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.parsed).toEqual({ city: "Paris", degrees: 0 });
  });

  test("is JSON if json_object is requested", async () => {
    const { choices } = await openai.chat.completions.create(
      createBody("Hello!", { response_format: { type: "json_object" } }),
    );
    expect(JSON.parse(choices[0]?.message.content as string)).toEqual({ answer: "You said: Hello!" });
  });
});

describe("an error has the SDK's class after", () => {
  const CASES: readonly [
    name: string,
    ask: () => PromiseLike<unknown>,
    kind: new (...args: never[]) => APIError,
    status: number,
    type: string,
    message: RegExp,
  ][] = [
    [
      "a field out of range",
      () => openai.chat.completions.create(createBody("x", { temperature: 3 })),
      BadRequestError,
      400,
      "invalid_request",
      /temperature must be a number from 0 to 2/,
    ],
    [
      "an unknown model",
      () => openai.chat.completions.create(createBody("x", { model: "sandbox/echoes" })),
      BadRequestError,
      400,
      "invalid_model",
      /Did you mean "sandbox\/echo"/,
    ],
    [
      "a prompt that is too long",
      () => openai.chat.completions.create(createBody("[sandbox:context] x")),
      BadRequestError,
      400,
      "context_length_exceeded",
      /maximum context length is 8192 tokens/,
    ],
    [
      "a rejection of the request by the upstream",
      () => openai.chat.completions.create(createBody("[sandbox:error=400] x")),
      BadRequestError,
      400,
      "invalid_request",
      /temperature/,
    ],
    [
      "an invalid key",
      () => clientOf(gateway, { apiKey: "sk-wrong" }).chat.completions.create(createBody("x")),
      AuthenticationError,
      401,
      "authentication",
      /not valid/,
    ],
    [
      "no key for a paid model",
      () => clientOf(gateway, { apiKey: "anonymous" }).chat.completions.create(createBody("x")),
      AuthenticationError,
      401,
      "authentication",
      /needs an API key/,
    ],
    [
      "a management key",
      () => clientOf(gateway, { apiKey: gateway.adminKey }).chat.completions.create(createBody("x")),
      PermissionDeniedError,
      403,
      "permission_denied",
      /inference key/,
    ],
    [
      "an unknown path",
      () => openai.batches.retrieve("batch_1"),
      NotFoundError,
      404,
      "not_found",
      /no endpoint at this path/,
    ],
    [
      "a rate limit of the upstream",
      () => openai.chat.completions.create(createBody("[sandbox:error=429,retry-after=3] x")),
      RateLimitError,
      429,
      "rate_limit_exceeded",
      /limiting requests/,
    ],
    [
      "a failed upstream",
      () => openai.chat.completions.create(createBody("[sandbox:error=500] x")),
      InternalServerError,
      502,
      "upstream_error",
      /failed/,
    ],
    [
      "a rejection of the platform key by the upstream",
      () => openai.chat.completions.create(createBody("[sandbox:error=401] x")),
      InternalServerError,
      502,
      "upstream_error",
      /rejected the gateway's key/,
    ],
    [
      "an overloaded upstream",
      () => openai.chat.completions.create(createBody("[sandbox:error=503] x")),
      InternalServerError,
      503,
      "unavailable",
      /overloaded/,
    ],
    [
      "a failed connection to the upstream",
      () => openai.chat.completions.create(createBody("[sandbox:refused] x")),
      InternalServerError,
      503,
      "unavailable",
      /cannot be reached/,
    ],
    [
      "an error in the first event of a stream",
      () => openai.chat.completions.create({ ...createBody("[sandbox:error-first] x"), stream: true }),
      InternalServerError,
      502,
      "upstream_error",
      /failed/,
    ],
  ];

  test.each(CASES)("%s", async (_name, ask, kind, status, type, message) => {
    const error = (await errorOf(ask())) as APIError;
    expect(error).toBeInstanceOf(kind);
    expect(error.status).toBe(status);
    expect(error.code as unknown).toBe(status);
    expect(error.type).toBe(type);
    expect(error.message).toMatch(message);
    expect(error.requestID).toStartWith("req_");
  });

  test("a failure of the gateway itself, which is a 500 without a stack trace or a path", async () => {
    const transport = {
      open: () => {
        throw new Error("broken in /srv/gateway/secret.ts");
      },
      close: () => {},
    };
    const vendor = startRecordingVendor();
    const broken = await startTestGateway({ transport, yaml: yamlFor(vendor) });
    const asked = clientOf(broken).chat.completions.create(createBody("x", { model: "acme/model" }));
    const error = (await errorOf(asked)) as APIError;
    expect(error).toBeInstanceOf(InternalServerError);
    expect([error.status, error.type]).toEqual([500, "internal"]);
    expect(JSON.stringify(error.error)).not.toContain("secret.ts");
    await Promise.all([broken.stop(), vendor.stop()]);
  });

  test("an upstream out of credit, which is a 503 that does not mention it", async () => {
    for (const marker of ["error=402", "quota", "402-body", "402-first"]) {
      const own = await startTestGateway();
      const create = clientOf(own).chat.completions;
      const asked = marker.endsWith("first")
        ? create.create({ ...createBody(`[sandbox:${marker}] x`), stream: true })
        : create.create(createBody(`[sandbox:${marker}] x`));
      const error = (await errorOf(asked)) as APIError;
      expect([marker, error.status, error.type]).toEqual([marker, 503, "unavailable"]);
      expect(error.headers?.get("retry-after")).toMatch(/^[1-9]\d*$/);
      expect(JSON.stringify(error.error)).not.toMatch(/402|credit|quota|billing|balance/i);
      await own.stop();
    }
  });
});

describe("a stream that breaks throws an error", () => {
  test.each(["error-late", "error-late=1", "402-late", "cut", "cut=1", "no-end", "half-utf8", "garbage"])(
    "after its first tokens: %s",
    async (marker) => {
      const own = await startTestGateway();
      const stream = await clientOf(own).chat.completions.create({
        ...createBody(`[sandbox:${marker}] one two three four five`),
        stream: true,
      });
      const chunks: Chunk[] = [];
      const error = (await errorOf(
        (async () => {
          for await (const chunk of stream) chunks.push(chunk);
        })(),
      )) as APIError;
      expect(textOf(chunks)).toStartWith("You");
      expect(error).toBeInstanceOf(APIError);
      expect([502, 503]).toContain(error.code as unknown as number);
      expect(["upstream_error", "unavailable"]).toContain(error.type as string);
      expect(error.message).not.toMatch(/402|credit/i);
      await own.stop();
    },
  );

  test("in the arguments of a tool call", async () => {
    const stream = openai.chat.completions.stream({
      ...createBody("[sandbox:cut-tool] x", { tools: [WEATHER] }),
      stream: true,
    });
    expect(await errorOf(stream.finalChatCompletion())).toBeInstanceOf(APIError);
  });

  test("when it is silent for longer than the silence timer", async () => {
    const own = await startTestGateway({ yaml: "timers: { silence_ms: 30 }" });
    const stream = await clientOf(own).chat.completions.create({
      ...createBody("[sandbox:stall=3] one two three"),
      stream: true,
    });
    const error = (await errorOf(Array.fromAsync(stream))) as APIError;
    expect(error.type).toBe("unavailable");
    await own.stop();
  });
});

describe("retries of the SDK", () => {
  test("return the answer if the second try succeeds", async () => {
    const vendor = startRecordingVendor();
    const own = await startTestGateway({ repeats: 0, yaml: yamlFor(vendor) });
    vendor.reset((request, index) =>
      index === 0 ? new Response("{}", { status: 500 }) : answerHello(request),
    );
    const client = clientOf(own, { maxRetries: 1 });
    const answer = await client.chat.completions.create(createBody("x", { model: "acme/model" }));
    expect(answer.choices[0]?.message.content).toBe("Hello there.");
    expect(own.log.filter(({ event }) => event === "request").map(({ fields }) => fields["status"])).toEqual([
      502, 200,
    ]);
    await Promise.all([own.stop(), vendor.stop()]);
  });

  test.each([
    ["invalid parameters", createBody("x", { top_p: 2 }), undefined],
    ["a rejection by the upstream", createBody("[sandbox:error=400] x"), undefined],
    ["an invalid key", createBody("x"), "sk-wrong"],
  ])("are not made for %s", async (_name, body, apiKey) => {
    const before = gateway.log.length;
    const client = clientOf(gateway, { maxRetries: 2, ...(apiKey === undefined ? {} : { apiKey }) });
    await errorOf(client.chat.completions.create(body));
    expect(gateway.log.length - before).toBe(1);
  });
});

describe("a client that stops waiting", () => {
  test("cancels the upstream request by aborting a stream, and the generation is recorded as cancelled", async () => {
    const stream = await openai.chat.completions.create({
      ...createBody("[sandbox:stall=3] one two three"),
      stream: true,
    });
    let id = "";
    for await (const chunk of stream) {
      id = chunk.id;
      if (chunk.choices[0]?.delta.content) break;
    }
    const line = await eventually("the log line of the cancelled request", () =>
      gateway.log.find(({ fields }) => fields["generation_id"] === id),
    );
    expect(line.fields["outcome"]).toBe("cancelled");
    expect(line.fields["completion_tokens"]).toBeGreaterThan(0);
  });

  test("cancels the request by aborting before the answer", async () => {
    const abort = new AbortController();
    const asked = openai.chat.completions.create(createBody("[sandbox:silent] x"), { signal: abort.signal });
    const failed = errorOf(asked);
    await turnEventLoop(1);
    abort.abort();
    expect(await failed).toBeInstanceOf(APIUserAbortError);
  });

  test("gets the SDK's timeout error", async () => {
    const asked = openai.chat.completions.create(createBody("[sandbox:silent] x"), { timeout: 40 });
    expect(await errorOf(asked)).toBeInstanceOf(APIConnectionTimeoutError);
  });

  test("gets the gateway's timeout error if that is sooner", async () => {
    const own = await startTestGateway({ yaml: "timers: { first_token_ms: 30, total_ms: 60 }" });
    for (const stream of [true, false]) {
      const asked = clientOf(own).chat.completions.create({ ...createBody("[sandbox:silent] x"), stream });
      const error = (await errorOf(asked)) as APIError;
      expect([error.status, error.type]).toEqual([503, "unavailable"]);
    }
    await own.stop();
  });
});

describe("text completions", () => {
  test("are returned whole, with usage and cost", async () => {
    const { data, response } = await openai.completions
      .create({ model: "sandbox/echo", prompt: "Once upon a time", max_tokens: 3 })
      .withResponse();
    expect(data.id).toBe(response.headers.get("x-gateway-generation-id") as string);
    expect(data).toMatchObject({
      object: "text_completion",
      model: "sandbox/echo",
      choices: [{ index: 0, text: "You said: On", finish_reason: "length" }],
      usage: { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7, cost: 0.00001 },
    });
  });

  test("are streamed, with the usage in a chunk of its own if requested", async () => {
    const stream = await openai.completions.create({
      model: "sandbox/echo",
      prompt: "Hi",
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.flatMap(({ choices }) => choices.map(({ text }) => text)).join("")).toBe("You said: Hi");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 4 } });
  });

  test("raise the SDK's errors with the field that is wrong", async () => {
    const asked = openai.completions.create({ model: "sandbox/echo", prompt: "Hi", suffix: "end" });
    const error = (await errorOf(asked)) as APIError;
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error.error).toMatchObject({ metadata: { field: "suffix" } });
  });

  test("fail with the vendor's error in the middle of a stream", async () => {
    const stream = await openai.completions.create({
      model: "sandbox/echo",
      prompt: "[sandbox:cut] one two three four",
      stream: true,
    });
    expect(await errorOf(Array.fromAsync(stream))).toBeInstanceOf(APIError);
  });
});

describe("embeddings", () => {
  const lengthOf = (vector: readonly number[]) => Math.hypot(...vector);

  test("are requested in base64 by the SDK and decoded by it", async () => {
    const { data, model, usage, object } = await openai.embeddings.create({
      model: "sandbox/embed",
      input: ["one text", "another"],
    });
    expect([object, model]).toEqual(["list", "sandbox/embed"]);
    expect(data.map(({ index, object }) => [index, object])).toEqual([
      [0, "embedding"],
      [1, "embedding"],
    ]);
    expect(data.map(({ embedding }) => embedding.length)).toEqual([256, 256]);
    for (const { embedding } of data) expect(lengthOf(embedding)).toBeCloseTo(1, 5);
    expect(usage).toMatchObject({ prompt_tokens: 4, total_tokens: 4, cost: 0.0000004 });
  });

  test("have the same values as floats", async () => {
    const body = { model: "sandbox/embed", input: "one text", dimensions: 8 };
    const inBase64 = await openai.embeddings.create(body);
    const asNumbers = await openai.embeddings.create({ ...body, encoding_format: "float" });
    expect(asNumbers.data[0]?.embedding).toHaveLength(8);
    expect(asNumbers.data[0]?.embedding).toEqual(Array.from(inBase64.data[0]?.embedding ?? []));
  });

  test("accept token ids", async () => {
    const { data, usage } = await openai.embeddings.create({
      model: "sandbox/embed",
      input: [
        [1, 2, 3],
        [4, 5],
      ],
    });
    expect([data.length, usage.prompt_tokens]).toEqual([2, 5]);
  });
});

describe("the models endpoint", () => {
  test("lists all models", async () => {
    const ids = (await Array.fromAsync(openai.models.list())).map(({ id }) => id);
    const tiers = ["frontier", "balanced", "free", "small"].map((name) => `gateway-auto/${name}`);
    const names = ["echo", "agent", "embed", "moderate", "rank", "draw", "speak", "transcribe"];
    const models = names.flatMap((name) => [`sandbox/${name}`, `sandbox/${name}:free`]);
    expect(ids).toEqual([...tiers, ...models, "mistralai/sandbox-fim"]);
  });

  test.each(["sandbox/echo", "sandbox/echo:free", "sandbox/embed"])("returns %s by its id", async (id) => {
    const model = await openai.models.retrieve(id);
    expect(model).toMatchObject({ id, object: "model", owned_by: "sandbox" });
    expect(model.created).toBeInteger();
  });

  test("returns 404 for an unknown model", async () => {
    expect(await errorOf(openai.models.retrieve("sandbox/none"))).toBeInstanceOf(NotFoundError);
    expect(await errorOf(openai.models.retrieve("none"))).toBeInstanceOf(NotFoundError);
  });
});
