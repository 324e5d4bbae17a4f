import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic, {
  type APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import { eventually } from "../support/eventually.ts";
import {
  expectCompleteHistories,
  runTool,
  SMALL_TALK,
  STRICT_MODELS,
  type StrictVendors,
  startStrictVendors,
  TASK,
  TASK_ANSWER,
  TASK_TOOLS,
} from "./strict-vendors.ts";

type Body = Anthropic.MessageCreateParamsNonStreaming;
type Messages = Anthropic.MessageParam[];

let vendors: StrictVendors;
let anthropic: Anthropic;

beforeAll(async () => {
  // Only the client preserves the reasoning that vendors require.
  vendors = await startStrictVendors("limits: {turn_memory_bytes: 0}");
  anthropic = clientOf();
});
afterAll(() => vendors.stop());
beforeEach(() => vendors.clear());

function clientOf(options: ConstructorParameters<typeof Anthropic>[0] = {}): Anthropic {
  const { base, key } = vendors.gateway;
  return new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0, ...options });
}

function createBody(content: string, more: Partial<Body> = {}): Body {
  return { model: "sandbox/echo", max_tokens: 1_000, messages: [{ role: "user", content }], ...more };
}

async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("this should have failed");
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

const TOOLS: Anthropic.Tool[] = Object.entries(TASK_TOOLS).map(([name, input_schema]) => ({
  name,
  input_schema,
}));

/** Returns the conversation with the answer and a result for each of its tool calls. */
function appendAnswer(messages: Messages, { content }: Anthropic.Message): Messages {
  const results = content.flatMap((block) =>
    block.type === "tool_use"
      ? [{ type: "tool_result" as const, tool_use_id: block.id, content: runTool(block.name) }]
      : [],
  );
  return [...messages, { role: "assistant", content }, { role: "user", content: results }];
}

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE: Anthropic.ImageBlockParam = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PIXEL },
};

describe.each(Object.entries(STRICT_MODELS))("a vendor of %s", (format, model) => {
  test("answers messages.create with all typed fields", async () => {
    const { data, response, request_id } = await anthropic.messages
      .create(createBody("Hello!", { model, system: "Be brief." }))
      .withResponse();
    expect(data).toMatchObject({
      type: "message",
      role: "assistant",
      model,
      stop_reason: "end_turn",
      stop_sequence: null,
    });
    expect(textOf(data)).toBe(SMALL_TALK);
    expect(data.id).toBe(response.headers.get("x-gateway-generation-id") as string);
    expect(data.usage.input_tokens).toBeGreaterThan(0);
    expect(data.usage.output_tokens).toBeGreaterThan(0);
    expect([data.usage.cache_read_input_tokens, data.usage.cache_creation_input_tokens]).toEqual([0, 0]);
    expect(request_id).toStartWith("req_");
    expect(vendors.requests()[0]?.rejection).toBeNull();
  });

  test("can be read with the SDK's stream helper", async () => {
    const stream = anthropic.messages.stream(createBody("Hello!", { model }));
    const pieces: string[] = [];
    stream.on("text", (piece) => pieces.push(piece));
    const final = await stream.finalMessage();
    expect([pieces.join(""), textOf(final)]).toEqual([SMALL_TALK, SMALL_TALK]);
    expect([final.model, final.stop_reason]).toEqual([model, "end_turn"]);
    expect(final.usage.output_tokens).toBeGreaterThan(0);
  });

  test.each(["not streamed", "streamed"])(
    "completes a task with parallel tool calls, and gets its thinking back unchanged: %s",
    async (mode) => {
      let messages: Messages = [{ role: "user", content: TASK }];
      const answers: Anthropic.Message[] = [];
      for (let turn = 0; turn < 3; turn++) {
        const body: Body = {
          model,
          max_tokens: 8_000,
          messages,
          tools: TOOLS,
          thinking: { type: "enabled", budget_tokens: 2_000 },
        };
        const answer =
          mode === "not streamed"
            ? await anthropic.messages.create(body)
            : await anthropic.messages.stream(body).finalMessage();
        answers.push(answer);
        messages = appendAnswer(messages, answer);
      }
      const [first, second, last] = answers as [Anthropic.Message, Anthropic.Message, Anthropic.Message];
      expect(textOf(last)).toBe(TASK_ANSWER);
      expect([first.stop_reason, second.stop_reason, last.stop_reason]).toEqual([
        "tool_use",
        "tool_use",
        "end_turn",
      ]);
      expectCompleteHistories(vendors, 3);
      const thinks = format === "anthropic-messages" || format === "gemini" || format === "openai-responses";
      const kinds = first.content.map(({ type }) => type);
      expect(kinds.some((kind) => kind === "thinking" || kind === "redacted_thinking")).toBe(thinks);
    },
  );

  test("receives images in messages and in tool results", async () => {
    const messages: Messages = [
      { role: "user", content: [{ type: "text", text: "What is it?" }, IMAGE] },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "a" } }],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [IMAGE] }],
      },
    ];
    await anthropic.messages.create({ model, max_tokens: 1_000, messages, tools: TOOLS });
    const [request] = vendors.requests();
    expect(request?.rejection).toBeNull();
    expect(JSON.stringify(request?.body).split(PIXEL)).toHaveLength(3);
  });

  test("receives all system blocks, with their cache_control only if it supports that", async () => {
    const mark = { type: "ephemeral" as const, ttl: "1h" as const };
    await anthropic.messages.create(
      createBody("Hello!", {
        model,
        system: [
          { type: "text", text: "Be brief." },
          { type: "text", text: "Be kind.", cache_control: mark },
        ],
      }),
    );
    const [request] = vendors.requests();
    const body = JSON.stringify(request?.body);
    expect(request?.rejection).toBeNull();
    expect(body).toContain("Be brief.");
    expect(body).toContain("Be kind.");
    expect(body.includes(JSON.stringify(mark))).toBe(format === "anthropic-messages");
  });
});

describe("the beta endpoints", () => {
  const model = STRICT_MODELS["anthropic-messages"];

  test("are answered with ?beta=true and unknown betas", async () => {
    const message = await anthropic.beta.messages.create({
      ...createBody("Hello!"),
      betas: ["made-up-2099-01-01"],
    });
    expect(textOf(message as Anthropic.Message)).toBe("You said: Hello!");
  });

  test("forward the client's betas to a vendor of the Messages format", async () => {
    // Without this beta the vendor rejects a system message in the middle.
    const betas = ["mid-conversation-tool-changes-2026-07-01", "made-up-2099-01-01"];
    const messages = [
      { role: "user", content: "Hello!" },
      { role: "system", content: "Be brief." },
      { role: "user", content: "Well?" },
    ] as Messages;
    await anthropic.beta.messages.create({ model, max_tokens: 1_000, messages, betas } as never);
    expect(vendors.requests().map(({ rejection }) => rejection)).toEqual([null]);
  });

  test("reject threads with the error that makes the SDK send the whole history", async () => {
    const thread = anthropic.beta.messages.thread({
      model,
      max_tokens: 1_000,
      unsupportedRequestBehavior: "continue_unthreaded",
    });
    await thread.send({ role: "user", content: "Hello!" });
    const second = await thread.send({ role: "user", content: "And now?" });
    expect(textOf(second as Anthropic.Message)).toBe(SMALL_TALK);
    const [, request] = vendors.requests();
    expect(JSON.stringify(request?.body)).toContain("Hello!");
    expect(JSON.stringify(request?.body)).not.toContain('"thread"');
  });

  test("reject a thread that the client requests directly with an error that names the field", async () => {
    const asked = anthropic.beta.messages.create({ ...createBody("x"), thread: { type: "create" } } as never);
    const error = (await errorOf(asked)) as APIError;
    expect([error.status, error.errorCode]).toEqual([400, "thread_unsupported_request"]);
    expect(error.details as unknown).toEqual({
      error_code: "thread_unsupported_request",
      unsupported: ["thread"],
    });
  });
});

/** Returns both credential headers. The SDK does not add its key if one of them is set. */
function bothHeaders(key: string, bearer: string) {
  return { "x-api-key": key, authorization: `Bearer ${bearer}` };
}

describe("an API key", () => {
  const KEYS: readonly [string, (key: string) => ConstructorParameters<typeof Anthropic>[0]][] = [
    ["as a bearer token only", (key) => ({ apiKey: key })],
    ["in both headers", (key) => ({ apiKey: null, authToken: key })],
    ["in both headers", (key) => ({ apiKey: key, defaultHeaders: bothHeaders(key, key) })],
    [
      "in x-api-key next to the bearer token anonymous",
      (key) => ({ apiKey: key, defaultHeaders: bothHeaders(key, "anonymous") }),
    ],
  ];

  test.each(KEYS)("is accepted %s", async (_name, options) => {
    const { id } = await clientOf(options(vendors.gateway.key)).messages.create(createBody("Hello!"));
    const { base, key } = vendors.gateway;
    const record = await fetch(`${base}/generation?id=${id}`, { headers: { "x-api-key": key } });
    expect(await record.json()).toMatchObject({ data: { id, api: "messages", finish_reason: "stop" } });
  });

  test("that is invalid in x-api-key is rejected even for a free model", async () => {
    const asked = clientOf({ apiKey: "sk-wrong" }).messages.create(
      createBody("x", { model: "sandbox/echo:free" }),
    );
    expect(await errorOf(asked)).toBeInstanceOf(AuthenticationError);
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
      () => anthropic.messages.create(createBody("x", { temperature: 3 } as Partial<Body>)),
      BadRequestError,
      400,
      "invalid_request_error",
      /temperature must be a number/,
    ],
    [
      "an unknown model",
      () => anthropic.messages.create(createBody("x", { model: "sandbox/echoes" })),
      BadRequestError,
      400,
      "invalid_request_error",
      /Did you mean "sandbox\/echo"/,
    ],
    [
      "a prompt that is too long",
      () => anthropic.messages.create(createBody("[sandbox:context] x")),
      BadRequestError,
      400,
      "invalid_request_error",
      /prompt is too long: \d+ tokens > 8192 maximum/,
    ],
    [
      "an invalid key",
      () => clientOf({ apiKey: "sk-wrong" }).messages.create(createBody("x")),
      AuthenticationError,
      401,
      "authentication_error",
      /not valid/,
    ],
    [
      "no key for a paid model",
      () => clientOf({ apiKey: "anonymous" }).messages.create(createBody("x")),
      AuthenticationError,
      401,
      "authentication_error",
      /needs an API key/,
    ],
    [
      "an unknown path",
      () => anthropic.messages.batches.retrieve("batch_1"),
      NotFoundError,
      404,
      "not_found_error",
      /no endpoint at this path/,
    ],
    [
      "a rate limit of the upstream",
      () => anthropic.messages.create(createBody("[sandbox:error=429,retry-after=3] x")),
      RateLimitError,
      429,
      "rate_limit_error",
      /limiting requests/,
    ],
    [
      "a failed upstream",
      () => anthropic.messages.create(createBody("[sandbox:error=500] x")),
      InternalServerError,
      502,
      "api_error",
      /failed/,
    ],
    [
      "an overloaded upstream, whose 529 becomes a 503",
      () => anthropic.messages.create(createBody("[sandbox:error=529] x")),
      InternalServerError,
      503,
      "overloaded_error",
      /overloaded/,
    ],
    [
      "an error in the first event of a stream",
      () => anthropic.messages.create({ ...createBody("[sandbox:error-first] x"), stream: true }),
      InternalServerError,
      502,
      "api_error",
      /failed/,
    ],
  ];

  test.each(CASES)("%s", async (_name, ask, kind, status, type, message) => {
    const error = (await errorOf(ask())) as APIError;
    expect(error).toBeInstanceOf(kind);
    expect([error.status, error.type as string]).toEqual([status, type]);
    expect(error.apiMessage ?? error.message).toMatch(message);
    expect(error.requestID).toStartWith("req_");
  });

  test("a stream that breaks off, which the stream helper throws after the text", async () => {
    const stream = anthropic.messages.stream(createBody("[sandbox:cut] one two three"));
    let text = "";
    stream.on("text", (piece) => {
      text += piece;
    });
    const error = (await errorOf(stream.finalMessage())) as APIError;
    expect(text).toStartWith("You");
    expect(error.type as string).toBe("api_error");
  });
});

describe("a client that disconnects", () => {
  test("in the middle of a stream has its generation recorded as cancelled", async () => {
    const stream = anthropic.messages.stream(createBody("[sandbox:stall=3] one two three"));
    let id = "";
    const left = errorOf(
      (async () => {
        for await (const event of stream) {
          if (event.type === "message_start") id = event.message.id;
          if (event.type === "content_block_delta") stream.abort();
        }
      })(),
    );
    expect(await left).toBeInstanceOf(APIUserAbortError);
    const line = await eventually("the log line of the cancelled request", () =>
      vendors.gateway.log.find(({ fields }) => fields["generation_id"] === id),
    );
    expect(line.fields["outcome"]).toBe("cancelled");
  });
});
